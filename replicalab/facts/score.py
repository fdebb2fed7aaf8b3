"""What a score says: how far a result is from the best there was, and what made the difference."""

from collections.abc import Callable
from typing import Final

from replicalab.assessment import Assessment, failing_text, placed_text, size_text
from replicalab.facts import blocks
from replicalab.facts.check import evidence_bar
from replicalab.facts.frontier import given_up_text
from replicalab.facts.plan import cautions_sentence, in_its_noun, unit_noun, with_cautions
from replicalab.facts.verdicts import evidence_status, standing
from replicalab.lexicon import amount_text, capitalised
from replicalab.negotiation import Score, is_worth_running
from replicalab.planner.least_loss import differences

YOU: Final = "You"  # Whose result a score is, where it is the reader's own
_SMALLEST_SHOWN: Final = 0.01


def score_verdict(found: Score) -> blocks.Verdict:
    """Return a score in a sentence: the regret, and the term of the order that decides it."""
    plan, best, regret = found.plan, found.best, f"Regret {regret_text(found.regret)}"
    design = best.pack.design
    if plan is None and not is_worth_running(best):
        return blocks.Verdict(
            blocks.Status.PASS, "Optimal", f"{regret}: no plan of this lab is worth running."
        )
    if plan is None:
        best_text = f"{best.evidence.text} with {size_text(best)}"
        text = in_its_noun(f"{regret}: there is no plan; the best has {best_text}.", design)
        return blocks.Verdict(blocks.Status.FAIL, "No plan", text)
    none = "no plan ranks above it" if found.exact else "no plan that was searched ranks above it"
    worse = _worse_text(found) or none
    if not found.counts:
        title = "Cannot be run here" if plan.failing else "Not worth running"
        why = failing_text(plan) if plan.failing else placed_text(plan.evidence)
        text = f"{regret}: {why}. {capitalised(worse)}."
        return blocks.Verdict(blocks.Status.FAIL, title, text)
    if not found.regret:
        title = "Optimal" if found.exact else "Best found"
        return blocks.Verdict(blocks.Status.PASS, title, f"{regret}: {worse}.")
    return blocks.Verdict(blocks.Status.CAUTION, "Not optimal", f"{regret}, 0 is optimal. {worse}.")


def _worse_text(found: Score) -> str:
    """Return the deciding term of both plans, such as ``Evidence: 0.53 instead of 0.61``."""
    plan, best = found.plan, found.best
    if plan is None or found.deciding is None:
        return ""
    name, value = _TERMS[found.deciding]
    text = f"{name}: {value(plan, best)} instead of {value(best, plan)}"
    return in_its_noun(text, best.pack.design)


def regret_text(value: float) -> str:
    """Return a regret, a part of one or a mean, so that only what is optimal reads 0."""
    if not value:
        return "0"
    return f"{value:.2f}" if value >= _SMALLEST_SHOWN else f"below {_SMALLEST_SHOWN:.2f}"


def _evidence(plan: Assessment, other: Assessment) -> str:
    """Return a plan's evidence, with as many digits as tell it from that of the other."""
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
    "cuts": ("Size", lambda plan, _: size_text(plan)),
    "changes": (
        "Fields changed",
        lambda plan, _: str(len(differences(plan.pack.reference_protocol, plan.plan))),
    ),
    "credits": ("Cost", lambda plan, _: plan.pack.lab.money(plan.cost)),
    "samples": ("Size", lambda plan, _: size_text(plan)),
    "days": ("Size", lambda plan, _: size_text(plan)),
}
"""Each term of the order, and its value in a plan that is compared with another."""


def score_panel(found: Score, who: str = "The run") -> blocks.Group:
    """Return a score: its verdict, and the result next to the best plan.

    ``who`` is whose result it is.
    """
    verdict, plan, best = score_verdict(found), found.plan, found.best
    sentence = blocks.Sentence(verdict.text, f"{verdict.title}.", verdict.status)
    if plan is None:
        return blocks.group(
            blocks.Heading("Your score" if who == YOU else "Score", 2, part=True), sentence
        )
    both = [plan.evidence, best.evidence]
    rows: list[tuple[blocks.Cell | str, ...]]
    noun, lab = capitalised(unit_noun(best.pack.design)), best.pack.lab
    rows = [
        (
            best.evidence.title,
            *(
                blocks.Cell(
                    item.evidence.number,
                    status=standing(item)[0],
                    bar=evidence_bar(item.evidence, both),
                    shade=evidence_status(item.evidence),
                )
                for item in (plan, best)
            ),
        ),
        (noun, *(amount_text(item.counts.samples) for item in (plan, best))),
        ("Days", *(amount_text(item.counts.days) for item in (plan, best))),
        (capitalised(lab.currency), *(amount_text(item.cost) for item in (plan, best))),
        ("Fidelity loss", *(str(item.fidelity_loss) for item in (plan, best))),
    ]
    names = ("Yours" if who == YOU else who, "Best")
    columns = [blocks.Column("What"), *(blocks.Column(name, "fixed", "after") for name in names)]
    return blocks.group(
        blocks.Heading("Your score" if who == YOU else "Score", 2, part=True),
        sentence,
        blocks.Sentence(cautions_sentence(plan)),
        blocks.table("The result and the best", columns, rows),
        blocks.Sentence(
            with_cautions(f"The best gives up: {given_up_text(best) or 'nothing'}.", best)
        ),
    )
