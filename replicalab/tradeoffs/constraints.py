"""The constraints that limit the sample, or the days, of a plan."""

from __future__ import annotations

from enum import StrEnum


class Constraint(StrEnum):
    """What limits the sample, or the days, of a plan: three of the lab, three of the evidence."""

    BUDGET = "budget"
    SCHEDULE = "time limit"
    STAFF = "staff"
    THROUGHPUT = "throughput"
    POPULATION = "population"
    ENDPOINT = "endpoint"
