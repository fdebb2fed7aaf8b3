"""Every study in one lab: a row each, its evidence as a share of its target."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from replicalab.lexicon import amount_text
from replicalab.panels.drawing import Bar, drawn
from replicalab.planner import Surveyed
from replicalab.text.plan import cautions_sentence
from replicalab.text.survey import NAMES, NOTE, binding_text, breaks_text, fits_text
from replicalab.text.tradeoffs import given_up_text
from replicalab.text.verdicts import Status, evidence_status

_NUMBERS: Final = ("Samples", "Days", "Credits")


def survey_panel(lab: str, rows: Iterable[tuple[Surveyed, str]], order: str) -> str:
    """Return the best plan of every study in a lab, a row each.

    Args:
        lab: which lab it is.
        rows: the studies in their order, and whose each is where it is not on the shelf.
        order: the column that they are sorted by.
    """
    told = [_row(found, origin) for found, origin in rows]
    facts = {"lab": lab, "names": NAMES, "numbers": _NUMBERS, "note": NOTE}
    return drawn("survey", rows=told, order=order, **facts)


def _row(found: Surveyed, origin: str) -> dict[str, object]:
    best, evidence = found.best, found.best.evidence
    floor = evidence.row.scale.attained(evidence.floor, evidence.target)
    return {
        "name": found.pack.paper.name,
        "origin": origin,
        "status": Status.PASS if best.feasible else Status.FAIL,
        "fits": fits_text(found),
        "breaks": breaks_text(found),
        "broken": cautions_sentence(best),
        "bar": Bar(found.share, (floor,)),
        "evidence_status": evidence_status(evidence),
        "number": evidence.text,
        "tier": "" if evidence.void else str(evidence.tier),
        "samples": amount_text(best.counts.samples),
        "planned": _planned_text(found),
        "days": amount_text(best.counts.days),
        "credits": amount_text(best.cost),
        "loss": amount_text(best.fidelity_loss),
        "given_up": given_up_text(best) if best.fidelity_loss else "",
        "binding": binding_text(found),
    }


def _planned_text(found: Surveyed) -> str:
    """Return how many samples the reference protocol has, where the best plan has others."""
    planned, best = found.reference.counts.samples, found.best.counts.samples
    if planned == best:
        return ""
    return f"{'of' if planned > best else 'instead of'} {amount_text(planned)}"
