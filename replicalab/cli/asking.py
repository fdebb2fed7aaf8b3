"""What a command is asked: the study, the lab, the question and the plan, from its options."""

import argparse
import json
import os
from argparse import ArgumentError, ArgumentTypeError
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from replicalab import scenarios
from replicalab.assessment import (
    CHOICES,
    assess,
    missing_choices,
    named_effect,
    offered_effects,
)
from replicalab.assessment.effects import choice_name
from replicalab.case import Case, in_labs_of
from replicalab.cli import lab
from replicalab.cli.files import STANDARD, called, content
from replicalab.cli.lab_options import MONEY_OPTIONS, decimal
from replicalab.cli.printing import CommandError, say
from replicalab.cli.record_options import add_records, records
from replicalab.documents import MOST_BYTES
from replicalab.errors import TraceError
from replicalab.lexicon import joined, same_label, shortened
from replicalab.models import LARGEST_PLANNED, LIST_FIELDS, LONGEST_LABEL, Protocol, revise
from replicalab.negotiation import Negotiation, Transcript, load, replay
from replicalab.planner import PlanAnalysis
from replicalab.registration import Registration
from replicalab.scenarios.checking import record_error
from replicalab.scenarios.json_file import FileKind, JsonFile, kind_of
from replicalab.views.plan import elsewhere_text

LABS: Final = tuple(level.value for level in scenarios.Difficulty)

LAB_OPTIONS: Final = {
    "budget": ("budget", "CREDITS", "the lab's budget"),
    "days_available": ("days", "DAYS", "how long the lab can give, from its first day"),
    "staff": ("staff", "UNITS", "staff units"),
    "start_day": ("start_day", "DAY", "the day on which work begins"),
}
# What each number of the question is, and what to write in place of one that cannot be.
_QUESTION: Final = {
    "effect": (
        "the effect to plan at, in the unit of the study's design, or its name: "
        f"{joined([choice.label.replace(' ', '-') for choice in CHOICES], 'or')}",
        "such as 0.5",
    ),
    "alpha": ("the significance level", "between 0 and 1, such as 0.05"),
    "target": ("the evidence to aim at", "above 0, such as 0.8"),
    "floor": ("the least evidence worth running", "above 0, such as 0.5"),
    "dropout": ("the share of samples that will drop out", "from 0 to below 1, such as 0.1"),
    "baseline": ("two proportions: the higher one", "above 0, at most 1, such as 0.5"),
    "assurance": ("precision: the chance of that half-width", "from 0.5 to below 1, such as 0.8"),
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

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Say which of the arguments is not known, and which one was probably meant."""
        name = unknown[0].partition("=")[0]
        known = [*self._option_string_actions]
        begun = [option for option in known if name.startswith("--") and option.startswith(name)]
        near = get_close_matches(name, begun, n=1, cutoff=0) or get_close_matches(name, known, n=1)
        guess = f"; did you mean '{near[0]}'?" if near else ""
        self.error(f"'{shortened(name)}' is no argument of this command{guess}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is no choice, with the one that was probably meant."""
        if action.choices is not None and value not in action.choices:
            remedy = scenarios.Guesser().remedy(str(value), [*action.choices])
            raise ArgumentError(action, f"'{shortened(str(value))}' is unknown; {remedy}")


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
    about = f"a study's id, or the path of a study file; {STANDARD} is standard input"
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
    group.add_argument(
        "--lab-file",
        metavar="FILE",
        type=Path,
        help="a lab saved as a file, or its items as a table, CSV or Excel",
    )
    for name, (_, unit, about) in LAB_OPTIONS.items():
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=whole(1), metavar=unit, help=about)
    lab.add_parts(group)
    for name, each in MONEY_OPTIONS.items():
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=each.read, metavar=each.unit, help=each.about)
    question = parser.add_argument_group("question, in place of the study's")
    for name, (about, _) in _QUESTION.items():
        read, unit = (_effect, "NUMBER|NAME") if name == "effect" else (decimal, "NUMBER")
        question.add_argument(f"--{name}", type=read, metavar=unit, help=about)
    add_records(question)


def _effect(text: str) -> float | str:
    """Return the number that a text is, or the name of a choice of the effect."""
    known = {choice.label for choice in CHOICES}
    if (name := choice_name(text)) in known:
        return name
    try:
        return decimal(text)
    except ArgumentTypeError:
        names = joined(sorted(each.replace(" ", "-") for each in known), "or")
        raise ArgumentTypeError(
            f"'{shortened(text)}' is no number; write one such as 0.5, or {names}"
        ) from None


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


def add_answers(group: argparse._ActionsContainer) -> None:
    """Add the option for what only the author of a registration can say."""
    group.add_argument(
        "--answers",
        metavar="FILE",
        type=Path,
        help="what its author says, as JSON: title, authors, reasons, texts, choices",
    )


def answers(asked: argparse.Namespace) -> Registration | None:
    """Return what an author says, as a file has it; None where none is named.

    Raises:
        ScenarioError: the file holds something else; with the place and the remedy.
    """
    if asked.answers is None:
        return None
    source = called(asked.answers)
    remedy = "write title, authors, reasons, texts and choices as a block"
    file = JsonFile(source, "answers", remedy, MOST_BYTES, MOST_BYTES, 1)
    values = file.values(content(asked.answers))
    try:
        return Registration.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise record_error(error, Registration, source) from error


def study_at(name: str) -> tuple[scenarios.Study, str]:
    """Return a study by its id or its path, and the text of its file; empty for the shelf's."""
    if not (name == STANDARD or "." in name or os.sep in name):  # no id has either
        return scenarios.load_scenario(name).study, ""
    path = Path(name)
    data = content(path)
    return scenarios.parse_study(data, called(name)), data.decode("utf-8-sig")


def pack(asked: argparse.Namespace, difficulty: str | None = None) -> scenarios.Pack:
    """Return the study in its lab, with what is said of it."""
    study, _ = study_at(asked.study)
    return Case(
        study=study.scenario_id,
        lab=scenarios.Difficulty(difficulty or asked.lab),
        seed=asked.seed,
        own_lab=own_lab(asked, [study]),
        question=question(asked, study),
    ).pack(in_labs_of(study))


def own_lab(
    asked: argparse.Namespace, studies: Sequence[scenarios.Study]
) -> scenarios.LabOverrides:
    """Return what is said of the lab: the file's, and in its place the options'."""
    said = lab.lab_at(asked.lab_file) if asked.lab_file else scenarios.LabOverrides()
    means = {field: getattr(asked, name) for name, (field, *_) in LAB_OPTIONS.items()}
    rates: dict[str, object] = dict(said.rates.items())
    for name, option in MONEY_OPTIONS.items():
        if (value := getattr(asked, name)) is not None:
            (rates if option.is_rate else means)[option.field] = value
    changed = {k: v for k, v in means.items() if v is not None}
    said = said.model_copy(update={**changed, "rates": rates})
    return lab.with_parts(said, asked, studies)


def question(asked: argparse.Namespace, study: scenarios.Study) -> scenarios.EvidenceAssumptions:
    """Return what is asked of a study's evidence.

    Raises:
        CommandError: a number that no design can have, or that plays no part in the study's.
    """
    said = {name: getattr(asked, name) for name in scenarios.QUESTION_FIELDS}
    if said["effect"] is not None and study.design.row.effect is None:
        effect = said["effect"] if isinstance(said["effect"], str) else f"{said['effect']:g}"
        idle = f"--effect '{effect}' plays no part in {study.design.row.named} design"
        raise CommandError(f"{idle}; leave it out for {study.scenario_id}")
    if isinstance(said["effect"], str):
        said["effect"] = _named_effect(said["effect"], study)
    for name, value in said.items():
        try:
            scenarios.EvidenceAssumptions.model_validate({name: value})
        except ValueError:
            remedy = f"write one {_QUESTION[name][1]}"
            raise CommandError(f"--{name} {value:g} is out of range; {remedy}") from None
    said |= records(asked, study)
    found = scenarios.EvidenceAssumptions.model_validate(said)
    for idle in found.idle_in(study.design).values():
        raise CommandError(f"--{idle}; leave it out for {study.scenario_id}")
    return found


def _named_effect(name: str, study: scenarios.Study) -> float:
    """Return the effect of a study by its name.

    Raises:
        CommandError: the study has no such effect.
    """
    if (found := named_effect(study.design, name)) is not None:
        return found
    why = dict(missing_choices(study.design)).get(name, f"{study.scenario_id} has none")
    known = [choice.label.replace(" ", "-") for choice, _ in offered_effects(study.design)]
    remedy = f"write a number, or {joined(known, 'or')}" if known else "write a number"
    raise CommandError(f"--effect {name.replace(' ', '-')}: {why}; {remedy}")


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
    saved = scenarios.read_plan(data, called(path))
    if note := elsewhere_text(saved.study, found):
        say(f"{called(path)}: {note}")
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
        raise CommandError(f"{called(path)}: {other}; name that study")
    try:
        again = replay(transcript, Case.of_run(setup).pack(in_labs_of(found.study)))
    except TraceError as error:
        raise CommandError(f"{called(path)}: {error}") from error
    if again.final_plan is None:
        raise CommandError(f"{called(path)}: no plan is on the table in it; name a plan's file")
    return again


def transcript_of(data: bytes, path: Path) -> Transcript:
    """Return the transcript that a file holds.

    Raises:
        CommandError: it holds none.
    """
    try:
        return load(data.decode("utf-8-sig"))
    except (TraceError, UnicodeDecodeError) as error:
        problem = str(error) if isinstance(error, TraceError) else "it is no UTF-8 text"
        raise CommandError(f"{called(path)}: {problem}") from None


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
