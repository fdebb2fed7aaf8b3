"""A study that a power analysis begins: four of its five numbers as typed, and the fifth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from pydantic import ValidationError

from replicalab.designs import KINDS, EffectSource, Unknown
from replicalab.designs.originals import faults_of, safeguard
from replicalab.drafts.beginning import UNSTATED, analysis_of, new_study, usual_numbers
from replicalab.drafts.draft import Draft
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import percent_text
from replicalab.limits import LARGEST_PLANNED
from replicalab.scenarios import Design, Original
from replicalab.scenarios.reading import Data, FieldPath

WORKED_OUT: Final = "Worked out from the other numbers of the power analysis."
SAFEGUARDED: Final = "The safeguard effect of what was reported: the end of its 60 % interval."
SAMPLES: Final = ("reference_protocol", "sample_size")
DAYS: Final = ("reference_protocol", "duration_days")
FEWEST_DAYS: Final = ("min_days",)
WHY_EFFECT: Final = ("design", "why", "effect_planning")
# What a source calls a number of samples or events, and an original.
_COUNTS: Final = {"n": "n", "n1": "n1", "n2": "n2", "events": "events", "samples": "n", "all": "n"}
_IN_FORMULAS: Final = frozenset({"all"})  # which an original has among its numbers, too
_ANY_EFFECT: Final = 1e-3  # Smaller than any that is planned with
_REASONED: Final = (Unknown.EFFECT, Unknown.ALPHA, Unknown.DROPOUT)


def can_safeguard(kind: str, source: EffectSource | None) -> bool:
    """Return whether a safeguard effect follows from a source: it needs n, and a normal scale."""
    return KINDS[kind].normal is not None and _has_n(source)


def _has_n(source: EffectSource | None) -> bool:
    return source is not None and any(number.name in _COUNTS for number in source.asked)


def place_of(name: str) -> FieldPath:
    """Return where a number of a power analysis stands in a study."""
    is_planned = name in (SAMPLES[-1], DAYS[-1])
    return ("reference_protocol" if is_planned else "design", name)


@dataclass(frozen=True)
class TypedAnalysis:
    """A power analysis as it is typed, right or wrong.

    Attributes:
        kind: what is compared.
        unknown: which number is worked out; of what is typed of it only the side of 1 counts, on
            which a ratio is looked for.
        numbers: those of the design, by field.
        samples, days: as they are planned.
        source: what the effect is worked out from; None where it is typed itself.
        reported: the numbers of that source, by their short names.
        safeguarded: whether the safeguard effect of what the source reports is planned with, and
            not the reported one.
    """

    kind: str
    unknown: Unknown
    numbers: Mapping[str, Data]
    samples: Data
    days: Data
    source: EffectSource | None = None
    reported: Mapping[str, Data] = field(default_factory=dict)
    safeguarded: bool = False

    @property
    def original(self) -> Original | None:
        """What the source reports, as an original; None where it has no n, or is wrong.

        Numbers without n, and an effect that is typed itself, may be assumed: nobody says that a
        study found them.
        """
        original = self._reported
        return None if original is None or any(faults_of(KINDS[self.kind], original)) else original

    @property
    def _reported(self) -> Original | None:
        """The same, whether or not a study of the kind could have found it."""
        if not _has_n(self.source):
            return None
        counts = {_COUNTS[name]: n for name, n in self.reported.items() if name in _COUNTS}
        others = self.reported.keys() - (_COUNTS.keys() - _IN_FORMULAS)
        numbers = {name: x for name, x in self.reported.items() if name in others}
        typed = {"numbers": numbers, **counts, "source": UNSTATED, "confidence": "recalled"}
        try:
            return Original.model_validate(typed)
        except ValidationError:
            return None

    @property
    def _is_safeguarded(self) -> bool:
        return self.safeguarded and can_safeguard(self.kind, self.source)

    @cached_property
    def _effect(self) -> tuple[dict[str, float], dict[str, list[Fault]]]:
        """What its source makes of the effect, and what is wrong with what was typed of it."""
        if self.source is None:
            return {}, {}
        rows = self.source.faults(self.reported)
        faults = {name: [Fault(name, problem, remedy)] for name, problem, remedy in rows}
        if faults:
            return {}, faults
        try:
            numbers = self.source.numbers(self.reported)  # type: ignore[arg-type]
            return self._safeguarded(numbers), {}
        except ValueError as error:
            problem, _, remedy = str(error).partition("; ")
            return {}, {"effect_planning": [Fault("effect_planning", problem, remedy)]}

    def _safeguarded(self, numbers: dict[str, float]) -> dict[str, float]:
        """Return the numbers of a design, with the safeguard effect where that is asked for.

        Raises:
            ValueError: there is none; says why, and what to do.
        """
        if not self._is_safeguarded or (original := self._reported) is None:
            return numbers
        if (value := safeguard(KINDS[self.kind], original)) is None:
            raise ValueError(
                "the 60 % interval of what was reported reaches no effect, so that no safeguard "
                "effect is left; plan with another effect"
            )
        return {**numbers, "effect_planning": abs(value)}

    @cached_property
    def worked_out(self) -> float | None:
        """The number that the others leave; None where they are wrong, or leave none."""
        return self._answer[0]

    @property
    def faults(self) -> dict[str, list[Fault]]:
        """What is wrong with the source's numbers, or why no number is left, by short name."""
        return {**self._effect[1], **self._answer[1]}

    @cached_property
    def _answer(self) -> tuple[float | None, dict[str, list[Fault]]]:
        dropout = self.numbers.get("dropout")
        if isinstance(dropout, float) and not 0 <= dropout < 1:
            problem = f"dropout is {percent_text(dropout)}"
            return None, {"dropout": [Fault("dropout", problem, "type 0 % or more, below 100 %")]}
        is_planned = isinstance(self.samples, int) and 0 <= self.samples <= LARGEST_PLANNED
        if self._effect[1] or not (is_planned or self.unknown is Unknown.SAMPLES):
            return None, {}
        try:
            numbers = self._design(None)
            if self.unknown is Unknown.EFFECT and any(map(numbers.get, KINDS[self.kind].extras)):
                # What else is given may leave less room than the usual effect takes.
                numbers["effect_planning"] = _ANY_EFFECT
            design = Design.model_validate(
                new_study("an_analysis", self.kind, numbers, 0)["design"]
            )
        except ValidationError:
            return None, {}  # the study says what is wrong, next to its field
        samples = self.samples if isinstance(self.samples, int) and is_planned else 0
        try:
            return analysis_of(design, samples).worked_out(self.unknown), {}
        except ScenarioError as error:
            return None, {self.unknown.value: list(error.faults)}

    def _design(self, answer: float | None) -> dict[str, Data]:
        """Return the numbers of the design; what is worked out is as usual where there is none."""
        numbers = {**self.numbers, **self._effect[0]}
        name = self.unknown.value
        if self.unknown is Unknown.EVIDENCE or (answer is None and name in numbers):
            numbers[name] = self._usual
        elif name in numbers:
            numbers[name] = answer
        return numbers

    @property
    def _usual(self) -> Data:
        """What stands in place of the unknown number; an effect on the side that was typed."""
        typed, effect = self.numbers.get(self.unknown.value), KINDS[self.kind].effect
        if (
            self.unknown is Unknown.EFFECT
            and isinstance(typed, float)
            and effect is not None
            and not effect.within_margin
            and not (effect.fault_in_plan(typed) or effect.fault_in_file(typed))
        ):
            return typed
        return usual_numbers(KINDS[self.kind]).get(self.unknown.value, 0.0)

    def draft(self, scenario_id: str, name: str) -> Draft:
        """Return the study of the analysis, right or wrong, in a lab that can run it.

        With fewer days than it takes there is no evidence, so that no plan of a day is offered.
        Where the evidence is worked out the study aims at the usual target: what a plan comes to is
        no aim.
        """
        answer, size = self.worked_out, self.samples
        if self.unknown is Unknown.SAMPLES:
            size = None if answer is None else int(answer)
        study = new_study(
            scenario_id, self.kind, self._design(answer), size or 0, self.days or 0, name=name
        )
        draft = Draft(study).put(size, *SAMPLES).put(self.days, *DAYS).put(self.days, *FEWEST_DAYS)
        if self._effect[0] and self.source is not None:
            text = self.source.text(self.reported)  # type: ignore[arg-type]
            why = SAFEGUARDED if self._is_safeguarded else text
            draft = draft.put(text, "design", "source").put(why, *WHY_EFFECT)
            if (original := self.original) is not None:
                data = original.model_dump(mode="json", exclude_defaults=True)
                draft = draft.put(data, "design", "original")
        if answer is not None and self.unknown in _REASONED:
            draft = draft.put(WORKED_OUT, "design", "why", self.unknown.value)
        return draft
