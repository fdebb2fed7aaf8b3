"""The command line: runs a command and returns its exit code, with one message for a failure."""

import os
import re
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from typer.exceptions import Exit, TyperException
from typer.main import get_command

from replicalab import features
from replicalab.characters import on_one_line
from replicalab.cli.commands import CommandError, app, content, say
from replicalab.errors import ReplicaLabError
from replicalab.lexicon import shortened

DEBUG: Final = "REPLICALAB_DEBUG"  # if set, a failure shows its traceback, as with ``--debug``
COMPLETE: Final = "_REPLICALAB_COMPLETE"  # of the script of ``--show-completion``
_LONG_VALUE: Final = re.compile(r"[^\s';,)]{101,}")
BAD_INPUT, CRASH, INTERRUPTED, BROKEN_PIPE = 2, 70, 130, 141

import_module("replicalab.cli.plan_commands")  # registers its commands
_FAILED: Final = {
    name: reply.note
    for reply in features.ask("command", app)
    if reply.note
    for name in reply.feature.command
}


def main(arguments: Sequence[str]) -> int:
    """Run a command, and return its exit code."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="backslashreplace")
    content.cache_clear()
    try:
        return _run(arguments)
    except BrokenPipeError:
        # The interpreter flushes standard output at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        say("stopped")
        return INTERRUPTED
    except SystemExit as end:  # of the server
        if isinstance(end.code, str):
            say(end.code)
        return int(isinstance(end.code, str) or end.code or 0)
    except (ReplicaLabError, CommandError, OSError) as error:
        problem = f"the answer cannot be written ({error}); free some space, or write elsewhere"
        text = problem if isinstance(error, OSError) else str(error)
        say(_LONG_VALUE.sub(lambda value: shortened(value[0], 100), text))
        return BAD_INPUT
    except Exception as error:  # noqa: BLE001 - every other failure is ReplicaLab's own
        remedy = f"; run it again with {DEBUG}=1 for the traceback"
        if "--debug" in arguments or os.environ.get(DEBUG):
            remedy = ""
            say("".join(traceback.format_exception(error)), "")
        text = shortened(on_one_line(f"{type(error).__name__}: {error}"), 300)
        say(f"ReplicaLab itself failed ({text}), through no fault of the input{remedy}")
        return CRASH


def _run(arguments: Sequence[str]) -> int:
    if sys.stdout is None:
        raise CommandError("standard output is closed; write elsewhere")
    if arguments and arguments[0] in _FAILED:
        raise CommandError(_FAILED[arguments[0]])
    program = get_command(app)
    if COMPLETE in os.environ:  # the shell asks for completions
        program.main([], "replicalab")
    try:
        with program.make_context("replicalab", [*arguments]) as context:
            program.invoke(context)
    except Exit as end:
        sys.stdout.flush()
        return end.exit_code
    except TyperException as error:
        inner = getattr(error, "ctx", None)
        path = inner.command_path if inner else "replicalab"
        problem = on_one_line(getattr(error, "format_message", error.__str__)()).rstrip(".")
        problem = problem.replace("Value error, ", "")
        for fault in getattr(error.__cause__, "errors", list)():
            value = shortened(str(fault["input"]), 100)
            problem = problem.replace("value for", f"value '{value}' for")
        raise CommandError(f"{path}: {problem}; see {path} --help") from None
    return 0
