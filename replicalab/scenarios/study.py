"""The study file: the paper, its evidence design, its needs and its three labs."""

import re
from functools import cached_property
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic_core import PydanticKnownError

from replicalab import lexicon, limits
from replicalab.designs import KINDS, PARAMETERS, Kind
from replicalab.designs.originals import faults_of
from replicalab.errors import Refusal
from replicalab.models import Flag, Protocol, Record, too_large
from replicalab.scenarios import constraints as rules
from replicalab.scenarios import field_types
from replicalab.scenarios.lab import Labs


class Original(Record):
    """Reported results of the original study; null or left out if none.

    Attributes:
        effect: the estimate, in the unit of the design's kind, with its sign.
        se: its standard error; of a correlation that of Fisher's z, of a hazard ratio that of its
            logarithm.
        low: the lower end of its interval.
        high: the upper end.
        level: the level of the interval, a share.
        numbers: other numbers that the effect follows from, by their name in the formula: t, F,
            chi² or z, means m1 and m2, SD1 and SD2, shares p1 and p2, OR, RR or phi.
        n: the analysed samples in all.
        n1: those of group 1.
        n2: those of group 2.
        events: the observed events, survival only.
        sides: 1 if its test was one-sided, else 2.
        source: the publication and the place in it.
        confidence: how well the numbers are known.
        where: the place of the source, if not the publication itself.
    """

    effect: field_types.Effect | None = None
    se: Annotated[float, Field(strict=True, ge=1e-6, le=limits.LARGEST_EFFECT)] | None = None
    low: field_types.Effect | None = None
    high: field_types.Effect | None = None
    level: Annotated[float, Field(strict=True, ge=0.5, le=0.9999)] = 0.95
    numbers: Annotated[dict[field_types.Label, field_types.Finite], field_types.Few] = Field(
        default_factory=dict
    )
    n: field_types.AtLeastOne | None = None
    n1: field_types.AtLeastOne | None = None
    n2: field_types.AtLeastOne | None = None
    events: field_types.AtLeastOne | None = None
    sides: Literal[1, 2] = 2
    source: field_types.Clause
    confidence: Literal["verified", "recalled", "derived"]
    where: field_types.Prose | None = None


class Statement(Record):
    """One statement about the study.

    Attributes:
        text: the statement, in a sentence.
        source: the publication and the place in it.
        confidence: how well it is known.
        where: the place of the source, if not the publication itself.
    """

    text: field_types.Prose
    source: field_types.Prose
    confidence: field_types.Confidence
    where: field_types.Prose | None = None


class Paper(Record):
    """The published study, in our own words.

    Attributes:
        title: the publication's title.
        short_title: the name of the study on the pages, null for the title.
        citation: authors, year, journal and pages, as in a list of references.
        doi: the bare DOI, null if it has none.
        hypothesis: the claim of the study.
        method: how its authors did it, at planning level.
        key_finding: the result, with its numbers.
        goal: the question of a replication.
        published: the published sample size and effect.
        caution: conclusions that a reader must not draw.
        contested: points that experts dispute, null if none.
        teaches: a lesson about planning.
        facts: every number above, each with its source.
    """

    title: field_types.Title
    short_title: field_types.ShortTitle | None = None
    citation: field_types.Prose
    doi: field_types.Doi | None
    hypothesis: field_types.Prose
    method: field_types.Prose
    key_finding: field_types.Prose
    goal: field_types.Prose
    published: field_types.Prose
    caution: field_types.Prose
    contested: field_types.Prose | None = None
    teaches: field_types.Prose
    facts: Annotated[list[Statement], field_types.Many]

    @property
    def name(self) -> str:
        return self.short_title or self.title


def _known_kind(kind: str) -> str:
    if kind not in KINDS:
        text = lexicon.joined([f"'{name}'" for name in KINDS], "or")
        raise PydanticKnownError("enum", {"expected": text})
    return kind


class Design(Record):
    """How evidence grows with n.

    An effect is in the unit of the kind: Cohen's d (two_group, paired, one_sample), r
    (correlation), Cohen's h (two_proportions), Cohen's f (anova), the true difference as Cohen's d
    (equivalence), the hazard ratio (survival), the share of bad units (audit), the relative SD of
    one sample (precision, planning only).

    Attributes:
        kind: the evidence: the power of a test, the probability of detection (audit), the share
            examined (coverage) or the half-width of an interval (precision).
        effect_published: the effect as printed, null if none.
        effect_planning: the effect assumed for planning; for equivalence the true difference,
            usually 0.
        sesoi: the smallest effect of interest, null if none.
        alpha: the significance level of the test; for equivalence that of each one-sided test.
        sides: 1 if only an effect in the direction of effect_planning counts as significant, else
            2; for t-tests, correlation, two_proportions and survival.
        target: the evidence to aim at; for precision a relative half-width, lower is better; for a
            test below 1, since no study makes its result certain.
        floor: the minimum worth running; for precision the maximum.
        unit_of_n: one sample, in words.
        sample_noun: the singular noun for one sample, as in "24 mice".
        population_max: the most samples that exist or are permitted, null if unlimited.
        groups: the number of groups, anova only; samples beyond equal groups do not count.
        margin: the largest negligible difference, in units of d, equivalence only.
        event_share: the share of samples with an event during follow-up, survival only.
        baseline: the higher of the two shares, two_proportions only; the other lies
            effect_planning below. Null for an approximation that needs no share.
        assurance: the chance of at most the stated half-width, with the SD estimated from the same
            samples, precision only; null if the SD is taken as known.
        dropout: the share of planned samples that drop out.
        units: the experimental units, if several samples share one; else null.
        arms: the two arms, if their sizes differ; null if they are equal.
        source: the place of the published effect.
        why: a reason for each planning value, by field.
        original: the original's reported numbers, null if unknown.
    """

    kind: Annotated[
        str,
        AfterValidator(_known_kind),
        Field(json_schema_extra=lambda schema: schema.update(enum=[*KINDS])),
    ]
    effect_published: field_types.Effect | None
    effect_planning: field_types.Effect | None
    sesoi: field_types.Effect | None
    alpha: Annotated[float, PARAMETERS["alpha"].bounds] | None
    sides: Annotated[int, PARAMETERS["sides"].bounds] = 2
    target: field_types.Bound
    floor: field_types.Bound
    unit_of_n: field_types.Label
    sample_noun: field_types.ShortTitle = "sample"
    population_max: Annotated[int, PARAMETERS["population_max"].bounds] | None
    groups: Annotated[int, PARAMETERS["groups"].bounds] | None = None
    margin: Annotated[float, PARAMETERS["margin"].bounds] | None = None
    event_share: Annotated[float, PARAMETERS["event_share"].bounds] | None = None
    baseline: Annotated[float, PARAMETERS["baseline"].bounds] | None = None
    assurance: Annotated[float, PARAMETERS["assurance"].bounds] | None = None
    dropout: Annotated[float, Field(strict=True, ge=0, lt=1)] = 0.0
    units: field_types.Units | None = None
    arms: field_types.Arms | None = None
    source: field_types.Prose
    why: Annotated[dict[field_types.Label, field_types.Prose], field_types.Few] = Field(
        default_factory=dict
    )
    original: Original | None = None

    @property
    def row(self) -> Kind:
        return KINDS[self.kind]

    @property
    def samples_noun(self) -> str:
        return lexicon.plural(self.sample_noun, 2)

    @property
    def lower_is_better(self) -> bool:
        return self.row.scale.lower_is_better

    @property
    def uneven(self) -> bool:
        """Whether its two arms differ in size by intent."""
        return self.arms is not None and self.arms.share != field_types.Arms().share

    @model_validator(mode="after")
    def _numbers_fit_the_kind(self) -> Self:
        for fault in self.row.faults(self):
            raise fault.error
        for fault in faults_of(self.row, self.original) if self.original else ():
            raise Refusal(f"original: {fault.problem}", fault.remedy, "original").error
        return self

    @model_validator(mode="after")
    def _bounds_are_ordered(self) -> Self:
        both = f"a target of {self.target:g} and a floor of {self.floor:g} are out of order"
        if self.lower_is_better:
            if self.target > self.floor:
                remedy = f"for {self.kind} lower is better: target <= floor"
                raise Refusal(both, remedy, "target").error
        elif not self.floor <= self.target <= 1:
            raise Refusal(both, "they are shares: floor <= target <= 1", "target").error
        if self.row.sought and self.target >= 1:
            # The floor is no higher. Far out a power is 1 in doubles, by rounding alone.
            problem = "a target of 1 would make a significant result certain, which no study can"
            raise Refusal(problem, "aim at less than 1, such as 0.99", "target").error
        return self


class AllowedSubstitution(Record):
    """An allowed replacement, and its scientific price.

    Attributes:
        original: an item of the study.
        alternative: its replacement.
        condition: when that is allowed.
        tradeoff: the disadvantage.
        fidelity_loss: 0 same study, 1 minor declared deviation, 2 related but different test,
            3 the hypothesis goes untested.
        evidence_factor: the share of every effect that remains, 1 if all: it multiplies the
            planning effect, and an equivalence margin with it; it multiplies the logarithm of a
            hazard ratio, and divides the SD of a precision study.
    """

    original: field_types.Label
    alternative: field_types.Label
    condition: field_types.Prose
    tradeoff: field_types.Prose
    fidelity_loss: Annotated[int, Field(strict=True, ge=0, le=3)]
    evidence_factor: Annotated[float, Field(strict=True, ge=field_types.SMALLEST_FACTOR, le=1)] = (
        1.0
    )

    @property
    def agent_text(self) -> str:
        when, lost = f"condition: {self.condition}", f"tradeoff: {self.tradeoff}"
        return f"{self.original} → {self.alternative} ({when}; {lost})"


class HiddenReferenceSpec(Record):
    """The judge's standard for a plan; never shown to an agent.

    Attributes:
        summary: the plan that would do the study justice.
        required_elements: elements whose words a plan must mention.
        flexible_elements: elements that may differ without harm.
        target_metric: the outcome measure of the replication.
        target_value: its expected value.
    """

    summary: field_types.Prose
    required_elements: Annotated[list[field_types.Label], field_types.Few]
    flexible_elements: Annotated[list[field_types.Label], field_types.Few]
    target_metric: field_types.Prose
    target_value: field_types.Prose


class Control(Record):
    """A control of the reference protocol.

    Attributes:
        name: its label.
        droppable: whether the study is still useful without it.
        protects_against: the error that it rules out.
    """

    name: field_types.Label
    droppable: Flag
    protects_against: field_types.Clause

    @property
    def guards(self) -> str:
        """The error that it rules out; empty if not given."""
        return self.protects_against if lexicon.is_given(self.protects_against) else ""


class PolicyRule(Record):
    """A restriction, and how to recognise a plan that breaks it.

    Attributes:
        key: its short name.
        restriction: the rule, for people.
        forbidden_phrases: the phrases that break it, unless negated.
        allowed_mentions: sentences that only mention it and must pass.
    """

    key: field_types.Identifier
    restriction: field_types.Prose
    forbidden_phrases: Annotated[list[field_types.Label], field_types.Some]
    allowed_mentions: Annotated[list[field_types.Label], field_types.Few] = Field(
        default_factory=list
    )

    @cached_property
    def phrase_parts(self) -> tuple[frozenset[str], ...]:
        return tuple(map(lexicon.parts_of, self.forbidden_phrases))


class Throughput(Record):
    """How many samples a day the lab can finish.

    Attributes:
        value: samples a day.
        why: the reason for that number.
    """

    value: field_types.AtLeastOne
    why: field_types.Prose


_WET_FIELDS: Final = re.compile("biology|chemistry|ecology")
_OUTSIDE_WET_LABS: Final = {
    "reagents": "materials and data",
    "Reagents": "Materials and data",
    "reagent": "material",
    "Reagent": "Material",
    "A reagent": "A material",
    "missing (reagents)": "missing (materials and data)",
    "Reagents of the plan": "Materials and data of the plan",
    "Equipment or reagent": "Equipment or material",
    "Equipment and reagents": "Equipment, materials and data",
    "out of stock": "not available",
    "Out of stock": "Not available",
}


def term_in(field: str, name: str) -> str:
    """Return a dimension, category, status or label of the program in the words of a field.

    >>> term_in("plant_biology", "Reagents"), term_in("finance", "Reagents")
    ('Reagents', 'Materials and data')
    """
    return name if _WET_FIELDS.search(field) else _OUTSIDE_WET_LABS.get(name, name)


class Study(Record):
    """One study file: the paper, its evidence design, its needs, and three labs.

    Attributes:
        format: the version of this format, always 1.
        scenario_id: the study's short name, as in its file's name.
        domain_id: its field, as in its folder's name.
        paper: the published study.
        design: how evidence grows with n.
        success_criteria: when the replication would be called a success.
        hidden_reference: the judge's standard for a plan.
        constraints: requirements of the study, in addition to the lab's budget, days and staff.
        equipment: items that are used and booked.
        reagents: items that are used up: materials, data sets, licences, pay.
        substitutions: allowed replacements of items, and their price.
        controls: the controls of the reference protocol.
        policy_rules: restrictions.
        min_days: the fewest days that give any evidence.
        samples_per_day: how many the lab can finish in a day, null if all run in parallel.
        reference_protocol: the plan that would do the study justice.
        labs: the three labs.
    """

    format: Literal[1]
    scenario_id: field_types.Identifier
    domain_id: field_types.Identifier
    paper: Paper
    design: Design
    success_criteria: Annotated[list[field_types.Prose], field_types.Some]
    hidden_reference: HiddenReferenceSpec
    constraints: Annotated[list[rules.ScenarioConstraint], field_types.Few]
    equipment: Annotated[list[field_types.Label], field_types.Few]
    reagents: Annotated[list[field_types.Label], field_types.Few]
    substitutions: Annotated[list[AllowedSubstitution], Field(max_length=limits.MOST_SUBSTITUTIONS)]
    controls: Annotated[list[Control], field_types.Few]
    policy_rules: Annotated[list[PolicyRule], field_types.Few]
    min_days: field_types.AtLeastOne
    samples_per_day: Throughput | None
    reference_protocol: Protocol
    labs: Labs

    @cached_property
    def swaps(self) -> dict[tuple[str, str], AllowedSubstitution]:
        swaps = reversed(self.substitutions)  # the first of two for the same pair counts
        return {(lexicon.label_key(swap.original), swap.alternative): swap for swap in swaps}

    @cached_property
    def agent_texts(self) -> tuple[str, tuple[str, ...], str]:
        """The agent's text in any lab: the part before the constraints, these, and the rest."""
        summary = [
            f"Domain ID: {self.domain_id}",
            *lexicon.section("Task summary", [self.task_summary]),
            *lexicon.section("Success criteria", self.success_criteria),
        ]
        constraints = tuple(lexicon.one_line(f"- {rule.agent_text}") for rule in self.constraints)
        swaps = [swap.agent_text for swap in self.substitutions]
        listed = lexicon.section("Allowed substitutions", swaps)
        return lexicon.lines_text(summary), constraints, lexicon.lines_text(listed)

    def term(self, name: str) -> str:
        """Return a dimension, category, status or label of the program in its field's words."""
        return term_in(self.domain_id, name)

    @property
    def task_summary(self) -> str:
        return f'Plan a replication of "{self.paper.title}" in this lab: {self.paper.goal}'

    @model_validator(mode="after")
    def _phrases_are_few(self) -> Self:
        most = limits.MOST_PHRASES
        for name in ("forbidden_phrases", "allowed_mentions"):
            number = sum(len(getattr(rule, name)) for rule in self.policy_rules)
            if number > most:
                problem = f"the restrictions have {number} {name}"
                raise Refusal(problem, f"keep {most} in all").error
        return self

    @model_validator(mode="after")
    def _evidence_is_bounded_from_its_worse_side(self) -> Self:
        kind, needed = self.design.kind, "<=" if self.design.lower_is_better else ">="
        for rule in self.constraints:
            if rule.bounds is rules.Bounds.EVIDENCE and rule.comparator != needed:
                problem = f"constraint '{rule.key}' bounds the evidence by '{rule.comparator}'"
                raise Refusal(problem, f"a {kind} design needs '{needed}'", "constraints").error
        return self

    @field_validator("reference_protocol")
    @classmethod
    def _reference_can_be_planned(cls, plan: Protocol) -> Protocol:
        for fault in too_large(plan):
            raise fault.error
        return plan
