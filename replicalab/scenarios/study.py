"""What a study file holds: the paper, its evidence design, what it needs, and its three labs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from replicalab.lexicon import repeated_labels
from replicalab.measures import KINDS, DesignKind
from replicalab.models import Flag, NonEmptyText, Protocol, Record, too_large
from replicalab.scenarios.lab import MOST, AtLeastOne, Finite, Labs

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, gt=0, lt=1)]

MOST_ITEMS: Final = 40
"""The most controls, pieces of equipment, reagents or rules of a study."""


class Confidence(StrEnum):
    """How well a figure is known."""

    VERIFIED = "verified"
    RECALLED = "recalled"
    DERIVED = "derived"
    PLANNING_VALUE = "planning value"


class Fact(Record):
    """One statement about the study.

    Attributes:
        text: the statement, in a sentence; a number of the paper stands here with its source.
        source: the publication and the place in it.
        confidence: how well it is known.
        where: where the source was found, if that is not the publication itself.
    """

    text: NonEmptyText
    source: NonEmptyText
    confidence: Confidence
    where: NonEmptyText | None = None


class Paper(Record):
    """The published study, in our own words.

    Attributes:
        title: the publication's title.
        citation: authors, year, journal and pages, as in a list of references.
        doi: the bare DOI, null when there is none.
        hypothesis: what the study claims.
        method: how it was done, at planning level.
        key_finding: what was found, with its numbers.
        goal: what a replication is to find out.
        published: the published sample size and effect.
        caution: what a reader must not conclude.
        contested: what is disputed among experts, null when nothing is.
        teaches: what the study shows about planning.
        facts: every number above, each with its source.
    """

    title: NonEmptyText
    citation: NonEmptyText
    doi: Annotated[str, StringConstraints(pattern=r"^10\.\d{4,9}/\S+$")] | None
    hypothesis: NonEmptyText
    method: NonEmptyText
    key_finding: NonEmptyText
    goal: NonEmptyText
    published: NonEmptyText
    caution: NonEmptyText
    contested: NonEmptyText | None = None
    teaches: NonEmptyText
    facts: Annotated[list[Fact], Field(min_length=1)]


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
        target: the evidence to aim at; for precision a relative half-width, lower is better.
        floor: the evidence to stay above, or below for precision.
        unit_of_n: what one sample is.
        population_max: the most samples that exist or are permitted, null when unlimited.
        groups: how many groups are compared; anova only. Samples that leave a group short of the
            others do not count.
        margin: the difference, in units of d, below which there is as good as none; equivalence
            only.
        event_share: the share of samples that have an event while they are watched; survival only.
        source: where the published effect stands.
        why: a reason for each planning value, by field.
    """

    kind: DesignKind
    effect_published: Finite | None
    effect_planning: Finite | None
    sesoi: Finite | None
    alpha: Share | None
    target: Positive
    floor: Positive
    unit_of_n: NonEmptyText
    population_max: AtLeastOne | None
    groups: Annotated[int, Field(strict=True, ge=2, le=MOST)] | None = None
    margin: Positive | None = None
    event_share: Annotated[float, Field(strict=True, gt=0, le=1)] | None = None
    source: NonEmptyText
    why: dict[NonEmptyText, NonEmptyText] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _numbers_fit_the_kind(self) -> Self:
        for fault in KINDS[self.kind].faults(self):
            raise ValueError(fault)
        return self

    @model_validator(mode="after")
    def _bounds_are_ordered(self) -> Self:
        if KINDS[self.kind].scale.lower_is_better:
            if self.target > self.floor:
                raise ValueError(
                    f"the target is above the floor; for {self.kind} lower is better: "
                    "target <= floor"
                )
        elif not self.floor <= self.target <= 1:
            raise ValueError(
                "target and floor are out of order; they are shares: floor <= target <= 1"
            )
        return self


class Comparator(StrEnum):
    """How a constraint's quantity bounds the plan."""

    AT_MOST = "<="
    AT_LEAST = ">="
    EQUAL = "="


class ScenarioConstraint(Record):
    """A requirement of the study or the lab.

    Attributes:
        key: its short name.
        label: what is bounded, for people.
        quantity: the bound, null when it is not a number.
        unit: of the quantity.
        comparator: at most, at least or exactly.
        hard: whether it may never be broken.
        details: anything more.
    """

    key: Identifier
    label: NonEmptyText
    quantity: Finite | None
    unit: NonEmptyText | None
    comparator: Comparator
    hard: Flag
    details: str = ""


class AllowedSubstitution(Record):
    """A replacement the study tolerates, and its scientific price.

    Attributes:
        original: an item of the study.
        alternative: what may stand in for it.
        condition: when that is allowed.
        tradeoff: what is lost.
        fidelity_loss: 0 same study, 1 minor declared deviation, 2 related but different test,
            3 the hypothesis goes untested.
        evidence_factor: what is left of every effect: 1 when nothing of it is lost. It multiplies
            the planning effect, and an equivalence margin with it; a hazard ratio's logarithm is
            multiplied; the SD of a precision study is divided by it.
    """

    original: NonEmptyText
    alternative: NonEmptyText
    condition: NonEmptyText
    tradeoff: NonEmptyText
    fidelity_loss: Annotated[int, Field(strict=True, ge=0, le=3)]
    evidence_factor: Annotated[float, Field(strict=True, gt=0, le=1)] = 1.0


class HiddenReferenceSpec(Record):
    """What a judge holds the plan against; never shown to an agent.

    Attributes:
        summary: the plan that would do the study justice.
        required_elements: what a plan must mention; its words are looked for in the plan.
        flexible_elements: what may differ without harm.
        target_metric: what the replication measures.
        target_value: what it should come to.
    """

    summary: NonEmptyText
    required_elements: list[NonEmptyText]
    flexible_elements: list[NonEmptyText]
    target_metric: NonEmptyText
    target_value: NonEmptyText


class Control(Record):
    """A control of the reference protocol.

    Attributes:
        name: its label.
        droppable: whether the study is still worth something without it.
        protects_against: the error that it rules out.
    """

    name: NonEmptyText
    droppable: Flag
    protects_against: NonEmptyText


class PolicyRule(Record):
    """A restriction, and how a plan that breaks it is recognised.

    Attributes:
        key: its short name.
        restriction: the rule, for people.
        forbidden_phrases: the phrases that break it, unless a negation stands before them.
        allowed_mentions: sentences that only mention it and must pass.
    """

    key: Identifier
    restriction: NonEmptyText
    forbidden_phrases: Annotated[list[NonEmptyText], Field(min_length=1)]
    allowed_mentions: list[NonEmptyText] = Field(default_factory=list)


class Throughput(Record):
    """How many samples a day the lab can finish.

    Attributes:
        value: samples a day.
        why: the reason for that number.
    """

    value: AtLeastOne
    why: NonEmptyText


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
    scenario_id: Identifier
    domain_id: Identifier
    paper: Paper
    design: Design
    success_criteria: Annotated[list[NonEmptyText], Field(min_length=1)]
    hidden_reference: HiddenReferenceSpec
    constraints: list[ScenarioConstraint]
    equipment: Annotated[list[NonEmptyText], Field(max_length=MOST_ITEMS)]
    reagents: Annotated[list[NonEmptyText], Field(max_length=MOST_ITEMS)]
    substitutions: Annotated[list[AllowedSubstitution], Field(max_length=2 * MOST_ITEMS)]
    controls: Annotated[list[Control], Field(max_length=MOST_ITEMS)]
    policy_rules: Annotated[list[PolicyRule], Field(max_length=MOST_ITEMS)]
    min_days: AtLeastOne
    samples_per_day: Throughput | None
    reference_protocol: Protocol
    labs: Labs

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Self:
        labels = [*self.equipment, *self.reagents]
        for repeated in repeated_labels(labels):
            raise ValueError(
                f"'{repeated}' is listed twice under equipment and reagents; give each item "
                "a label of its own"
            )
        for repeated in repeated_labels(control.name for control in self.controls):
            raise ValueError(f"control '{repeated}' is listed twice; list it once")
        return self

    @model_validator(mode="after")
    def _reference_can_be_planned(self) -> Self:
        for problem in too_large(self.reference_protocol):
            raise ValueError(f"reference_protocol: {problem}")
        return self
