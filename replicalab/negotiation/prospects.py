"""What a lab could run at best, and what it would have to add where that is worth nothing.

The planner searches the days, the samples, the allowed substitutions and the droppable controls of
a plan; the technique and the items stay. So what is proven is proven of plans "with this method".
"""

from __future__ import annotations

from typing import NamedTuple

from replicalab.assessment import assess, failing_text, floor_text, placed_text, size_text
from replicalab.lexicon import count_text, joined
from replicalab.models import ACCEPT_ACTION, ScientistAction, ScientistActionType
from replicalab.planner import Ask, LeastLoss, Options, asks_text
from replicalab.scenarios import EvidenceTier, Pack


class Prospect(NamedTuple):
    """The best that a lab allows.

    Attributes:
        options: of the plan that was revised: the one on the table, or the reference protocol.
    """

    options: Options

    @property
    def best(self) -> LeastLoss:
        """The revision that gives up the least."""
        return self.options.least

    @property
    def exists(self) -> bool:
        """Whether a plan was found that the lab can run and that is above the study's floor."""
        after = self.best.after
        return after.feasible and after.evidence.tier is not EvidenceTier.BELOW_FLOOR

    @property
    def text(self) -> str:
        """What the lab could have run above the floor, or that no such plan exists."""
        if not self.exists:
            return none_exists_text(self.best)
        after = self.best.after
        return f"in this lab {size_text(after.plan)} would have reached {after.evidence.text}"


def prospect(options: Options | None, pack: Pack) -> Prospect:
    """Return what the lab could run at best of a plan, or else of the reference protocol.

    The planner is asked for the plan on the table first, and for the study's own where that leads
    nowhere.

    Args:
        options: of the plan on the table; None where there is none.
        pack: the study in its lab.
    """
    if options is not None:
        first = Prospect(options)
        if first.exists or options.yours.plan == pack.reference_protocol:
            return first
    reference = Prospect(Options(assess(pack.reference_protocol, pack)))
    if options is None:
        return reference
    return min(first, reference, key=lambda found: found.best.rank.given_up)


def none_exists_text(best: LeastLoss) -> str:
    """Return in words that no plan above the floor exists, and what the best comes to.

    It says what was searched: the planner's own plans keep the study's endpoint where the lab has
    the days for it. Only true where the best is no such plan.
    """
    after, pack = best.after, best.after.pack
    if not after.feasible:
        failing = f"at best {failing_text(after.failing)}"
        if not best.exact:
            return f"no plan with this method was found that passes in this lab: {failing}"
        least = ""
        if 1 < pack.min_days <= pack.lab.days:
            least = f" of at least {count_text(pack.min_days, 'day')}"
        return f"no plan{least} with this method passes in this lab: {failing}"
    evidence = after.evidence
    found = "exists" if best.exact else "was found"
    none = f"no plan {floor_text(evidence)} {found} in this lab with this method"
    if not evidence.void:
        return f"{none}: the best has {evidence.text}"
    why = evidence.void
    if pack.lab.days < pack.min_days:
        needed = count_text(pack.min_days, "day")
        why = f"the study's endpoint needs {needed}, and this lab has {pack.lab.days}"
    stands = f"a plan of {size_text(after.plan)} passes all seven dimensions and shows nothing"
    return f"{none}: {stands}, since {why}"


# --- relief ---------------------------------------------------------------------------------


class CheapestRelief(NamedTuple):
    """The least that helps.

    Attributes:
        asks: what the lab would have to add; empty when nothing is known that helps.
        text: the same in a sentence, with what it would buy.
    """

    asks: tuple[Ask, ...]
    text: str


def relief_for(options: Options) -> CheapestRelief:
    """Return the cheapest relief for a plan of which nothing above the floor can run.

    The single addition that is the smallest share of what the lab has, where one is enough; else
    everything together that the target takes; else what this plan takes, if it is worth running.
    """
    found, plan = options.asks, options.yours
    if found.alone_floor:
        ask, after = found.alone_floor[0].ask, found.alone_floor[0].least.after
        reaches = f"{size_text(after.plan)}: {placed_text(after.evidence)}"
        return CheapestRelief((ask,), f"With {ask.text} it could run {reaches}.")
    if found.target and found.target.possible and found.target.asks:
        wanted = asks_text(found.target.asks)
        return CheapestRelief(found.target.asks, f"To reach the target it would take {wanted}.")
    worth = plan.evidence.tier is not EvidenceTier.BELOW_FLOOR
    if worth and found.run.possible and found.run.asks:
        takes = f"To run {size_text(plan.plan)} as planned would take {asks_text(found.run.asks)}"
        return CheapestRelief(found.run.asks, f"{takes}: {placed_text(plan.evidence)}.")
    return CheapestRelief((), "No single addition by the lab would open one.")


def question(found: tuple[Ask, ...]) -> ScientistAction:
    """Return the question whether the lab could add these: amounts given, items freed."""
    amounts = [ask.text for ask in found if ask.item is None]
    items = [ask.text for ask in found if ask.item is not None]
    wishes = [f"give {joined(amounts)}"] if amounts else []
    wishes += [f"have {joined(items)}"] if items else []
    empty = {**ACCEPT_ACTION.model_dump(), "action_type": ScientistActionType.REQUEST_INFO}
    asked = f"Could the lab {', and '.join(wishes)}?"
    return ScientistAction.model_validate({**empty, "questions": [asked]})
