"""Where a plan stands as it is run: what it shows with its looks, where it is judged without."""

from enum import StrEnum

from replicalab.assessment import Assessment
from replicalab.lexicon import capitalised
from replicalab.planner.looks import LookedAt, NoLooks, looked_at, placed_with_looks
from replicalab.scenarios import EvidenceTier
from replicalab.views.looks import header_text
from replicalab.views.plan import cautions_sentence


def with_standing(text: str, plan: Assessment) -> str:
    """Return a text that says where a plan stands without looks, then with them, and its cautions.

    A plan is judged without its looks and run with them: no text says that it reaches a bound and
    leaves out whether it does as it is run.
    """
    return " ".join(filter(None, [text, standing_text(plan), cautions_sentence(plan)]))


def standing_text(plan: Assessment) -> str:
    """Return where a plan that reaches a bound without looks stands with them; empty without any.

    ``With 1 look power 0.77, below the target of 0.80 but above the floor of 0.50.``
    """
    text = standing_phrase(plan)
    return f"{capitalised(text)}." if text else ""


def standing_phrase(plan: Assessment) -> str:
    """Return the same as it follows on a semicolon."""
    return "" if plan.evidence.tier is EvidenceTier.BELOW_FLOOR else placed_with_looks(plan)


class Looked(StrEnum):
    """What is to be said against a plan that meets the target without its looks."""

    MISSES = "misses the target with looks"
    UNKNOWN = "not worked out with looks"
    OVER = "may not fit with looks"


def standing_title(plan: Assessment) -> Looked | None:
    """Return the same for narrow places, of a plan that meets the target without looks.

    None where it meets it with them, too, and of any other plan.
    """
    found = looked_at(plan)
    if found is None or plan.evidence.tier is not EvidenceTier.MEETS_TARGET:
        return None
    if isinstance(found, NoLooks):
        return Looked.UNKNOWN
    if found.evidence.tier is not EvidenceTier.MEETS_TARGET:
        return Looked.MISSES
    return None if found.fits or not plan.feasible else Looked.OVER


def shown_text(plan: Assessment) -> str:
    """Return what a plan shows as it is run: ``power 0.77 with 1 look``, without any its evidence.

    Where that is not worked out, what it shows without looks.
    """
    found = looked_at(plan)
    if isinstance(found, LookedAt):
        return f"{found.evidence.measure} {header_text(plan)}"
    return plan.evidence.text


def shown_number(plan: Assessment) -> str:
    """Return the same as a number alone: ``0.77``."""
    found = looked_at(plan)
    return found.evidence.number if isinstance(found, LookedAt) else plan.evidence.number
