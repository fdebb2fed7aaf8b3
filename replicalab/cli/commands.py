"""The commands and their options; each loads the module of its answer only when it runs."""

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Final, TypeVar

import typer
from typer import Argument, Context, Exit, Option, Typer

from replicalab import __version__
from replicalab.cli.files import check_standard_input, standard_input
from replicalab.cli.printing import Answer, tell
from replicalab.models import LARGEST_PLANNED

_F = TypeVar("_F", bound=Callable[..., Any])

CODES: Final = {
    "serve": "1 after Ctrl-C or if it cannot start, 2 if the port is taken",
    "studies": "0",
    "lab": "0",
    "check": "0 if the plan passes all seven dimensions, 1 if it does not",
    "plan": "0 if the least-loss plan passes and reaches the floor, 1 if it does not",
    "critique": "0 without concerns, 1 with one or more",
    "portfolio": "0 if every named study is run, 1 if one is omitted",
    "negotiate": "0 if they agree above the floor or the transcript replays, 1 if not",
    "compare": "0",
    "report": "0",
    "batch": "0 if every negotiation was played, 1 if one failed",
}
"""Exit codes of each command; those of all commands are in docs/commands.md."""

app = Typer(
    add_completion=False,
    rich_markup_mode=None,
    epilog="Exit codes of all commands: 2 bad input, 70 failure of ReplicaLab, 130 Ctrl-C, "
    "141 broken pipe.",
)

Study = Annotated[str, Argument(help="Id of a study, or path of its file; - is standard input.")]
Studies = Annotated[list[str], Argument(metavar="STUDY...", help="Ids or paths of files.")]
Lab = Annotated[str, Option(help="easy, medium or hard, or a lab file (JSON, CSV or Excel).")]
Labs = Annotated[list[str] | None, Option("--lab", help="easy, medium, hard or a file; repeat.")]
Seed = Annotated[int, Option(min=0, max=2**31 - 1, help="0 is the lab as its author wrote it.")]
Samples = Annotated[int | None, Option(min=0, max=LARGEST_PLANNED, help="Samples of the plan.")]
Days = Annotated[int | None, Option(min=0, max=LARGEST_PLANNED, help="Days of the plan.")]
Settings = Annotated[
    list[str] | None,
    Option("--set", metavar="PATH=VALUE", help="Such as own_lab.budget=900; repeat."),
]
PlanFile = Annotated[Path | None, Option("--plan", help="File of a plan or a transcript.")]
Save = Annotated[Path | None, Option(help="File to write; - is standard output.")]
Answers = Annotated[Path | None, Option(help="JSON file with the author's answers.")]
Json = Annotated[bool, Option("--json", help="Answer as JSON.")]
Scientists = Annotated[
    list[str] | None,
    Option("--scientist", help="baseline, direct or model; repeat."),
]
Managers = Annotated[list[str] | None, Option("--lab-manager", help="reference, …; repeat.")]


def _answer(module: str, context: Context) -> None:
    """Run the function of the command's name in a module of this room."""
    options: dict[str, Any] = dict(context.params)
    as_json = options.pop("as_json", False)
    asked = SimpleNamespace(as_json=as_json, **options)
    standard_input.cache_clear()
    check_standard_input(asked)
    function = getattr(import_module(f"replicalab.cli.{module}"), str(context.info_name))
    answer: Answer = function(asked)
    tell(answer, as_json=as_json)
    raise Exit(answer.code)


def _command(name: str) -> Callable[[_F], _F]:
    return app.command(name, epilog=f"Exit code: {CODES[name]}.")


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"replicalab {__version__}")
        raise Exit


@app.callback()
def program(
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="Version.")
    ] = False,
    debug: Annotated[bool, Option(help="Show the traceback of a failure.")] = False,
) -> None:
    """Show which protocol a lab can run of a published experiment, and the price of each cut."""


@_command("serve")
def serve(
    context: Context,
    *,
    port: Annotated[int, Option(help="Port of the dashboard.")] = 8501,
    no_browser: Annotated[bool, Option("--no-browser", help="Open no browser.")] = False,
) -> None:
    """Serve the dashboard on this computer; `replicalab` alone does the same."""
    _answer("serving", context)


@_command("studies")
def studies(
    context: Context,
    *,
    domain: Annotated[str | None, Option(help="Only studies of this domain.")] = None,
    as_json: Json = False,
) -> None:
    """List the studies with their field, kind of design and sample."""
    _answer("plans", context)


@_command("lab")
def lab(
    context: Context,
    *,
    study: Study,
    lab: Lab = "medium",
    seed: Seed = 0,
    settings: Settings = None,
    save: Save = None,
    as_json: Json = False,
) -> None:
    """Show a lab, and save its own values as a lab file."""
    _answer("plans", context)


@_command("check")
def check(
    context: Context,
    *,
    study: Study,
    lab: Lab = "medium",
    seed: Seed = 0,
    plan: PlanFile = None,
    samples: Samples = None,
    days: Days = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Check a plan against its lab in seven dimensions, with its cost and evidence."""
    _answer("plans", context)


@_command("plan")
def plan(
    context: Context,
    *,
    study: Study,
    lab: Lab = "medium",
    seed: Seed = 0,
    plan: PlanFile = None,
    samples: Samples = None,
    days: Days = None,
    settings: Settings = None,
    save: Save = None,
    as_json: Json = False,
) -> None:
    """Find the plan with the least loss, change by change, and what the lab lacks."""
    _answer("plans", context)


@_command("critique")
def critique(
    context: Context,
    *,
    study: Study,
    lab: Lab = "medium",
    seed: Seed = 0,
    plan: PlanFile = None,
    samples: Samples = None,
    days: Days = None,
    settings: Settings = None,
    answers: Answers = None,
    as_json: Json = False,
) -> None:
    """List a reviewer's questions about a plan, each with the place of its remedy."""
    _answer("plans", context)


@_command("portfolio")
def portfolio(
    context: Context,
    *,
    study: Studies,
    worth: Annotated[list[str] | None, Option(metavar="STUDY=NUMBER", help="Repeat.")] = None,
    floor_share: Annotated[float, Option(min=0, max=1, help="Share at the floor.")] = 0.0,
    lab: Lab = "medium",
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Choose the studies that one lab runs with one budget, and a plan of each."""
    _answer("portfolios", context)


@_command("negotiate")
def negotiate(
    context: Context,
    *,
    study: Annotated[str | None, Argument(help="Id of a study, or path of its file.")] = None,
    lab: Lab = "medium",
    seed: Seed = 0,
    plan: PlanFile = None,
    samples: Samples = None,
    days: Days = None,
    settings: Settings = None,
    scientist: Annotated[
        str | None, Option(help="baseline, direct or model (a language model).")
    ] = None,
    lab_manager: Annotated[str | None, Option(help="Policy of the Lab Manager.")] = None,
    rounds: Annotated[int | None, Option(min=1, help="At most this many rounds.")] = None,
    save: Save = None,
    replay: Annotated[Path | None, Option(help="Transcript to verify.")] = None,
    as_json: Json = False,
) -> None:
    """Play a negotiation round by round, or replay a transcript."""
    _answer("negotiations", context)


@_command("compare")
def compare(
    context: Context,
    *,
    study: Study,
    plan: Annotated[
        list[str] | None, Option("--plan", help="study, offer, least-loss or a file; repeat.")
    ] = None,
    lab: Labs = None,
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compare two to four plans, differences first."""
    _answer("plans", context)


@_command("report")
def report(
    context: Context,
    *,
    study: Study,
    lab: Lab = "medium",
    seed: Seed = 0,
    plan: PlanFile = None,
    samples: Samples = None,
    days: Days = None,
    settings: Settings = None,
    brief: Annotated[bool, Option("--brief", help="The brief.")] = False,
    funding: Annotated[bool, Option("--funding", help="The funding request.")] = False,
    negotiated: Annotated[bool, Option("--negotiated", help="With its negotiation.")] = False,
    registration: Annotated[str | None, Option(help="Name of a registration form.")] = None,
    answers: Answers = None,
    date: Annotated[datetime | None, Option(formats=["%Y-%m-%d"], help="Its date.")] = None,
    form: Annotated[str | None, Option(help="Form of the file, if its name has none.")] = None,
    paper: Annotated[str | None, Option(help="A4 or letter.")] = None,
    save: Save = None,
    as_json: Json = False,
) -> None:
    """Write a brief, a funding request, a report or a registration form."""
    _answer("reports", context)


@_command("batch")
def batch(
    context: Context,
    *,
    study: Studies,
    lab: Labs = None,
    seeds: Annotated[str, Option(metavar="A-B", help="Such as 0-99.")] = "0",
    settings: Settings = None,
    scientist: Scientists = None,
    lab_manager: Managers = None,
    rounds: Annotated[int | None, Option(min=1, help="At most this many rounds.")] = None,
    workers: Annotated[int | None, Option(min=1, max=256, help="Processes or calls.")] = None,
    dask: Annotated[str | None, Option(help="Address of a Dask scheduler.")] = None,
    csv: Annotated[Path | None, Option(help="File for a row of each result.")] = None,
    as_json: Json = False,
) -> None:
    """Play many negotiations, and count their outcomes; `all` names every study."""
    _answer("batches", context)
