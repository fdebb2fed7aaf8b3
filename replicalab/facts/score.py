"""A score: how far a result is from the best plan, and the term that makes the difference."""

from collections.abc import Callable
from typing import Final

from replicalab.assessment import Assessment, failing_text, placed_text, size_text
from replicalab.facts import blocks
from replicalab.facts.blocks import Cell, Column, Sentence, Status, Verdict
from replicalab.facts.check import evidence_bar
from replicalab.facts.frontier import given_up_text
from replicalab.facts.plan import cautions_sentence, with_cautions
from replicalab.facts.verdicts import evidence_status, standing
from replicalab.lexicon import amount_text, capitalised
from replicalab.negotiation import Score, is_worth_running
from replicalab.planner.least_loss import differences

YOU: Final = "You"  # the name of the reader's own result
_SMALLEST_SHOWN: Final = 0.01


def score_verdict(score: Score) -> Verdict:
    """Return a score in a sentence: the regret, and the term of the order that decides it."""
    plan, best, regret = score.plan, score.best, f"Regret {regret_text(score.regret)}"
    if plan is None and not is_worth_running(best):
        return Verdict(Status.PASS, "Optimal", f"{regret}: no plan of this lab is worth running.")
    if plan is None:
        text = f"there is no plan; the best has {best.evidence.text} with {size_text(best)}"
        return Verdict(Status.FAIL, "No plan", f"{regret}: {text}.")
    worse = "no plan ranks above it" if score.exact else "no plan that was searched ranks above it"
    if score.deciding is not None:
        name, value = _TERMS[score.deciding]
        worse = f"{name}: {value(plan, best)} instead of {value(best, plan)}"
    if not score.counts:
        title = "Cannot be run here" if plan.failing else "Not worth running"
        why = failing_text(plan) if plan.failing else placed_text(plan.evidence)
        return Verdict(Status.FAIL, title, f"{regret}: {why}. {capitalised(worse)}.")
    if not score.regret:
        title = "Optimal" if score.exact else "Best found"
        return Verdict(Status.PASS, title, f"{regret}: {worse}.")
    return Verdict(Status.CAUTION, "Not optimal", f"{regret}, 0 is optimal. {worse}.")


def regret_text(value: float) -> str:
    """Return a regret, a part of one or a mean; only an optimal one reads 0."""
    if not value:
        return "0"
    return f"{value:.2f}" if value >= _SMALLEST_SHOWN else f"below {_SMALLEST_SHOWN:.2f}"


def _evidence(plan: Assessment, other: Assessment) -> str:
    evidence = plan.evidence
    if evidence.void_reason:
        return "none"
    bounds = (evidence.target, evidence.floor, other.evidence.value)
    return evidence.row.scale.amount(evidence.value, bounds)


_TERMS: Final[dict[str, tuple[str, Callable[[Assessment, Assessment], str]]]] = {
    "failing": ("Failing checks", lambda plan, _: str(len(plan.failing))),
    "tier": ("Evidence", lambda *plans: f"{_evidence(*plans)} ({plans[0].evidence.tier})"),
    "endpoint_lost": ("Days", lambda plan, _: amount_text(plan.counts.days)),
    "wishes": ("Soft constraints missed", lambda plan, _: str(len(plan.broken_wishes))),
    "loss": ("Fidelity loss", lambda plan, _: str(plan.fidelity_loss)),
    "evidence": ("Evidence", _evidence),
    "changes": (
        "Fields changed",
        lambda plan, _: str(len(differences(plan.pack.reference_protocol, plan.plan))),
    ),
    "credits": ("Cost", lambda plan, _: plan.pack.lab.money(plan.cost)),
    **dict.fromkeys(("cuts", "samples", "days"), ("Size", lambda plan, _: size_text(plan))),
}
"""Each term of the order, and its value for a plan and the one that it is compared with."""


def score_panel(score: Score, who: str = "The run") -> blocks.Group:
    """Return a score: its verdict, and the result of ``who`` next to the best plan."""
    verdict, plan, best = score_verdict(score), score.plan, score.best
    title, column = ("Your score", "Yours") if who == YOU else ("Score", who)
    heading = blocks.Heading(title, 2, part=True)
    sentence = Sentence(verdict.text, f"{verdict.title}.", verdict.status)
    if plan is None:
        return blocks.group(heading, sentence)
    pair, evidences = (plan, best), [plan.evidence, best.evidence]
    bars = (
        Cell(
            judged.evidence.number,
            status=standing(judged)[0],
            bar=evidence_bar(judged.evidence, evidences),
            shade=evidence_status(judged.evidence),
        )
        for judged in pair
    )
    numbers = {
        best.pack.design.samples_noun: (judged.counts.samples for judged in pair),
        "days": (judged.counts.days for judged in pair),
        best.pack.lab.currency: (judged.cost for judged in pair),
        "fidelity loss": (judged.fidelity_loss for judged in pair),
    }
    rows: list[tuple[Cell | str, ...]] = [(best.evidence.title, *bars)]
    rows += [(capitalised(name), *map(amount_text, values)) for name, values in numbers.items()]
    columns = [Column("Term"), *(Column(name, "fixed", "after") for name in (column, "Best"))]
    return blocks.group(
        heading,
        sentence,
        Sentence(cautions_sentence(plan)),
        blocks.table("The result and the best", columns, rows),
        Sentence(with_cautions(f"The best gives up: {given_up_text(best)}.", best)),
    )
