"""What a command is asked: the study, the lab, the question and the plan, from its options."""

import argparse
import errno
import json
import os
import stat
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.case import Case, in_labs_of
from replicalab.cli.lab_options import MONEY_OPTIONS, decimal
from replicalab.cli.printing import CommandError, say
from replicalab.documents import MOST_BYTES, STUDY_SUFFIXES
from replicalab.errors import TraceError
from replicalab.lexicon import same_label, shortened
from replicalab.models import LARGEST_PLANNED, LIST_FIELDS, LONGEST_LABEL, Protocol, revise
from replicalab.negotiation import Negotiation, Transcript, load, replay
from replicalab.planner import PlanAnalysis
from replicalab.scenarios.folders import at_once
from replicalab.scenarios.json_file import FileKind, kind_of
from replicalab.views.plan import elsewhere_text

# Where the shell puts a pipe that it opened itself.
_HANDED_OVER: Final = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
LABS: Final = tuple(level.value for level in scenarios.Difficulty)

LAB_OPTIONS: Final = {
    "budget": ("budget", "CREDITS", "the lab's budget"),
    "days_available": ("days", "DAYS", "how long the lab can give, from its first day"),
    "staff": ("staff", "UNITS", "staff units"),
    "start_day": ("start_day", "DAY", "the day on which work begins"),
}
# What each number of the question is, and what to write in place of one that cannot be.
_QUESTION: Final = {
    "effect": ("the effect to plan at, in the unit of the study's design", "such as 0.5"),
    "alpha": ("the significance level", "between 0 and 1, such as 0.05"),
    "target": ("the evidence to aim at", "above 0, such as 0.8"),
    "floor": ("the least evidence worth running", "above 0, such as 0.5"),
    "dropout": ("the share of samples that will drop out", "from 0 to below 1, such as 0.1"),
}


class Parser(argparse.ArgumentParser):
    """A parser that keeps the lines of its texts, and knows every option by its full name only."""

    def __init__(self, **settings: object) -> None:
        defaults = {
            "formatter_class": argparse.RawDescriptionHelpFormatter,
            "allow_abbrev": False,
        }
        super().__init__(**{**defaults, **settings})  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line, and end."""
        say(f"{self.prog}: {message}; see {self.prog} --help")
        raise SystemExit(2)


# --- options ------------------------------------------------------------------------------------


def whole(least: int, most: int = scenarios.MOST) -> Callable[[str], int]:
    """Return what reads a whole number between two others."""

    def read(text: str) -> int:
        try:
            number = int(text) if text.isascii() else None
        except ValueError:
            number = None
        if number is None or not least <= number <= most:
            raise ArgumentTypeError(f"'{text}' is no whole number from {least} to {most:,}")
        return number

    return read


def add_study(parser: argparse.ArgumentParser, number: str | None = None) -> None:
    """Add the study, of which `pack` is made."""
    about = "a study's id, or the path of a study file"
    parser.add_argument("study", metavar="STUDY", nargs=number, help=about)


def add_case(parser: argparse.ArgumentParser) -> None:
    """Add the study, the lab and the plan, of which `analysis` is made."""
    add_study(parser)
    add_lab(parser)
    add_plan(parser)


def add_lab(parser: argparse.ArgumentParser) -> None:
    """Add which of a study's labs, and what is said in its place."""
    group = parser.add_argument_group("lab")
    group.add_argument(
        "--lab", choices=LABS, default="medium", help="which lab of the study (default: medium)"
    )
    group.add_argument(
        "--seed",
        type=whole(0, scenarios.MAX_SEED),
        default=0,
        help="0, the default, is the lab as written; any other moves it",
    )
    add_own(parser)


def add_own(parser: argparse.ArgumentParser) -> None:
    """Add what is said of the lab and of the evidence in place of the study."""
    group = parser.add_argument_group("your lab, in place of the study's")
    group.add_argument("--lab-file", metavar="LAB.json", type=Path, help="a lab saved as a file")
    for name, (_, unit, about) in LAB_OPTIONS.items():
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=whole(1), metavar=unit, help=about)
    for name, each in MONEY_OPTIONS.items():
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=each.read, metavar=each.unit, help=each.about)
    question = parser.add_argument_group("question, in place of the study's")
    for name, (about, _) in _QUESTION.items():
        question.add_argument(f"--{name}", type=decimal, metavar="NUMBER", help=about)


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Add which plan, and what is changed of it."""
    group = parser.add_argument_group("plan, the study's own where nothing is said")
    group.add_argument(
        "--plan",
        metavar="PLAN.json",
        type=Path,
        help="a plan saved as a file, or a transcript for the plan that it came to",
    )
    number = whole(0, LARGEST_PLANNED)
    group.add_argument("--samples", type=number, metavar="N", help="plan so many samples")
    group.add_argument("--days", type=number, metavar="D", help="in so many days")
    group.add_argument(
        "--without", action="append", default=[], metavar="LABEL", help="without this control"
    )
    group.add_argument(
        "--swap",
        action="append",
        default=[],
        nargs=2,
        metavar=("ITEM", "OTHER"),
        help="with another item in place of one",
    )


# --- what they ask for --------------------------------------------------------------------------


def content(path: Path) -> bytes:
    """Return what a file holds.

    A pipe that the shell hands over, ``<(…)`` or ``/dev/stdin``, is read to its end; one that has a
    name of its own may never end.

    Raises:
        CommandError: it cannot be read, or is larger than any file that is.
    """
    try:
        with open(path, "rb", opener=at_once) as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISFIFO(mode) and not str(path).startswith(_HANDED_OVER):
                raise OSError(errno.EINVAL, "a named pipe is not waited for")
            if not stat.S_ISREG(mode):
                # It was opened without waiting; read so, a pipe would end at its first pause.
                os.set_blocking(file.fileno(), True)
            held = file.read(MOST_BYTES + 1)
    except OSError as error:
        why = error.strerror or "no such file"
        raise CommandError(
            f"'{path}' cannot be read ({why}); name a file that exists and may be read"
        ) from None
    except ValueError:
        raise CommandError(f"{str(path)!r} is no path; name a file") from None
    if len(held) > MOST_BYTES:
        raise CommandError(
            f"'{path}' has more than {MOST_BYTES:,} bytes, which no file that is read here has; "
            "name another"
        )
    return held


def study_at(name: str) -> tuple[scenarios.Study, str]:
    """Return a study by its id or its path, and the text of its file; empty for the shelf's."""
    path = Path(name)
    is_path = name.endswith(tuple(f".{suffix}" for suffix in STUDY_SUFFIXES))
    if not (is_path or (path.suffix and path.is_file())):
        return scenarios.load_scenario(name).study, ""
    data = content(path)
    return scenarios.parse_study(data, name), data.decode("utf-8-sig")


def pack(asked: argparse.Namespace, lab: str | None = None) -> scenarios.Pack:
    """Return the study in its lab, with what is said of it."""
    study, _ = study_at(asked.study)
    return Case(
        study=study.scenario_id,
        lab=scenarios.Difficulty(lab or asked.lab),
        seed=asked.seed,
        own_lab=own_lab(asked),
        question=question(asked, study),
    ).pack(in_labs_of(study))


def own_lab(asked: argparse.Namespace) -> scenarios.LabOverrides:
    """Return what is said of the lab: the file's, and in its place the options'."""
    path = asked.lab_file
    said = scenarios.read_lab(content(path), str(path)) if path else scenarios.LabOverrides()
    means = {field: getattr(asked, name) for name, (field, *_) in LAB_OPTIONS.items()}
    rates: dict[str, object] = dict(said.rates.items())
    for name, option in MONEY_OPTIONS.items():
        if (value := getattr(asked, name)) is not None:
            (rates if option.is_rate else means)[option.field] = value
    changed = {k: v for k, v in means.items() if v is not None}
    return said.model_copy(update={**changed, "rates": rates})


def question(asked: argparse.Namespace, study: scenarios.Study) -> scenarios.EvidenceAssumptions:
    """Return what is asked of a study's evidence.

    Raises:
        CommandError: a number that no design can have, or that plays no part in the study's.
    """
    said = {name: getattr(asked, name) for name in scenarios.QUESTION_FIELDS}
    for name, value in said.items():
        try:
            scenarios.EvidenceAssumptions.model_validate({name: value})
        except ValueError:
            remedy = f"write one {_QUESTION[name][1]}"
            raise CommandError(f"--{name} {value:g} is out of range; {remedy}") from None
    found = scenarios.EvidenceAssumptions.model_validate(said)
    for idle in found.idle_in(study.design).values():
        raise CommandError(f"--{idle}; leave it out for {study.scenario_id}")
    return found


def analysis(asked: argparse.Namespace) -> PlanAnalysis:
    """Return the plan that is asked about in its lab, and what may be done about it."""
    found = pack(asked)
    return PlanAnalysis(assess(plan(asked, found), found))


def plan(asked: argparse.Namespace, found: scenarios.Pack) -> Protocol:
    """Return the plan that is asked about.

    Raises:
        CommandError: a label that it does not list.
    """
    chosen = plan_at(asked.plan, found) if asked.plan else found.reference_protocol
    numbers = {"sample_size": asked.samples, "duration_days": asked.days}
    lists = {name: list(getattr(chosen, name)) for name in LIST_FIELDS}
    for label in asked.without:
        labels, at = _place(label, lists, LIST_FIELDS[:1], "--without")
        del labels[at]
    for old, new in asked.swap:
        labels, at = _place(old, lists, LIST_FIELDS[1:], "--swap")
        labels[at] = _label(new)
    changed = {**{k: v for k, v in numbers.items() if v is not None}, **lists}
    return revise(chosen, **changed)


def plan_at(path: Path, found: scenarios.Pack) -> Protocol:
    """Return the plan of a file, or that on which a transcript ended.

    Raises:
        CommandError: it is a transcript that comes to no plan here.
    """
    data = content(path)
    run = run_in(data, path, found)
    if run and run.final_plan:
        return run.final_plan.plan
    saved = scenarios.read_plan(data, str(path))
    if note := elsewhere_text(saved.study, found):
        say(f"{path}: {note}")
    return saved.plan


def run_in(data: bytes, path: Path, found: scenarios.Pack) -> Negotiation | None:
    """Return the negotiation of a transcript, with a plan on the table; None of another file.

    Raises:
        CommandError: it is of another study, does not replay here, or comes to no plan.
    """
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or kind_of(values) is not FileKind.RUN:
        return None
    transcript = transcript_of(data, path)
    setup = transcript.setup
    if setup.scenario_id != found.scenario_id:
        other = f"it is a negotiation about '{setup.scenario_id}', not about '{found.scenario_id}'"
        raise CommandError(f"{path}: {other}; name that study")
    again = replay(transcript, Case.of_run(setup).pack(in_labs_of(found.study)))
    if again.differences:
        why = again.differences[0].message
        raise CommandError(f"{path}: it does not replay as it was saved. {why}")
    if again.negotiation.final_plan is None:
        raise CommandError(f"{path}: no plan is on the table in it; name a plan's file")
    return again.negotiation


def transcript_of(data: bytes, path: Path) -> Transcript:
    """Return the transcript that a file holds.

    Raises:
        CommandError: it holds none.
    """
    try:
        return load(data.decode("utf-8-sig"))
    except (TraceError, UnicodeDecodeError) as error:
        problem = str(error) if isinstance(error, TraceError) else "it is no UTF-8 text"
        raise CommandError(f"{path}: {problem}") from None


def _place(
    label: str, lists: dict[str, list[str]], fields: Sequence[str], option: str
) -> tuple[list[str], int]:
    """Return the list that holds a label, and where."""
    for field in fields:
        for at, each in enumerate(lists[field]):
            if same_label(each, label):
                return lists[field], at
    known = [each for field in fields for each in lists[field]]
    remedy = scenarios.Guesser().remedy(label, known)
    raise CommandError(f"{option} '{label}': the plan lists no such thing; {remedy}")


def _label(text: str) -> str:
    label = " ".join(text.split())
    if not 0 < len(label) <= LONGEST_LABEL:
        said = shortened(label)
        raise CommandError(f"--swap: '{said}' is no label; write 1 to {LONGEST_LABEL} characters")
    return label
