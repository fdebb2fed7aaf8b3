"""The options, registration, files and answers of commands; and the case that options describe."""

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from inspect import Parameter, Signature, signature
from pathlib import Path, PurePath
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

import typer
from pydantic import ValidationError
from pydantic_core import to_jsonable_python
from typer import Argument, Exit, Option, Typer

from replicalab import __version__, features, negotiation, scenarios
from replicalab.answers import Registration
from replicalab.assessment import named_effect, offered_effects
from replicalab.characters import shown
from replicalab.errors import TraceError
from replicalab.facts.blocks import Block
from replicalab.lexicon import joined, shortened
from replicalab.limits import LARGEST_PLANNED, MOST_FILE_BYTES
from replicalab.models import Protocol, Record
from replicalab.negotiation import Negotiation
from replicalab.negotiation.case import Case, in_labs_of
from replicalab.planner import PlanAnalysis
from replicalab.render.terminal import AnswerConsole, renderables
from replicalab.scenarios import Difficulty, LabOverrides, Pack, Study, reading

SCHEMA: Final = 2  # Version of every JSON answer: it rises if a value is renamed, moved or removed
STANDARD: Final = "-"


class CommandError(ValueError):
    """Bad input to a command: a message with value, place and remedy."""


class Answer(NamedTuple):
    """The answer of a command."""

    code: int  # exit code
    blocks: Iterable[Block | str | None]  # for people
    data: Callable[[], Mapping[str, object]]  # for programs
    file: str | bytes = ""  # content for ``--save``


def finish(function: Callable[[Any], Answer], options: Any) -> int:
    """Run a command, save its file, print its answer, and return its exit code."""
    save: Path | None = options.save
    fills = str(save) == STANDARD
    if fills and options.as_json:
        raise CommandError(f"--save {STANDARD} and --json both fill standard output; omit one")
    if save:
        _require_writable(save)
    answer = function(options)
    saved = _write(save, answer.file) if save and answer.file else ""
    if options.as_json:
        data = to_jsonable_python({"schema": SCHEMA, **answer.data()}, inf_nan_mode="null")
        sys.stdout.write(json.dumps(data, indent=1, allow_nan=False) + "\n")
    elif not fills:
        show([*answer.blocks, saved])
    sys.stdout.flush()
    return answer.code


def show(blocks: Iterable[Block | str | None]) -> None:
    """Print blocks and sentences."""
    console = AnswerConsole(sys.stdout)
    for part in renderables(*(block for block in blocks if block)):
        console.print(part)


def say(text: str, end: str = "\n") -> None:
    """Write to standard error, unless it is closed."""
    if sys.stderr is not None:
        sys.stderr.write("\n".join(map(shown, text.split("\n"))) + end)
        sys.stderr.flush()


def called(path: Path) -> str:
    """Return the name of a file in a message."""
    return "standard input" if str(path) == STANDARD else shortened(str(path), 100)


@cache
def content(path: Path) -> bytes:
    """Return the content of a file, which is read only once, because it may be a pipe."""
    name = called(path)
    try:
        if str(path) != STANDARD:
            with path.open("rb") as file:
                data = file.read(MOST_FILE_BYTES + 1)
        elif sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        else:
            data = sys.stdin.buffer.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        why, remedy = error.strerror or "no such file", "name a file that exists and may be read"
        raise CommandError(f"'{name}' cannot be read ({why}); {remedy}") from None
    if len(data) > MOST_FILE_BYTES:
        raise CommandError(f"'{name}' has more than {MOST_FILE_BYTES:,} bytes; name a smaller file")
    return data


def _require_writable(path: Path) -> None:
    target = path if path.exists() else path.parent
    if str(path) != STANDARD and (path.is_dir() or not os.access(target, os.W_OK)):
        why = "it is a folder" if path.is_dir() else "no access to its folder"
        remedy = "name a file in a folder that may be written"
        raise CommandError(f"'{called(path)}' cannot be written ({why}); {remedy}")


def _write(path: Path, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    if str(path) == STANDARD:
        sys.stdout.buffer.write(data)
        return ""
    path.write_bytes(data)
    return f"Saved: {path}"


Many = list[str] | None
Numbers = Annotated[Many, Option(metavar="NAME=NUMBER", help="Repeat.")]
LAB: Final = ("study", "lab", "seed", "settings", "as_json")
PLAN: Final = (*LAB, "plan", "samples", "days")
CODES: Final[dict[str, str]] = {}  # exit codes; those of all commands are in docs/commands.md
EXAMPLES: Final[dict[str, str]] = {}


def _study_ids() -> list[str]:
    return [study.scenario_id for study in scenarios.list_scenarios()]


def _labs() -> list[str]:
    return [*Difficulty]


@dataclass(kw_only=True)
class Options:
    """All options; a command has some. A feature adds those of its commands in a subclass."""

    study: Annotated[
        str, Argument(metavar="STUDY", help="Id, or path of a file.", autocompletion=_study_ids)
    ] = ""
    studies: Annotated[
        list[str], Argument(metavar="STUDY...", help="Ids or paths.", autocompletion=_study_ids)
    ] = ()  # type: ignore[assignment]
    lab: Annotated[str, Option(help="easy, medium, hard or a lab file.", autocompletion=_labs)] = (
        "medium"
    )
    labs: Annotated[Many, Option("--lab", help="As for one; repeat.", autocompletion=_labs)] = None
    seed: Annotated[int, Option(min=0, max=2**31 - 1, help="0 is the lab as written.")] = 0
    seeds: Annotated[str, Option(metavar="A-B", help="Such as 0-99.")] = "0"
    settings: Annotated[
        Many, Option("--set", metavar="PATH=VALUE", help="Such as own_lab.budget=900; repeat.")
    ] = None
    plan: Annotated[Path | None, Option(help="File of a plan or a transcript.")] = None
    plans: Annotated[Many, Option("--plan", help="study, offer, least-loss or file.")] = None
    samples: Annotated[int | None, Option(min=0, max=LARGEST_PLANNED, help="Of the plan.")] = None
    days: Annotated[int | None, Option(min=0, max=LARGEST_PLANNED, help="Of the plan.")] = None
    scientist: Annotated[str | None, Option(help="Such as baseline or model.")] = None
    scientists: Annotated[Many, Option("--scientist", help="Repeat.")] = None
    lab_manager: Annotated[str | None, Option(help="reference or least_loss.")] = None
    lab_managers: Annotated[Many, Option("--lab-manager", help="Repeat.")] = None
    replay: Annotated[Path | None, Option(help="Transcript to verify.")] = None
    workers: Annotated[int | None, Option(min=1, max=256, help="Processes or calls.")] = None
    dask: Annotated[str | None, Option(help="Address of a Dask scheduler.")] = None
    kind: Annotated[str, Option(help="report, brief, funding or a registration form.")] = "report"
    negotiated: Annotated[bool, Option("--negotiated", help="With its negotiation.")] = False
    answers: Annotated[Path | None, Option(help="JSON file with the author's answers.")] = None
    date: Annotated[datetime | None, Option(formats=["%Y-%m-%d"], help="Its date.")] = None
    paper: Annotated[Literal["A4", "letter"] | None, Option(help="Of a PDF or Word file.")] = None
    save: Annotated[Path | None, Option(help="File to write; - is standard output.")] = None
    port: Annotated[int, Option(help="Port of the dashboard.")] = 8501
    hosts: Annotated[Many, Option("--host", help="Name of this server; repeat.")] = None
    demo: Annotated[bool, Option("--demo", help="No saving, model or uploads.")] = False
    no_browser: Annotated[bool, Option("--no-browser", help="Open no browser.")] = False
    as_json: Annotated[bool, Option("--json", help="Answer as JSON.")] = False


_Function = Callable[[Any], Answer]  # of `Options`, or of a subclass
_ENDS: Final = "Exit codes: 2 bad input, 70 failure of ReplicaLab, 130 Ctrl-C, 141 broken pipe."
app = Typer(rich_markup_mode=None, epilog=_ENDS)


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


def command(
    *names: str, codes: str, example: str, options: type[Options] = Options
) -> Callable[[_Function], _Function]:
    """Register a function as a command with these options."""
    parameters = {name: signature(options).parameters[name] for name in names}
    for name in {"study", "studies"}.intersection(names):
        parameters[name] = parameters[name].replace(default=Parameter.empty)

    def register(function: _Function) -> _Function:
        def run(**values: Any) -> None:
            raise Exit(finish(function, options(**values)))

        run.__signature__ = Signature([*parameters.values()])  # type: ignore[attr-defined]
        name = function.__name__.replace("_", "-")
        CODES[name], EXAMPLES[name] = codes, example
        epilog = f"Exit code: {codes}.\n\nExample: replicalab {name} {example}"
        app.command(name, help=function.__doc__, epilog=epilog)(run)
        return function

    return register


@command(
    "port",
    "hosts",
    "demo",
    "no_browser",
    codes="1 after Ctrl-C or if it cannot start, 2 if the port is taken",
    example="--port 8600",
)
def serve(options: Options) -> Answer:
    """Serve the dashboard on this computer; `replicalab` alone does the same."""
    from replicalab import server  # noqa: PLC0415 - brings Streamlit in

    opens = not options.no_browser
    server.serve(options.port, options.hosts or (), opens_browser=opens, demo=options.demo)
    return Answer(0, (), dict)


Values = dict[str, Any]
_R = TypeVar("_R", bound=Record)


def choice(option: str, name: str, names: Sequence[str]) -> None:
    """Refuse an unknown name."""
    if name not in names:
        remedy = scenarios.known_names(name, [*names])
        raise CommandError(f"{option} '{shortened(name)}' is unknown; {remedy}")


def numbers(option: str, texts: Sequence[str] | None, example: str) -> dict[str, float]:
    """Return the numbers of a repeated option by their names."""
    values: dict[str, float] = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        try:
            number = float(value if name.strip() else "")
        except ValueError:
            problem = f"{option} '{shortened(text)}' is no name with a number"
            raise CommandError(f"{problem}; write one such as {example}") from None
        values[name.strip()] = int(number) if number.is_integer() else number
    return values


def _is_file(name: str) -> bool:
    return name == STANDARD or "." in name or os.sep in name  # no id has either


def study_at(name: str) -> tuple[Study, str]:
    """Return a study by its id or path, and the text of its file if it is not shipped."""
    if not _is_file(name):
        return scenarios.load_scenario(name).study, ""
    data = content(path := Path(name))
    return scenarios.parse_study(data, called(path)), data.decode("utf-8-sig")


def _lab_at(name: str) -> tuple[Difficulty, LabOverrides]:
    if not _is_file(name):
        choice("--lab", name, [*Difficulty])
        return Difficulty(name), LabOverrides()
    data, source = content(Path(name)), called(Path(name))
    if data.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"", b"{"):
        return Difficulty.MEDIUM, scenarios.read_lab(data, source)
    read = features.require("command", app, key="--lab")
    return Difficulty.MEDIUM, LabOverrides(items=read(data, PurePath(source).name))


def case_of(options: Options, study: Study, lab: str, fields: Values) -> Case:
    """Return a case with the settings of a command and further fields."""
    level, own_lab = _lab_at(lab)
    record = own_lab.model_dump(mode="json", exclude_defaults=True)
    tree: Values = {"own_lab": record, "question": {}, **fields}
    for text in options.settings or ():
        _put(tree, text, study)
    values = {"study": study.scenario_id, "lab": level, "seed": options.seed, **tree}
    case = _validated(Case, values, "options")
    for idle in case.question.idle_in(study.design).values():
        raise CommandError(f"--set question.{idle}; omit it for {study.scenario_id}")
    for option, kind in (("scientist", case.scientist), ("lab-manager", case.lab_manager)):
        if kind == negotiation.ScientistKind.PERSON:
            raise CommandError(f"--{option} person: a person plays in the dashboard; name a rule")
    return case


def _put(tree: Values, text: str, study: Study) -> None:
    path, sign, value = text.partition("=")
    *steps, last = path.strip().split(".")
    place = f"--set '{shortened(text)}'"
    if not sign or not all((*steps, last)):
        remedy = "write PATH=VALUE, such as own_lab.budget=900"
        raise CommandError(f"{place} has no path and value; {remedy}")
    choice(f"{place}:", (*steps, last)[0], [*tree])
    block = tree
    for step in steps:
        if block is tree["question"] and step in scenarios.QUESTION_RECORDS:
            record = getattr(study.design, step)
            block.setdefault(step, record.model_dump(mode="json") if record else {})
        block = block.setdefault(step, {})
        if not isinstance(block, dict):
            raise CommandError(f"{place}: '{step}' has no fields; set it as a whole")
    block[last] = _parsed(value)
    if (*steps, last) == ("question", "effect") and isinstance(block[last], str):
        block[last] = _effect_named(block[last], study)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _effect_named(name: str, study: Study) -> float:
    if (effect := named_effect(study.design, name)) is not None:
        return effect
    names = [label.label.replace(" ", "-") for label, _ in offered_effects(study.design)]
    problem = f"--set question.effect={shortened(name)}: {study.scenario_id} has none"
    raise CommandError(f"{problem}; write {joined(['a number', *names], 'or')}")


def _validated(record: type[_R], values: Values, source: str) -> _R:
    try:
        return record.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise reading.record_error(error, record, source) from error


def pack_of(case: Case, study: Study) -> Pack:
    """Return the study in the lab of a case."""
    return case.pack(in_labs_of(study))


def plan_case(options: Options, study: Study, fields: Values) -> Case:
    """Return the case of a plan: of a file or the study, with its settings."""
    plan = plan_at(options.plan, study) if options.plan else study.reference_protocol
    numbers = {"sample_size": options.samples, "duration_days": options.days}
    changes = {name: number for name, number in numbers.items() if number is not None}
    values = plan.model_dump(mode="json") | changes
    return case_of(options, study, options.lab, {"plan": values, **fields})


def analysis(options: Options, **fields: Values) -> tuple[PlanAnalysis, Case]:
    """Return the analysis of a plan in its lab, and its case."""
    study, _ = study_at(options.study)
    case = plan_case(options, study, fields)
    return PlanAnalysis(case.assess(in_labs_of(study))), case


def answers(options: Options) -> Values:
    """Return the author's answers in a file."""
    if options.answers is None:
        return {}
    source, data = called(options.answers), content(options.answers)
    remedy = "write title, authors, reasons, texts, choices and worlds as a block"
    values = reading.read_json(data, source, "answers", remedy)
    registration = _validated(Registration, dict(values), source)
    return registration.model_dump(mode="json", exclude_defaults=True)


def plan_at(path: Path, study: Study) -> Protocol:
    """Return the plan of a file, or the last plan of a transcript."""
    if run := run_at(path, study):
        if run.final_plan is None:
            raise CommandError(f"{called(path)}: it ends without a plan; name a plan's file")
        return run.final_plan.plan
    saved = scenarios.read_plan(content(path), called(path))
    if saved.study not in (None, study.scenario_id):
        say(f"{called(path)}: This plan was saved for another study, '{saved.study}'.")
    return saved.plan


def run_at(path: Path, study: Study) -> Negotiation | None:
    """Return the negotiation of a transcript, replayed; None for another file."""
    text = content(path).decode("utf-8-sig", "replace")
    values = _parsed(text)
    if not isinstance(values, dict) or reading.kind_of(values) is not reading.FileKind.RUN:
        return None
    try:
        transcript = negotiation.load(text)
        about = transcript.setup.scenario_id
        if about != study.scenario_id:
            problem = f"it is a negotiation about '{about}', not about '{study.scenario_id}'"
            raise CommandError(f"{called(path)}: {problem}; name that study")
        return negotiation.replay(transcript, pack_of(Case.of_run(transcript.setup), study))
    except TraceError as error:
        raise CommandError(f"{called(path)}: {error}") from error
