"""All that a workspace holds as one JSON file, which opens elsewhere.

The study goes along as its author wrote it, so the file opens on servers without that study.
"""

import json
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field, JsonValue, StringConstraints, ValidationError

from replicalab import __version__, scenarios
from replicalab.errors import Fault, ScenarioError, TraceError
from replicalab.facts.documents import input_hash
from replicalab.models import NonEmptyText, Record
from replicalab.negotiation import Negotiation, Recording, Transcript, replay, save
from replicalab.negotiation.case import Case, in_labs_of
from replicalab.negotiation.records import ShortPlan
from replicalab.planner import PlanAnalysis
from replicalab.scenarios.reading import FORMAT, FileKind, Values, read_kind, record_error

SOURCE: Final = "the bundle"
_REMEDY: Final = "load a bundle that was saved here"
_CHANGED: Final = "The study, the lab or the plan differs from the one that was saved."
# A bundle that a command told as JSON has this number of every such answer, too.
_OF_THE_ANSWER: Final = "schema"


class _Bundle(Record):
    format: Literal[2]
    version: Annotated[NonEmptyText, Field(max_length=40)]
    input_hash: Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
    study: dict[str, JsonValue]
    difficulty: scenarios.Difficulty
    seed: scenarios.Seed
    own_lab: scenarios.LabOverrides = scenarios.LabOverrides()
    question: scenarios.EvidenceAssumptions = scenarios.EvidenceAssumptions()
    plan: ShortPlan
    negotiation: Transcript | None = None


class OpenedBundle(NamedTuple):
    """What a bundle holds, worked out anew.

    Attributes:
        options: the plan in its lab, and what may be done about it.
        written: the lab as the study's author wrote it.
        recording: what is known of a recorded model, None where there is none.
        run: the negotiation as it plays now, None where none was saved.
        caution: says that study, lab or plan differ from those that were saved; empty if not.
    """

    options: PlanAnalysis
    written: scenarios.Pack
    recording: Recording | None
    run: Negotiation | None
    caution: str

    @property
    def case(self) -> Case:
        """The plan with all that it was made in, but for the study's file.

        Of the players it has the Lab Manager and the rounds: who played the Scientist is shown when
        the run is shown.
        """
        yours, setup = self.options.yours, self.run and self.run.setup
        played = {n: getattr(setup, n) for n in ("lab_manager", "max_rounds")} if setup else {}
        return Case.of(yours.pack, yours.plan, **played)


# --- what leaves ----------------------------------------------------------------------------


def bundle(
    options: PlanAnalysis,
    written: scenarios.Pack,
    run: Negotiation | None = None,
    recording: Recording | None = None,
) -> str:
    """Return a plan in its lab, and the negotiation that led to it, as the text of a file."""
    yours, pack = options.yours, options.yours.pack
    record: dict[str, object] = {
        "format": FORMAT,
        "version": __version__,
        "input_hash": input_hash(yours),
        "study": written.study.model_dump(mode="json"),
        "difficulty": pack.difficulty,
        "seed": pack.seed,
        "own_lab": pack.own_lab.model_dump(mode="json", exclude_defaults=True),
        "question": pack.question.model_dump(mode="json", exclude_defaults=True),
        "plan": yours.plan.model_dump(mode="json"),
    }
    if run is not None:
        record["negotiation"] = json.loads(save(run, recording))
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


# --- what arrives ---------------------------------------------------------------------------


def open_bundle(data: bytes | str | Values, source: str = SOURCE) -> OpenedBundle:
    """Return what `bundle` wrote, assessed and replayed.

    Raises:
        ScenarioError: with what is wrong, by place and with its remedy; of each list the first.
    """
    values = read_kind(data, FileKind.BUNDLE, source)
    record = {name: value for name, value in values.items() if name != _OF_THE_ANSWER}
    try:
        result = _Bundle.model_validate_json(json.dumps(record))
    except ValidationError as error:
        raise record_error(error, _Bundle, source) from error
    study = _study(result, source)
    here, case = (
        in_labs_of(study),
        Case(
            study=study.scenario_id,
            lab=result.difficulty,
            seed=result.seed,
            own_lab=result.own_lab,
            question=result.question,
            plan=result.plan,
        ),
    )
    written, yours = case.written(here), case.assessed(here)
    try:
        run = replay(result.negotiation, yours.pack) if result.negotiation else None
    except TraceError as error:
        problem, _, remedy = str(error).rpartition("; ")
        fault = Fault("negotiation", problem or remedy, remedy if problem else _REMEDY)
        raise ScenarioError(source, [fault]) from error
    return OpenedBundle(
        options=PlanAnalysis(yours),
        written=written,
        recording=result.negotiation.recording if result.negotiation else None,
        run=run,
        caution="" if result.input_hash == input_hash(yours) else _CHANGED,
    )


def _study(found: _Bundle, source: str) -> scenarios.Study:
    """Return the study of a bundle, checked as any study's file; its faults by place."""
    try:
        return scenarios.parse_study(json.dumps(found.study, ensure_ascii=False), source)
    except ScenarioError as error:
        faults = [
            Fault(f"study.{fault.path}".rstrip("."), fault.problem, fault.remedy)
            for fault in error.faults
        ]
        raise ScenarioError(source, faults, error.more) from error
