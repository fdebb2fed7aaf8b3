"""The study, lab, question and plan that the arguments of a command describe."""

import json
import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from replicalab import scenarios
from replicalab.assessment import assess, missing_choices, named_effect, offered_effects
from replicalab.assessment.effects import choice_name
from replicalab.case import Case, in_labs_of
from replicalab.cli.files import STANDARD, called, content
from replicalab.cli.printing import CommandError, say
from replicalab.documents import MOST_BYTES
from replicalab.errors import TableError, TraceError
from replicalab.lexicon import joined, shortened
from replicalab.models import Protocol, Record
from replicalab.negotiation import Negotiation, Transcript, load, replay
from replicalab.planner import PlanAnalysis
from replicalab.registration import Registration
from replicalab.scenarios import Difficulty, LabOverrides, Pack, Study
from replicalab.scenarios.checking import record_error
from replicalab.scenarios.json_file import FileKind, JsonFile, kind_of
from replicalab.tables import SUFFIXES, read_inventory
from replicalab.views.plan import elsewhere_text

LEVELS: Final = tuple(level.value for level in Difficulty)
Values = dict[str, Any]
_R = TypeVar("_R", bound=Record)


def choice(option: str, name: str, names: Sequence[str]) -> str:
    """Return one of the names.

    Raises:
        CommandError: it is another one.
    """
    if name not in names:
        remedy = scenarios.Guesser().remedy(name, [*names])
        raise CommandError(f"{option} '{shortened(name)}' is unknown; {remedy}")
    return name


def study_at(name: str) -> tuple[Study, str]:
    """Return a study by its id or path, and the text of its file; empty for the shelf's."""
    if not (name == STANDARD or "." in name or os.sep in name):  # no id has either
        return scenarios.load_scenario(name).study, ""
    data = content(Path(name))
    return scenarios.parse_study(data, called(name)), data.decode("utf-8-sig")


def lab_at(name: str) -> tuple[Difficulty, LabOverrides]:
    """Return the study's lab of a level, or the values of a lab file over the medium lab.

    Raises:
        CommandError: it is neither.
        TableError: a table holds no items.
    """
    if name in LEVELS:
        return Difficulty(name), LabOverrides()
    if name != STANDARD and not ("." in name or os.sep in name):
        choice("--lab", name, LEVELS)
    data, source = content(Path(name)), called(name)
    ending = PurePath(name).suffix.casefold().removeprefix(".")
    if not ending and data.strip() and not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        ending = "xlsx" if data.startswith(b"PK") else "csv"
    if ending not in SUFFIXES:
        return Difficulty.MEDIUM, scenarios.read_lab(data, source)
    try:
        items = read_inventory(data, f"{PurePath(source).stem}.{ending}")
    except TableError as error:
        raise TableError(source, error.faults, error.more) from None
    return Difficulty.MEDIUM, LabOverrides(items=items)


# --- settings -----------------------------------------------------------------------------------


def read_settings(asked: SimpleNamespace) -> list[tuple[list[str], Any]]:
    """Return the path and the value of every ``--set``.

    Raises:
        CommandError: a setting without a path of this command.
    """
    roots = ["own_lab", "question"]
    roots += ["plan"] * hasattr(asked, "samples") + ["registration"] * hasattr(asked, "answers")
    settings = []
    for text in asked.settings or ():
        path, sign, value = text.partition("=")
        steps = path.strip().split(".")
        if not sign or len(steps) < 2 or not all(steps):
            remedy = "write PATH=VALUE, such as own_lab.budget=900"
            raise CommandError(f"--set '{shortened(text)}' has no path and value; {remedy}")
        choice(f"--set '{shortened(text)}':", steps[0], roots)
        settings.append((steps, _parsed(value)))
    return settings


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def put(values: Values, settings: Sequence[tuple[list[str], Any]]) -> None:
    """Put settings into a tree of blocks and lists.

    Raises:
        CommandError: a path leads through a value.
    """
    for path, value in settings:
        block: Any = values
        *steps, last = path
        try:
            for step in steps:
                block = _member(block, step)
            if isinstance(block, list):
                block[int(last)] = value
            elif isinstance(block, dict):
                block[last] = value
            else:
                raise TypeError
        except (TypeError, ValueError, IndexError):
            place = shortened(".".join(path))
            remedy = "name a field of a block, or a place in a list from 0"
            raise CommandError(f"--set '{place}': no such place; {remedy}") from None


def _member(block: Any, step: str) -> Any:
    if isinstance(block, list):
        return block[int(step)]
    if not isinstance(block, dict):
        raise TypeError
    return block.setdefault(step, {})


def validated(record: type[_R], values: Values, source: str = "--set") -> _R:
    """Return a record of values and settings.

    Raises:
        ScenarioError: a field or its value is not allowed.
    """
    try:
        return record.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise record_error(error, record, source) from error


def dumped(record: Record) -> Values:
    """Return the fields of a record that differ from their defaults."""
    return record.model_dump(mode="json", exclude_defaults=True)


# --- the case -----------------------------------------------------------------------------------


def case_of(asked: SimpleNamespace, study: Study, lab: str | None = None) -> Case:
    """Return a study in a lab with the settings of both, without a plan."""
    level, own_lab = lab_at(lab or asked.lab)
    settings = [pair for pair in read_settings(asked) if pair[0][0] in {"own_lab", "question"}]
    values: Values = {
        "study": study.scenario_id,
        "lab": str(level),
        "seed": getattr(asked, "seed", 0),
        "own_lab": dumped(own_lab),
        "question": {
            path[1]: getattr(study.design, path[1]).model_dump(mode="json")
            for path, _ in settings
            if path[0] == "question"
            and path[1] in scenarios.QUESTION_RECORDS
            and len(path) > 2
            and getattr(study.design, path[1]) is not None
        },
    }
    put(values, settings)
    effect = values["question"].get("effect")
    if isinstance(effect, str):
        values["question"]["effect"] = _effect_named(choice_name(effect), study)
    case = validated(Case, values)
    _require_used(case.question, study)
    return case


def _require_used(question: scenarios.EvidenceAssumptions, study: Study) -> None:
    for idle in question.idle_in(study.design).values():
        raise CommandError(f"--set question.{idle}; omit it for {study.scenario_id}")


def _effect_named(name: str, study: Study) -> float:
    if (effect := named_effect(study.design, name)) is not None:
        return effect
    why = dict(missing_choices(study.design)).get(name, f"{study.scenario_id} has none")
    names = [label.label.replace(" ", "-") for label, _ in offered_effects(study.design)]
    remedy = f"write a number, or {joined(names, 'or')}" if names else "write a number"
    raise CommandError(f"--set question.effect={name.replace(' ', '-')}: {why}; {remedy}")


def pack(asked: SimpleNamespace, lab: str | None = None) -> Pack:
    """Return the study in its lab, with all settings."""
    study, _ = study_at(asked.study)
    return case_of(asked, study, lab).pack(in_labs_of(study))


def analysis(asked: SimpleNamespace) -> PlanAnalysis:
    """Return the analysis of a plan in its lab."""
    found = pack(asked)
    return PlanAnalysis(assess(plan(asked, found), found))


def plan(asked: SimpleNamespace, found: Pack) -> Protocol:
    """Return the plan of a file or the study, with its settings."""
    base = plan_at(asked.plan, found) if asked.plan else found.reference_protocol
    numbers = {"sample_size": asked.samples, "duration_days": asked.days}
    values: Values = {"plan": base.model_dump(mode="json")}
    values["plan"] |= {name: value for name, value in numbers.items() if value is not None}
    put(values, [pair for pair in read_settings(asked) if pair[0][0] == "plan"])
    return validated(Protocol, values["plan"], "--set plan")


def registration(asked: SimpleNamespace) -> Registration | None:
    """Return the author's answers from a file and settings."""
    values: Values = {}
    if asked.answers is not None:
        remedy = "write title, authors, reasons, texts and choices as a block"
        file = JsonFile(called(asked.answers), "answers", remedy, MOST_BYTES, 1)
        values = dict(file.values(content(asked.answers)))
    settings = [pair for pair in read_settings(asked) if pair[0][0] == "registration"]
    tree: Values = {"registration": values}
    put(tree, settings)
    if not (asked.answers or settings):
        return None
    try:
        return Registration.model_validate_json(json.dumps(tree["registration"]))
    except ValidationError as error:
        source = called(asked.answers) if asked.answers else "--set"
        raise record_error(error, Registration, source) from error


# --- plans and transcripts ----------------------------------------------------------------------


def plan_at(path: Path, found: Pack) -> Protocol:
    """Return the plan of a file, or the last plan of a transcript."""
    data = content(path)
    run = run_in(data, path, found)
    if run and run.final_plan:
        return run.final_plan.plan
    saved = scenarios.read_plan(data, called(path))
    if note := elsewhere_text(saved.study, found):
        say(f"{called(path)}: {note}")
    return saved.plan


def run_in(data: bytes, path: Path, found: Pack) -> Negotiation | None:
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
