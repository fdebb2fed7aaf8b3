"""The study, lab, question and plan in the options of a command."""

import json
import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, TypeVar

from pydantic import ValidationError

from replicalab import features, negotiation, scenarios
from replicalab.answers import Registration
from replicalab.assessment import named_effect, offered_effects
from replicalab.cli.commands import STANDARD, CommandError, Options, app, called, content, say
from replicalab.errors import TraceError
from replicalab.lexicon import joined, shortened
from replicalab.models import Protocol, Record
from replicalab.negotiation import Negotiation
from replicalab.negotiation.case import Case, in_labs_of
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty, LabOverrides, Pack, Study, reading

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
    read = features.require("command", app, about="--lab")
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
