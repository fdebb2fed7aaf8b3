"""What counts as replicated: chosen before the data, and what is assumed of the effect."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import FailFast, Field, field_validator

from replicalab.measures.success import CRITERIA, Criterion, Prior
from replicalab.models import Record
from replicalab.scenarios import fields


class PlanWith(StrEnum):
    """What the evidence of a plan is."""

    POWER = "power"
    SUCCESS = "success"


class Replication(Record):
    """What counts as replicated; null, or left out, where nothing is chosen.

    Lengths are on the scale of the estimate: d, h, Fisher's z, the logarithm of a hazard ratio.

    Attributes:
        criteria: at least one; where there are several, each has to be met.
        prior: what is assumed of the effect: the original's exactly (conditional), the original's
            with its uncertainty (predictive), or less than it (empirical_bayes).
        tau: the heterogeneity: the SD of the true effect from study to study.
        level: the level of the criteria, null for the design's alpha.
        sides: of the test of significance and of the sceptical p-value, 1 or 2; the other criteria
            have their own.
        margin: the half-width of the range of equivalence about no effect, equivalence only.
        plan_with: whether plans are judged by their power or by the probability of success.
    """

    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, max_length=7), FailFast()]
    prior: Prior = Prior.PREDICTIVE
    tau: Annotated[
        float, Field(strict=True, ge=0, le=fields.LARGEST_EFFECT, allow_inf_nan=False)
    ] = 0.0
    level: fields.Share | None = None
    sides: Literal[1, 2] = 2
    margin: fields.Bound | None = None
    plan_with: PlanWith = PlanWith.POWER

    @field_validator("criteria")
    @classmethod
    def _criteria_are_distinct(cls, criteria: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
        for name in criteria:
            if criteria.count(name) > 1:
                raise ValueError(f"'{name}' is chosen twice; choose it once")
        return criteria

    @property
    def is_planned_with(self) -> bool:
        """Whether plans are judged by the probability of success."""
        return self.plan_with is PlanWith.SUCCESS

    def is_test_at(self, alpha: float | None) -> bool:
        """Return whether it asks no more than the study's own two-sided test at that level.

        And plans are judged by their power.
        """
        same = self.level in (None, alpha) and self.sides == 2
        return same and not self.is_planned_with and self.criteria == (Criterion.SIGNIFICANT,)

    @property
    def has_sides(self) -> bool:
        """Whether it matters to a criterion if it is one-sided or two-sided."""
        return any(CRITERIA[name].has_sides for name in self.criteria)

    @property
    def unused(self) -> dict[str, str]:
        """The numbers of a question that play no part in what plans are judged by, and why."""
        if not self.is_planned_with:
            return {}
        found = {
            "effect": "plans are made with the original’s estimate",
            "baseline": "estimates are taken as normal on their scale",
        }
        if self.level is not None:
            found["alpha"] = f"the criteria have a level of their own, {self.level:g}"
        return found
