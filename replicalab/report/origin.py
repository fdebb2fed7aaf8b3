"""What a document is of and was made with: the fingerprint of its inputs, and the versions."""

from __future__ import annotations

from datetime import date
from typing import Final

from replicalab import __version__
from replicalab.assessment import Assessment
from replicalab.negotiation.records import fingerprint

FORMAT: Final = 1
"""Of the documents and of the bundle; it rises when one of either could be read otherwise."""


def input_hash(plan: Assessment) -> str:
    """Return a fingerprint of the study, its lab and the plan, as they were judged.

    The study holds the question already, the lab what is said of it; whatever changes a number of
    a document changes one of the three.
    """
    pack = plan.pack
    return fingerprint(pack.study, pack.lab, plan.plan)


def day_text(day: date) -> str:
    """Return a date that everyone reads in one way: ``22 November 2026``."""
    return f"{day.day} {day:%B %Y}"


def origin_lines(plan: Assessment) -> tuple[str, ...]:
    """Return which versions made a document, and of which inputs."""
    pack = plan.pack
    return (
        f"ReplicaLab {__version__}, document format {FORMAT}.",
        f"Input hash {input_hash(plan)}: study {pack.scenario_id}, {pack.difficulty} lab, "
        f"seed {pack.seed}, plan, and what is said of lab and evidence.",
    )
