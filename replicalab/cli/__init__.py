"""The commands of ``replicalab``: what is asked, what is answered, and the exit code."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from replicalab.cli import batch, check, compare, negotiate, plan, report, serve, studies
from replicalab.cli.asking import Parser
from replicalab.cli.printing import EXIT, Answer, CommandError, say, tell
from replicalab.errors import ReplicaLabError

COMMANDS: Final = (serve, studies, check, plan, negotiate, compare, report, batch)
"""In the order of the help; each adds its options, and answers."""

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
        added.set_defaults(answer=command.answer, json=False)
    return whole


def main(arguments: Sequence[str]) -> int:
    """Answer a command on standard output, and return its exit code."""
    try:
        asked = parser().parse_args(arguments)
        answer: Answer = asked.answer(asked)
        tell(answer, as_json=asked.json)
        sys.stdout.flush()
    except SystemExit as ended:  # argparse ends so, after its help or its message
        return ended.code if isinstance(ended.code, int) else 0
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
