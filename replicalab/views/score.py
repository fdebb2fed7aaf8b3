"""What a score says: how far a result is from the best there was, and what made the difference."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from replicalab.assessment import Assessment, failing_text, placed_text, size_text
from replicalab.assessment.phrases import asked_and_had, guarding_text
from replicalab.lexicon import amount_text, capitalised, count_text, joined
from replicalab.models import LabManagerActionType
from replicalab.negotiation import Score, is_worth_running
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.views.blocks import (
    Cell,
    Column,
    Group,
    Heading,
    Sentence,
    Status,
    Verdict,
    group,
    table,
)
from replicalab.views.check import bounds_title, evidence_bar
from replicalab.views.frontier import given_up_text
from replicalab.views.negotiation import step_changes
from replicalab.views.plan import cautions_sentence, in_its_noun, unit_noun, with_cautions
from replicalab.views.verdicts import ANSWERS, answer_to, evidence_status, standing

YOU: Final = "You"  # Whose result a score is, where it is the reader's own
_SMALLEST_SHOWN: Final = 0.01


def score_verdict(found: Score, who: str = "The run") -> Verdict:
    """Return a score in a sentence: the result and the best, and what would have been better.

    ``who`` is whose result it is.
    """
    plan, best = found.plan, found.best
    worth = best.evidence.text
    if not is_worth_running(best):
        if found.counts or plan is None:
            return Verdict(Status.PASS, "Optimal", "No plan of this lab is worth running.")
        text = f"No plan of this lab is worth running, and this one is not: {_why_not(found)}."
        return Verdict(Status.FAIL, "Not worth running", text)
    if plan is None:
        text = f"There is no plan; the best has {worth}, {_size(found)}."
        return Verdict(Status.FAIL, "No plan", text)
    if not found.counts:
        cannot = "cannot be run here" if plan.failing else "is not worth running"
        text = f"This plan {cannot}: {_why_not(found)}. So its evidence counts as 0. "
        text += f"The best has {worth}."
        return Verdict(Status.FAIL, capitalised(cannot.removeprefix("is ")), text)
    both = f"{who} {plan.evidence.number}, best {best.evidence.number}"
    if not found.regret:
        if plan.evidence.number != best.evidence.number:
            both = capitalised(placed_text(plan.evidence))
        return Verdict(Status.PASS, "Optimal", f"{both}: nothing better could be had.")
    return Verdict(Status.CAUTION, "Not optimal", f"{both}: {'; '.join(_better(found, who))}.")


def score_text(found: Score) -> str:
    """Return the numbers of a score: its regret, and what makes it up."""
    evidence = regret_text(found.evidence_short)
    wishes = f"wishes by {amount_text(found.wishes_short)}, " if found.wishes_short else ""
    fidelity = amount_text(found.fidelity_short)
    parts = f"evidence short by {evidence}, {wishes}fidelity by {fidelity}"
    return f"Regret {regret_text(found.regret)}: {parts}; 0 is optimal."


def regret_text(value: float) -> str:
    """Return a regret, a part of one or a mean, so that only what is optimal reads 0."""
    if not value:
        return "0"
    return f"{value:.2f}" if value >= _SMALLEST_SHOWN else f"below {_SMALLEST_SHOWN:.2f}"


def _size(found: Score) -> str:
    noun = unit_noun(found.best.pack.design)
    days = count_text(found.best.counts.days, "day")
    return f"with {amount_text(found.best.counts.samples)} {noun} in {days}"


def _why_not(found: Score) -> str:
    if found.plan is None or found.plan.failing:
        return failing_text(found.plan) if found.plan else "there is none"
    evidence = found.plan.evidence
    return evidence.void_reason or placed_text(evidence)


def _better(found: Score, who: str) -> Iterator[str]:
    """Yield what the best plan has and the result has not."""
    plan, best = found.plan, found.best
    if plan is None:
        return
    noun, it = unit_noun(best.pack.design), "you" if who == YOU else "it"
    if (more := best.counts.samples - plan.counts.samples) > 0:
        verb = "was" if more == 1 else "were"
        yield f"{amount_text(more)} more {noun} {verb} affordable"
    elif more < 0 and best.evidence.text != plan.evidence.text:
        yield f"{amount_text(-more)} fewer {noun} would have been enough"
    if days := best.counts.days - plan.counts.days:
        yield f"{count_text(abs(days), 'day', 'more' if days > 0 else 'fewer')} would have served"
    if found.wishes_short:
        broken = [wish for wish in plan.broken_wishes if wish not in best.broken_wishes]
        yield asked_and_had(plan, broken)
    for control in PlanStep(best, plan).newly_dropped:
        yield f"{it} gave up {guarding_text(control)}"
    taken = [
        f"'{each.alternative}' in place of '{each.original}'"
        for each in plan.substitutions
        if each not in best.substitutions
    ]
    if taken:
        yield f"{it} took {joined(taken)}, and the best plan does not"
    if found.fidelity_short:
        yield f"fidelity loss {plan.fidelity_loss} in place of {best.fidelity_loss}"


# --- a challenge ----------------------------------------------------------------------------

HIDDEN: Final = "This opens once you have handed in: it would give the answer away."
"""What stands in place of what a challenge hides."""
COLUMNS: Final = (
    *("time", "name", "study", "lab", "seed", "samples", "days", "credits", "fidelity loss"),
    *("evidence", "best evidence", "evidence short", "wishes short"),
    *("fidelity short", "regret", "in words"),
)
"""The columns of a sheet of results; evidence is as people read it, the rest are numbers."""
_DIGITS: Final = 6


def challenge_panel(yours: Assessment) -> Group:
    """Return a plan next to what the lab has, and its evidence; nothing of it is judged."""
    lab, evidence = yours.pack.lab, yours.evidence
    noun = capitalised(unit_noun(yours.pack.design))
    rows = [
        (capitalised(lab.currency), amount_text(yours.cost), amount_text(lab.budget)),
        ("Days", amount_text(yours.counts.days), amount_text(lab.days_left)),
        ("Staff units", amount_text(yours.staff), amount_text(lab.staff)),
        (noun, amount_text(yours.counts.samples), ""),
        (evidence.title, evidence.number, bounds_title(evidence).partition(": ")[2]),
    ]
    columns = ("What", Column("Your plan", "number"), "The lab has")
    return group(
        Heading("Challenge", 2, part=True),
        Sentence(
            "Find the plan that this lab can run and that gives up the least. The seven checks and "
            "the best plan are hidden until you hand in. The Lab Manager can be asked."
        ),
        table("Your plan and the lab", columns, rows),
    )


def answer_text(number: int, here: PlanAnalysis) -> str:
    """Return what the Lab Manager answers to a plan in a challenge: its verdict and its offer.

    ``Round 1, 128 fish in 21 days: rejects.``
    """
    yours, answer = here.yours, answer_to(here)
    text = f"Round {number}, {size_text(yours)}: {ANSWERS[answer].title.lower()}"
    if answer is LabManagerActionType.SUGGEST_ALTERNATIVE:
        text += f", {step_changes(PlanStep(yours, here.offered))}"
    return f"{in_its_noun(text, yours.pack.design)}."


def score_panel(found: Score, who: str = "The run") -> Group:
    """Return a score: its verdict, and the result next to the best plan.

    ``who`` is whose result it is.
    """
    verdict, plan, best = score_verdict(found, who), found.plan, found.best
    repeats = verdict.title.lower() in verdict.text
    said = Sentence(verdict.text, "" if repeats else f"{verdict.title}.", verdict.status)
    numbers = Sentence(score_text(found), quiet=True)
    if plan is None:
        return group(Heading("Your score" if who == YOU else "Score", 2, part=True), said, numbers)
    both = [plan.evidence, best.evidence]
    rows: list[tuple[Cell | str, ...]]
    noun, lab = capitalised(unit_noun(best.pack.design)), best.pack.lab
    rows = [
        (
            best.evidence.title,
            *(
                Cell(
                    each.evidence.number,
                    status=standing(each)[0],
                    bar=evidence_bar(each.evidence, both),
                    shade=evidence_status(each.evidence),
                )
                for each in (plan, best)
            ),
        ),
        (noun, *(amount_text(each.counts.samples) for each in (plan, best))),
        ("Days", *(amount_text(each.counts.days) for each in (plan, best))),
        (capitalised(lab.currency), *(amount_text(each.cost) for each in (plan, best))),
        ("Fidelity loss", *(str(each.fidelity_loss) for each in (plan, best))),
    ]
    names = ("Yours" if who == YOU else who, "Best")
    columns = [Column("What"), *(Column(name, "fixed", "after") for name in names)]
    return group(
        Heading("Your score" if who == YOU else "Score", 2, part=True),
        said,
        numbers,
        Sentence(cautions_sentence(plan)),
        table("The result and the best", columns, rows),
        Sentence(with_cautions(f"The best gives up: {given_up_text(best) or 'nothing'}.", best)),
    )


def result_row(found: Score, name: str, when: datetime) -> tuple[str | float, ...]:
    """Return a result as a row of the sheet under `COLUMNS`."""
    plan, pack = found.plan, found.best.pack
    numbers: tuple[str | float, ...] = ("", "", "", "")
    if plan is not None:
        numbers = (plan.counts.samples, plan.counts.days, plan.cost, plan.fidelity_loss)
    return (
        when.isoformat(timespec="seconds"),
        name,
        pack.scenario_id,
        str(pack.difficulty),
        pack.seed,
        *numbers,
        plan.evidence.text if plan else "",
        found.best.evidence.text,
        round(found.evidence_short, _DIGITS),
        found.wishes_short,
        found.fidelity_short,
        round(found.regret, _DIGITS),
        score_verdict(found, YOU).text,
    )
