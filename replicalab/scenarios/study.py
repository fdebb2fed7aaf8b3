"""What a study file holds: the paper, its evidence design, what it needs, and its three labs."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from replicalab import lexicon, limits
from replicalab.designs import KINDS, PARAMETERS, Kind
from replicalab.designs.originals import faults_of
from replicalab.models import Flag, Protocol, Record, too_large
from replicalab.scenarios import fields
from replicalab.scenarios.constraints import (
    LAB_CONSTRAINT_KEYS,
    Bounds,
    Comparator,
    ScenarioConstraint,
)
from replicalab.scenarios.fields import Confidence
from replicalab.scenarios.lab import Difficulty, Labs
from replicalab.scenarios.units import Arms, Units


class Original(Record):
    """What is reported of the original study; null, or left out, where it is not.

    Attributes:
        effect: the estimate, in the unit of the design's kind, with its sign.
        se: its standard error; of a correlation that of Fisher's z, of a hazard ratio that of its
            logarithm.
        low: the lower end of its interval.
        high: the upper end.
        level: the level of the interval, a share.
        numbers: what else the effect may be worked out from, by the name that a formula gives it:
            t, F or z, means m1 and m2, SD1 and SD2, shares p1 and p2.
        n: the samples that counted, in all.
        n1: those of group 1.
        n2: those of group 2.
        events: the events that were seen, survival only.
        sides: 1 where its test was one-sided, else 2.
        source: the publication and the place in it.
        confidence: how well the numbers are known.
        where: where the source was found, if that is not the publication itself.
    """

    effect: fields.Effect | None = None
    se: Annotated[float, Field(strict=True, ge=1e-6, le=limits.LARGEST_EFFECT)] | None = None
    low: fields.Effect | None = None
    high: fields.Effect | None = None
    level: Annotated[float, Field(strict=True, ge=0.5, le=0.9999)] = 0.95
    numbers: Annotated[dict[fields.Label, fields.Finite], fields.Few] = Field(default_factory=dict)
    n: fields.AtLeastOne | None = None
    n1: fields.AtLeastOne | None = None
    n2: fields.AtLeastOne | None = None
    events: fields.AtLeastOne | None = None
    sides: Literal[1, 2] = 2
    source: fields.Prose
    confidence: Literal["verified", "recalled", "derived"]
    where: fields.Prose | None = None


class Fact(Record):
    """One statement about the study.

    Attributes:
        text: the statement, in a sentence; a number of the paper stands here with its source.
        source: the publication and the place in it.
        confidence: how well it is known.
        where: where the source was found, if that is not the publication itself.
    """

    text: fields.Prose
    source: fields.Prose
    confidence: Confidence
    where: fields.Prose | None = None


class Paper(Record):
    """The published study, in our own words.

    Attributes:
        title: the publication's title.
        short_title: what the pages call the study, null for the title.
        citation: authors, year, journal and pages, as in a list of references.
        doi: the bare DOI, null when there is none.
        hypothesis: what the study claims.
        method: how its authors did it, at planning level; of a replication only where it is named.
        key_finding: what was found, with its numbers.
        goal: what a replication is to find out.
        published: the published sample size and effect.
        caution: what a reader must not conclude.
        contested: what is disputed among experts, null when nothing is.
        teaches: what the study shows about planning.
        facts: every number above, each with its source.
    """

    title: fields.Title
    short_title: fields.ShortTitle | None = None
    citation: fields.Prose
    doi: fields.Doi | None
    hypothesis: fields.Prose
    method: fields.Prose
    key_finding: fields.Prose
    goal: fields.Prose
    published: fields.Prose
    caution: fields.Prose
    contested: fields.Prose | None = None
    teaches: fields.Prose
    facts: Annotated[list[Fact], fields.Many]

    @property
    def name(self) -> str:
        """What the pages call the study."""
        return self.short_title or self.title


def _known_kind(kind: str) -> str:
    if kind not in KINDS:
        names = [f"'{name}'" for name in KINDS]
        text = lexicon.joined(names, "or")
        raise PydanticCustomError("enum", "Input should be {known}", {"known": text})
    return kind


def _add_kinds(schema: dict[str, Any]) -> None:
    schema["enum"] = [*KINDS]


class Design(Record):
    """How evidence grows with n.

    An effect is in the unit of the kind: Cohen's d (two_group, paired, one_sample), r
    (correlation), Cohen's h (two_proportions), Cohen's f (anova), the true difference as Cohen's d
    (equivalence), the hazard ratio (survival), the share of bad units (audit), the relative SD of
    one sample (precision, planning only).

    Attributes:
        kind: which evidence is reported: the power of a test, the probability of detection
            (audit), the share examined (coverage) or the half-width of an interval (precision).
        effect_published: the effect as printed, null when none is.
        effect_planning: the effect that is assumed for planning; for equivalence the true
            difference, usually 0.
        sesoi: the smallest effect of interest, null when none is named.
        alpha: the significance level, two-sided where a test has two sides; for equivalence that of
            each one-sided test.
        target: the evidence to aim at; for precision a relative half-width, lower is better; of a
            test below 1, since no study makes its result certain.
        floor: the evidence to stay above, or below for precision.
        unit_of_n: what one sample is.
        sample_noun: the singular noun for one sample, as in "24 mice".
        population_max: the most samples that exist or are permitted, null when unlimited.
        groups: how many groups are compared, anova only; samples beyond equal groups do not count.
        margin: the difference below which there is as good as none, in units of d, equivalence
            only.
        event_share: the share of samples that have an event while they are watched, survival only.
        baseline: the share of the group where it happens more often, two_proportions only; the
            other lies effect_planning below. Null for an approximation that needs no share.
        assurance: the chance that the half-width is at most what is stated, its SD estimated from
            the same samples, precision only; null where the SD is taken as known.
        dropout: the share of planned samples that will drop out; 0 where none does.
        units: the experimental units, where samples share one; null where each is one of its own.
        arms: the two arms, where they are not of one size and one price; null where they are.
        source: where the published effect stands.
        why: a reason for each planning value, by field.
        original: what the original study found, null where that is not known in numbers.
    """

    kind: Annotated[str, AfterValidator(_known_kind), Field(json_schema_extra=_add_kinds)]
    effect_published: fields.Effect | None
    effect_planning: fields.Effect | None
    sesoi: fields.Effect | None
    alpha: Annotated[float, PARAMETERS["alpha"].bounds] | None
    target: fields.Bound
    floor: fields.Bound
    unit_of_n: fields.Label
    sample_noun: fields.ShortTitle = "sample"
    population_max: Annotated[int, PARAMETERS["population_max"].bounds] | None
    groups: Annotated[int, PARAMETERS["groups"].bounds] | None = None
    margin: Annotated[float, PARAMETERS["margin"].bounds] | None = None
    event_share: Annotated[float, PARAMETERS["event_share"].bounds] | None = None
    baseline: Annotated[float, PARAMETERS["baseline"].bounds] | None = None
    assurance: Annotated[float, PARAMETERS["assurance"].bounds] | None = None
    dropout: Annotated[float, Field(strict=True, ge=0, lt=1)] = 0.0
    units: Units | None = None
    arms: Arms | None = None
    source: fields.Prose
    why: Annotated[dict[fields.Label, fields.Prose], fields.Few] = Field(default_factory=dict)
    original: Original | None = None

    @property
    def row(self) -> Kind:
        """The row of its kind."""
        return KINDS[self.kind]

    @property
    def lower_is_better(self) -> bool:
        """Whether less of this evidence is more: so it is with a half-width."""
        return KINDS[self.kind].scale.lower_is_better

    @property
    def uneven(self) -> bool:
        """Whether its two arms are of unlike size by intent."""
        return self.arms is not None and self.arms.share != Arms().share

    @model_validator(mode="after")
    def _numbers_fit_the_kind(self) -> Self:
        for fault in KINDS[self.kind].faults(self):
            raise ValueError(fault)
        return self

    @model_validator(mode="after")
    def _original_fits_the_kind(self) -> Self:
        for fault in faults_of(KINDS[self.kind], self.original) if self.original else ():
            raise ValueError(f"original: {fault}")
        return self

    @model_validator(mode="after")
    def _bounds_are_ordered(self) -> Self:
        if self.lower_is_better:
            if self.target > self.floor:
                raise ValueError(
                    f"the target of {self.target:g} is above the floor of {self.floor:g}; for "
                    f"{self.kind} lower is better: target <= floor"
                )
        elif not self.floor <= self.target <= 1:
            raise ValueError(
                f"a target of {self.target:g} and a floor of {self.floor:g} are out of order; "
                "they are shares: floor <= target <= 1"
            )
        if KINDS[self.kind].sought and self.target >= 1:
            # The floor is no higher. Far out a power is 1 in doubles, by rounding alone.
            raise ValueError(
                "a target of 1 would make a significant result certain, which no study can; "
                "aim at less than 1, such as 0.99"
            )
        return self


class AllowedSubstitution(Record):
    """A replacement the study tolerates, and its scientific price.

    Attributes:
        original: an item of the study.
        alternative: what may stand in for it.
        condition: when that is allowed.
        tradeoff: what is lost.
        fidelity_loss: 0 same study, 1 minor declared deviation, 2 related but different test,
            3 the hypothesis goes untested.
        evidence_factor: what is left of every effect, 1 when nothing is lost: it multiplies the
            planning effect, and an equivalence margin with it; it multiplies the logarithm of a
            hazard ratio, and divides the SD of a precision study.
    """

    original: fields.Label
    alternative: fields.Label
    condition: fields.Prose
    tradeoff: fields.Prose
    fidelity_loss: Annotated[int, Field(strict=True, ge=0, le=3)]
    evidence_factor: Annotated[float, Field(strict=True, ge=fields.SMALLEST_FACTOR, le=1)] = 1.0

    @property
    def told(self) -> str:
        """What an agent reads of it."""
        when, lost = f"condition: {self.condition}", f"tradeoff: {self.tradeoff}"
        return f"{self.original} → {self.alternative} ({when}; {lost})"


class HiddenReferenceSpec(Record):
    """What a judge holds the plan against; never shown to an agent.

    Attributes:
        summary: the plan that would do the study justice.
        required_elements: what a plan must mention; its words are looked for in the plan.
        flexible_elements: what may differ without harm.
        target_metric: what the replication measures.
        target_value: what it should come to.
    """

    summary: fields.Prose
    required_elements: Annotated[list[fields.Label], fields.Few]
    flexible_elements: Annotated[list[fields.Label], fields.Few]
    target_metric: fields.Prose
    target_value: fields.Prose

    @cached_property
    def element_words(self) -> tuple[frozenset[str], ...]:
        """The words of each required element that a plan must say."""
        return tuple(map(lexicon.content_words, self.required_elements))


class Control(Record):
    """A control of the reference protocol.

    Attributes:
        name: its label.
        droppable: whether the study is still worth something without it.
        protects_against: the error that it rules out.
    """

    name: fields.Label
    droppable: Flag
    protects_against: fields.Prose

    @property
    def guards(self) -> str:
        """The error that it rules out, as it stands in a sentence; empty where it is not given."""
        text = self.protects_against.strip()
        return text.removesuffix(".") if lexicon.is_given(text) else ""


class PolicyRule(Record):
    """A restriction, and how a plan that breaks it is recognised.

    Attributes:
        key: its short name.
        restriction: the rule, for people.
        forbidden_phrases: the phrases that break it, unless a negation stands before them.
        allowed_mentions: sentences that only mention it and must pass.
    """

    key: fields.Identifier
    restriction: fields.Prose
    forbidden_phrases: Annotated[list[fields.Label], fields.Some]
    allowed_mentions: Annotated[list[fields.Label], fields.Few] = Field(default_factory=list)

    @cached_property
    def phrase_parts(self) -> tuple[frozenset[str], ...]:
        """The words of each forbidden phrase, which a text that says it has too."""
        return tuple(map(lexicon.parts_of, self.forbidden_phrases))


class Throughput(Record):
    """How many samples a day the lab can finish.

    Attributes:
        value: samples a day.
        why: the reason for that number.
    """

    value: fields.AtLeastOne
    why: fields.Prose


_WET_FIELDS: Final = ("biology", "chemistry", "ecology")
_OUTSIDE_WET_LABS: Final = {
    "reagents": "materials and data",
    "reagent": "material",
    "out of stock": "not available",
}


def term_in(field: str, name: str) -> str:
    """Return a dimension, category, status or label of the program in the words of a field.

    >>> term_in("plant_biology", "Reagents"), term_in("finance", "Reagents")
    ('Reagents', 'Materials and data')
    """
    if any(wet in field for wet in _WET_FIELDS):
        return name
    for word, other in _OUTSIDE_WET_LABS.items():
        name = name.replace(word, other).replace(
            lexicon.capitalised(word), lexicon.capitalised(other)
        )
    return name


class Study(Record):
    """One study file: the paper, its evidence design, what it needs, and three labs.

    Attributes:
        format: the version of this format, always 1.
        scenario_id: the study's short name, as in its file's name.
        domain_id: its field, as in its folder's name.
        paper: the published study.
        design: how evidence grows with n.
        success_criteria: when the replication would be called a success.
        hidden_reference: what a judge holds a plan against.
        constraints: what the study demands, beside the lab's budget, days and staff.
        equipment: what is used and booked.
        reagents: what is used up: materials, data sets, licences, pay.
        substitutions: what may stand in for an item, and at what price.
        controls: the controls of the reference protocol.
        policy_rules: what is forbidden.
        min_days: with fewer days there is no evidence.
        samples_per_day: how many the lab can finish in a day, null when all run in parallel.
        reference_protocol: the plan that would do the study justice.
        labs: the three labs.
    """

    format: Literal[1]
    scenario_id: fields.Identifier
    domain_id: fields.Identifier
    paper: Paper
    design: Design
    success_criteria: Annotated[list[fields.Prose], fields.Some]
    hidden_reference: HiddenReferenceSpec
    constraints: Annotated[list[ScenarioConstraint], fields.Few]
    equipment: Annotated[list[fields.Label], fields.Few]
    reagents: Annotated[list[fields.Label], fields.Few]
    substitutions: Annotated[list[AllowedSubstitution], Field(max_length=limits.MOST_SUBSTITUTIONS)]
    controls: Annotated[list[Control], fields.Few]
    policy_rules: Annotated[list[PolicyRule], fields.Few]
    min_days: fields.AtLeastOne
    samples_per_day: Throughput | None
    reference_protocol: Protocol
    labs: Labs

    @cached_property
    def _forbidden_words(self) -> list[tuple[str, tuple[str, ...]]]:
        """The longest word of each forbidden phrase, which few texts have, and its others."""
        phrases = (words for rule in self.policy_rules for words in rule.phrase_parts)
        ordered = (sorted(words, key=len, reverse=True) or [""] for words in phrases)
        return [(longest, tuple(others)) for longest, *others in ordered]

    def may_forbid(self, text: str) -> bool:
        """Return whether a text may say a forbidden phrase; of most it is seen at once."""
        line = text.casefold()
        result = [others for longest, others in self._forbidden_words if longest in line]
        return any(all(word in line for word in others) for others in result)

    @cached_property
    def harmless_labels(self) -> frozenset[str]:
        """Its labels that are one line and say no forbidden phrase; few plans list others."""
        labels = [
            *self.equipment,
            *self.reagents,
            *(swap.alternative for swap in self.substitutions),
            *(control.name for control in self.controls),
        ]
        phrases = [words for rule in self.policy_rules for words in rule.phrase_parts]
        return frozenset(
            label
            for label in labels
            if lexicon.one_line(label) == label
            and not any(words <= lexicon.parts_of(label) for words in phrases)
        )

    @cached_property
    def swaps(self) -> dict[tuple[str, str], AllowedSubstitution]:
        """Its substitutions by the key of what they replace and by what they put in its place."""
        swaps = reversed(self.substitutions)  # of two for the same, the first counts
        return {(lexicon.label_key(swap.original), swap.alternative): swap for swap in swaps}

    @cached_property
    def told(self) -> tuple[str, tuple[str, ...], str]:
        """What an agent reads of it in any lab: what comes before its constraints, these, the rest.

        Each text of the file stands on one line.
        """
        summary = [
            f"Domain ID: {self.domain_id}",
            *lexicon.section("Task summary", [self.task_summary]),
            *lexicon.section("Success criteria", self.success_criteria),
        ]
        constraints = tuple(
            lexicon.one_line(f"- {constraint.told}") for constraint in self.constraints
        )
        swaps = lexicon.section("Allowed substitutions", [swap.told for swap in self.substitutions])
        return lexicon.lines_text(summary), constraints, lexicon.lines_text(swaps)

    def term(self, name: str) -> str:
        """Return a dimension, category, status or label of the program in its field's words."""
        return term_in(self.domain_id, name)

    @property
    def task_summary(self) -> str:
        """What is to be planned, in a sentence."""
        return f'Plan a replication of "{self.paper.title}" in this lab: {self.paper.goal}'

    @model_validator(mode="after")
    def _phrases_can_be_looked_for(self) -> Self:
        for name in ("forbidden_phrases", "allowed_mentions"):
            number = sum(len(getattr(rule, name)) for rule in self.policy_rules)
            limit = limits.MOST_PHRASES
            if number > limit:
                raise ValueError(
                    f"the restrictions have {number} {name}; {limit} in all are looked for"
                )
        return self

    @model_validator(mode="after")
    def _evidence_is_bounded_from_its_worse_side(self) -> Self:
        lower_is_better = self.design.lower_is_better
        needed = Comparator.AT_MOST if lower_is_better else Comparator.AT_LEAST
        for constraint in self.constraints:
            if constraint.bounds is Bounds.EVIDENCE and constraint.comparator is not needed:
                raise ValueError(
                    f"constraint '{constraint.key}' bounds the evidence by "
                    f"'{constraint.comparator}'; a {self.design.kind} design needs '{needed}'"
                )
        return self

    @field_validator("reference_protocol")
    @classmethod
    def _reference_can_be_planned(cls, plan: Protocol) -> Protocol:
        for problem in too_large(plan):
            raise ValueError(problem)
        return plan


_Labels = dict[str, tuple[Iterable[str], Sequence[str]]]  # By place: labels, and others


def _unknown_labels(study: Study) -> Iterator[InitErrorDetails]:
    """Yield an error for each label that is missing in the list that it refers to."""
    plan, items = study.reference_protocol, [*study.equipment, *study.reagents]
    alternatives = [swap.alternative for swap in study.substitutions]
    references: _Labels = {
        "reference_protocol.required_equipment.*": (plan.required_equipment, study.equipment),
        "reference_protocol.required_reagents.*": (plan.required_reagents, study.reagents),
        "reference_protocol.controls.*": (plan.controls, [c.name for c in study.controls]),
        "substitutions.*.original": ([swap.original for swap in study.substitutions], items),
        "design.why.*": (study.design.why, [*Design.model_fields]),
    }
    for level in Difficulty:
        lab = study.labs.at(level)
        here = [*items, *lab.equipment, *lab.reagents]
        references[f"labs.{level}.booked.*"] = lab.booked, here
        references[f"labs.{level}.out_of_stock.*"] = lab.out_of_stock, here
        references[f"labs.{level}.prices.*"] = lab.prices, here + alternatives
    for place, (labels, texts) in references.items():
        keys = {*map(lexicon.label_key, texts)}
        for path, label in _entries(place, labels):
            if lexicon.label_key(label) not in keys:
                words = {"label": lexicon.shortened(label), "known": texts}
                error = PydanticCustomError(
                    "unknown_label", "'{label}' is not in this study", words
                )
                yield InitErrorDetails(type=error, loc=path, input=label)


def _repeated_labels(study: Study) -> Iterator[InitErrorDetails]:
    """Yield an error for each label that is listed before, in its list or in another."""
    items = [*study.equipment, *study.reagents]
    lists: _Labels = {
        "equipment.*": (study.equipment, ()),
        "reagents.*": (study.reagents, study.equipment),
        "controls.*.name": ([control.name for control in study.controls], ()),
        "constraints.*.key": ([one.key for one in study.constraints], LAB_CONSTRAINT_KEYS),
        "policy_rules.*.key": ([rule.key for rule in study.policy_rules], ()),
    }
    for level in Difficulty:
        lab = study.labs.at(level)
        lists[f"labs.{level}.equipment.*"] = lab.equipment, items
        lists[f"labs.{level}.reagents.*"] = lab.reagents, [*items, *lab.equipment]
        lists[f"labs.{level}.booked.*"] = lab.booked, ()
        lists[f"labs.{level}.out_of_stock.*"] = lab.out_of_stock, [*lab.booked]
        lists[f"labs.{level}.prices.*"] = lab.prices, ()
    message = "'{label}' is listed already; list it once, or choose another name"
    for place, (labels, before) in lists.items():
        keys = {*map(lexicon.label_key, before)}
        for path, label in _entries(place, labels):
            if lexicon.label_key(label) in keys:
                error = PydanticCustomError(
                    "value_error", message, {"label": lexicon.shortened(label)}
                )
                yield InitErrorDetails(type=error, loc=path, input=label)
            keys.add(lexicon.label_key(label))


def _entries(place: str, labels: Iterable[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for number, label in enumerate(labels):
        step = label if isinstance(labels, dict) else number
        yield tuple(step if part == "*" else part for part in place.split(".")), label


def _with_fitting_labels(study: Study) -> Study:
    if errors := [*_repeated_labels(study)] or [*_unknown_labels(study)]:
        raise ValidationError.from_exception_data("Study", errors)
    return study


WRITTEN_STUDY: Final = TypeAdapter(Annotated[Study, AfterValidator(_with_fitting_labels)])
"""A study as its author may write it: each label that it refers to is listed, once."""
