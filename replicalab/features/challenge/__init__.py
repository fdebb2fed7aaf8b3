"""Challenge: find the best plan of a lab without its checks, hand it in, and see its score."""

from datetime import datetime
from typing import Final

from replicalab.assessment import Assessment
from replicalab.facts.blocks import Column, Group, Heading, Sentence, group, table
from replicalab.facts.negotiation_facts import step_changes
from replicalab.facts.score_facts import score_verdict
from replicalab.facts.verdicts import ANSWERS
from replicalab.lexicon import amount_text, capitalised
from replicalab.models import LabManagerActionType
from replicalab.negotiation import Score
from replicalab.planner import PlanAnalysis, PlanStep

_DIGITS: Final = 6


def challenge_panel(yours: Assessment) -> Group:
    """Return a plan next to the lab's means, and its evidence, without a verdict."""
    lab, evidence = yours.pack.lab, yours.evidence
    noun = capitalised(yours.pack.design.samples_noun)
    floor, target = evidence.format(evidence.floor), evidence.format(evidence.target)
    bounds = f"floor {floor}, target {target}"
    rows = [
        (capitalised(lab.currency), amount_text(yours.cost), amount_text(lab.budget)),
        ("Days", amount_text(yours.counts.days), amount_text(lab.days_left)),
        ("Staff units", amount_text(yours.staff), amount_text(lab.staff)),
        (noun, amount_text(yours.counts.samples), ""),
        (evidence.title, evidence.number, bounds),
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
    """Return the Lab Manager's verdict and offer: ``Round 1, 128 fish in 21 days: rejects.``."""
    yours, answer = here.yours, here.answer
    text = f"Round {number}, {yours.size_text}: {ANSWERS[answer].title.lower()}"
    if answer is LabManagerActionType.SUGGEST_ALTERNATIVE:
        text += f", {step_changes(PlanStep(yours, here.offered))}"
    return f"{text}."


def result_of(score: Score, name: str, when: datetime) -> dict[str, str | float]:
    """Return a result as a row of the sheet of results; evidence is a text."""
    plan, pack = score.plan, score.best.pack
    return {
        "time": when.isoformat(timespec="seconds"),
        "name": name,
        "study": pack.scenario_id,
        "lab": str(pack.difficulty),
        "seed": pack.seed,
        "samples": plan.counts.samples if plan else "",
        "days": plan.counts.days if plan else "",
        "credits": plan.cost if plan else "",
        "fidelity loss": plan.fidelity_loss if plan else "",
        "evidence": plan.evidence.text if plan else "",
        "best evidence": score.best.evidence.text,
        "regret": round(score.regret, _DIGITS),
        "in words": score_verdict(score).text,
    }
