"""The commands of ``replicalab``: what is asked, what is answered, and the exit code."""

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from replicalab import __version__
from replicalab.characters import on_one_line
from replicalab.cli import (
    batch,
    check,
    compare,
    critique,
    negotiate,
    plan,
    portfolio,
    report,
    serve,
    studies,
)
from replicalab.cli.asking import Parser
from replicalab.cli.files import (
    check_standard_input,
    fills_standard_output,
    standard_input,
)
from replicalab.cli.printing import EXIT, Answer, CommandError, say, tell
from replicalab.errors import ReplicaLabError
from replicalab.lexicon import shortened

COMMANDS: Final = (
    serve,
    studies,
    check,
    plan,
    critique,
    portfolio,
    negotiate,
    compare,
    report,
    batch,
)
"""In the order of the help; each adds its options, and answers."""

DEBUG: Final = "REPLICALAB_DEBUG"
"""Set, a failure of ReplicaLab's own is told with its traceback, as by ``--debug``."""
_CRASH: Final = 70
_LONGEST: Final = 300  # So much of a foreign message is told
_ABOUT: Final = "What a lab can run of a published experiment, and what each cut costs."
_CODES: Final = "exit codes:\n" + "\n".join(f"  {code:<5}{text}" for code, text in EXIT.items())


def parser() -> Parser:
    """Return the parser of all commands."""
    installed = Path(sys.argv[0]).stem == "replicalab"
    program = "replicalab" if installed else "python -m replicalab"
    whole = Parser(
        prog=program,
        description=_ABOUT,
        epilog=f"Each command has its own --help, with examples.\n\n{_CODES}",
    )
    whole.add_argument("--version", action="version", version=f"replicalab {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        name = command.__name__.rpartition(".")[2]
        examples = "".join(f"  {program} {each}\n" for each in command.EXAMPLES)
        about = f"{command.ABOUT}\n\nexit code: {command.CODES}"
        added = commands.add_parser(
            name,
            help=command.ABOUT.partition("\n")[0],
            description=about,
            epilog=f"examples:\n{examples}",
        )
        command.add(added)
        if command is not serve:  # which answers in the browser
            added.add_argument("--json", action="store_true", help="answer as JSON")
        added.add_argument(
            "--debug",
            action="store_true",
            help=f"where ReplicaLab itself fails, show where (or set {DEBUG}=1)",
        )
        added.set_defaults(answer=command.answer, json=False, parser=added)
    return whole


def main(arguments: Sequence[str]) -> int:
    """Answer a command on standard output, and return its exit code."""
    standard_input.cache_clear()
    try:
        return _answered(arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told and has its own code
        _tell_crash(error, whole="--debug" in arguments or bool(os.environ.get(DEBUG)))
        return _CRASH


def _answered(arguments: Sequence[str]) -> int:
    try:
        if sys.stdout is None:
            problem = "the answer cannot be written (standard output is closed)"
            raise CommandError(f"{problem}; write elsewhere")
        asked = _asked(arguments)
        is_silent = fills_standard_output(asked)
        check_standard_input(asked)
        answer: Answer = asked.answer(asked)
        if not is_silent:
            tell(answer, as_json=asked.json)
        sys.stdout.flush()
    except SystemExit as ended:  # argparse ends so, after its help or its message
        if isinstance(ended.code, str):  # and a server that cannot start
            say(ended.code)
        return int(isinstance(ended.code, str) or ended.code or 0)
    except (ReplicaLabError, CommandError) as error:
        say(str(error))
        return 2
    except BrokenPipeError:
        # What is still to be written goes nowhere, or the interpreter would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        say("stopped")
        return 130
    except OSError as error:
        say(f"the answer cannot be written ({error.strerror}); free some space, or write elsewhere")
        return 2
    return answer.code


def _asked(arguments: Sequence[str]) -> Namespace:
    asked, unknown = parser().parse_known_args(arguments)
    if unknown:
        asked.parser.refuse(unknown)
    return asked


def _tell_crash(error: Exception, *, whole: bool) -> None:
    """Tell in one line that ReplicaLab failed, after the traceback where that is wanted."""
    if whole:
        say("".join(traceback.format_exception(error)), "")
    said = shortened(on_one_line(f"{type(error).__name__}: {error}"), _LONGEST)
    where = "" if whole else f"; once more with --debug, or {DEBUG}=1, shows where"
    say(f"ReplicaLab itself failed ({said}), by no fault of what you gave it{where}")
