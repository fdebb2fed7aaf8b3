"""A study from a power analysis: four of five numbers are typed, the fifth is worked out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from replicalab import lexicon, limits, scenarios
from replicalab.designs import KINDS, EffectSource, Unknown
from replicalab.designs.originals import faults_of, safeguard
from replicalab.drafts.beginning import UNSTATED, analysis_of, new_study, usual_numbers
from replicalab.drafts.draft import Draft
from replicalab.errors import Fault, Refusal, ScenarioError
from replicalab.scenarios.reading import Data, FieldPath

FEWEST_DAYS: Final = ("min_days",)
_SAMPLES: Final = ("reference_protocol", "sample_size")
_DAYS: Final = ("reference_protocol", "duration_days")
# Numbers of samples or events by their names in a source, and in an original.
_COUNTS: Final = {"n": "n", "n1": "n1", "n2": "n2", "events": "events", "samples": "n", "all": "n"}
_IN_FORMULAS: Final = frozenset({"all"})  # counts that an original has among its numbers, too
_ANY_EFFECT: Final = 1e-3  # smaller than any that is planned with
_WORKED_OUT: Final = "Worked out from the other numbers of the power analysis."
_SAFEGUARDED: Final = "The safeguard effect of what was reported: the end of its 60 % interval."
_NO_SAFEGUARD: Final = Refusal(
    "the 60 % interval of what was reported reaches no effect, so that no safeguard effect is left",
    "plan with another effect",
)


def can_safeguard(kind: str, source: EffectSource | None) -> bool:
    """Return whether a safeguard effect follows from a source: it needs n and a normal scale."""
    return KINDS[kind].normal is not None and _has_n(source)


def _has_n(source: EffectSource | None) -> bool:
    return source is not None and any(number.name in _COUNTS for number in source.asked)


def place_of(name: str) -> FieldPath:
    """Return the path in a study of a number of a power analysis."""
    return next((path for path in (_SAMPLES, _DAYS) if name == path[-1]), ("design", name))


@dataclass(frozen=True)
class TypedAnalysis:
    """A power analysis as it is typed, valid or not."""

    kind: str
    unknown: Unknown  # of its typed value only the side of 1 of a ratio counts
    numbers: Mapping[str, Data]  # those of the design, by field
    samples: Data  # as they are planned
    days: Data  # as they are planned
    source: EffectSource | None = None  # of the effect; None if it is typed
    reported: Mapping[str, Data] = field(default_factory=dict)  # by short name
    safeguarded: bool = False  # whether the safeguard effect is planned with

    @property
    def _original(self) -> scenarios.Original | None:
        if not _has_n(self.source):
            return None
        counts = {_COUNTS[name]: n for name, n in self.reported.items() if name in _COUNTS}
        others = self.reported.keys() - (_COUNTS.keys() - _IN_FORMULAS)
        numbers = {name: x for name, x in self.reported.items() if name in others}
        typed = {"numbers": numbers, **counts, "source": UNSTATED, "confidence": "recalled"}
        try:
            return scenarios.Original.model_validate(typed)
        except ValidationError:
            return None

    @property
    def _is_safeguarded(self) -> bool:
        return self.safeguarded and can_safeguard(self.kind, self.source)

    @cached_property
    def _effect(self) -> tuple[dict[str, float], dict[str, list[Fault]]]:
        if self.source is None:
            return {}, {}
        rows = self.source.faults(self.reported)
        if faults := {name: [Fault(name, problem, remedy)] for name, problem, remedy in rows}:
            return {}, faults
        fault = _NO_SAFEGUARD
        try:
            numbers = self.source.numbers(self.reported)  # type: ignore[arg-type]
            if not self._is_safeguarded or (original := self._original) is None:
                return numbers, {}
            if (value := safeguard(KINDS[self.kind], original)) is not None:
                return {**numbers, "effect_planning": abs(value)}, {}
        except PydanticCustomError as error:
            fault = Refusal.of(error)
        name = "effect_planning"
        return {}, {name: [Fault(name, fault.problem, fault.remedy)]}

    @property
    def worked_out(self) -> float | None:
        """The number that follows from the others, or None."""
        return self._answer[0]

    @property
    def faults(self) -> dict[str, list[Fault]]:
        """The faults of the source's numbers, or of the unknown number, by short name."""
        return {**self._effect[1], **self._answer[1]}

    @cached_property
    def _answer(self) -> tuple[float | None, dict[str, list[Fault]]]:
        dropout = self.numbers.get("dropout")
        if isinstance(dropout, float) and not 0 <= dropout < 1:
            problem = f"dropout is {lexicon.percent_text(dropout)}"
            return None, {"dropout": [Fault("dropout", problem, "type 0 % or more, below 100 %")]}
        samples = self.samples if isinstance(self.samples, int) else -1
        if not 0 <= samples <= limits.LARGEST_PLANNED:
            if self.unknown is not Unknown.SAMPLES:
                return None, {}
            samples = 0
        if self._effect[1]:
            return None, {}
        numbers = self._design(None)
        if self.unknown is Unknown.EFFECT and KINDS[self.kind].misfit:
            # A baseline may leave less room than the usual effect takes.
            numbers["effect_planning"] = _ANY_EFFECT
        try:
            block = new_study("an_analysis", self.kind, numbers, 0)["design"]
            design = scenarios.Design.model_validate(block)
        except ValidationError:
            return None, {}  # the check of the study names the fault, next to its field
        try:
            return analysis_of(design, samples).worked_out(self.unknown), {}
        except ScenarioError as error:
            return None, {self.unknown.value: list(error.faults)}

    def _design(self, answer: float | None) -> dict[str, Data]:
        numbers = {**self.numbers, **self._effect[0]}
        name = self.unknown.value
        if self.unknown is Unknown.EVIDENCE or (answer is None and name in numbers):
            numbers[name] = self._usual
        elif name in numbers:
            numbers[name] = answer
        return numbers

    @property
    def _usual(self) -> Data:
        typed, effect = self.numbers.get(self.unknown.value), KINDS[self.kind].effect
        if self.unknown is Unknown.EFFECT and isinstance(typed, float) and effect is not None:
            faults = effect.fault_in_plan(typed) or effect.fault_in_file(typed)
            if not effect.within_margin and not faults:
                return typed
        return usual_numbers(KINDS[self.kind]).get(self.unknown.value, 0.0)

    def draft(self, scenario_id: str, name: str) -> Draft:
        """Return the study, valid or not, in a lab that can run it in exactly its days."""
        answer, size = self.worked_out, self.samples
        if self.unknown is Unknown.SAMPLES:
            size = None if answer is None else int(answer)
        numbers = (self._design(answer), size or 0, self.days or 0)
        draft = Draft(new_study(scenario_id, self.kind, *numbers, name=name))
        for value, path in ((size, _SAMPLES), (self.days, _DAYS), (self.days, FEWEST_DAYS)):
            draft = draft.put(value, *path)
        why = ("design", "why")
        if self._effect[0] and self.source is not None:
            text = self.source.text(self.reported)  # type: ignore[arg-type]
            reason = _SAFEGUARDED if self._is_safeguarded else text
            draft = draft.put(text, "design", "source").put(reason, *why, "effect_planning")
            original = self._original
            if original is not None and not any(faults_of(KINDS[self.kind], original)):
                data = original.model_dump(mode="json", exclude_defaults=True)
                draft = draft.put(data, "design", "original")
        if answer is not None and self.unknown in (Unknown.EFFECT, Unknown.ALPHA, Unknown.DROPOUT):
            draft = draft.put(_WORKED_OUT, *why, self.unknown.value)
        return draft
