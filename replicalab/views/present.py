"""What an audience sees: the question, a plan, each round, how it ended, two plans, the region.

A slide is one screen in large type. Of a run that is not confirmed only words are drawn.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, failing_text, size_text
from replicalab.drafts import stated
from replicalab.lexicon import amount_text, capitalised, count_text, percent_text, shortened
from replicalab.models import ScientistActionType
from replicalab.negotiation import Negotiation, Round, ledger
from replicalab.planner import PlanStep
from replicalab.scenarios import Pack
from replicalab.views import negotiation as texts
from replicalab.views import plan as plans
from replicalab.views.blocks import Bar, Panel, Status, Verdict, panel
from replicalab.views.check import cost_bar, evidence_bar
from replicalab.views.lab import lab_text
from replicalab.views.rounds import amounts
from replicalab.views.verdicts import FLOOR_MEANS, TARGET_MEANS, evidence_status, plan_verdict

# So many changes of a side fit on the screen; of others only the names are shown.
_MOST_CHANGES: Final = 4
_FEW_CHANGES: Final = 1
_SHORT: Final = 190  # So many changes, and characters with them, fit in larger type
_MOST_OF_AN_ANSWER: Final = 330  # So many characters of an answer to a question fit with the rest
_SHORT_VERDICT: Final = 320  # A verdict of so many characters fits in larger type

Rows = list[tuple[str, str, str]]


class Slide(StrEnum):
    """What a slide shows."""

    QUESTION = "question"
    PLAN = "plan"
    ROUND = "round"
    OUTCOME = "outcome"
    BESIDE = "beside"
    REGION = "region"


def top_panel(pack: Pack, number: int, last: int) -> Panel:
    """Return the line above every slide: the study, the lab, and which slide of how many."""
    return panel("slide_top", study=pack.paper.name, lab=lab_text(pack), number=number, last=last)


def stated_slide(title: str, text: str) -> Panel:
    """Return a slide that says one thing under a heading."""
    return panel("slide_stated", title=title, text=text)


def point_panel(title: str, line: str) -> Panel:
    """Return what a story comes to, below its last slide."""
    return panel("slide_point", title=title, line=line)


def question_slide(yours: Assessment) -> Panel:
    """Return what is to be found out, what the lab has, and what counts as evidence."""
    pack, evidence = yours.pack, yours.evidence
    has = ((pack.lab.budget, "credit"), (pack.lab.days_left, "day"), (pack.lab.staff, "staff unit"))
    return panel(
        "slide_question",
        study=pack.paper.name,
        goal=stated(pack.paper.goal),
        lab=pack.own_lab.name or f"The {pack.difficulty} lab",
        has=[count_text(number, noun).split(" ", 1) for number, noun in has],
        unit=plans.sample_text(pack.design),
        dropout=percent_text(pack.design.dropout) if pack.design.dropout else "",
        terms=[
            (capitalised(evidence.measure), "", evidence.row.meaning),
            ("Target", evidence.amount(evidence.target), TARGET_MEANS),
            ("Floor", evidence.amount(evidence.floor), FLOOR_MEANS),
        ],
    )


# --- a plan ---------------------------------------------------------------------------------


def plan_slide(yours: Assessment) -> Panel:
    """Return a plan: its verdict, the seven dimensions, its numbers with their limits."""
    own = yours.plan != yours.pack.reference_protocol
    return panel(
        "slide_plan",
        title="Your plan" if own else "The study’s own plan",
        verdict=plan_verdict(yours),
        stands=_stands(PlanStep(yours, yours)),
    )


def _stands(step: PlanStep, *, breaks: str = "") -> dict[str, object]:
    """Return where a plan stands: its seven dimensions, and its numbers as a step moved them."""
    now = step.after
    return {
        "breaks": breaks,
        "seven": [
            (capitalised(slack.dimension), Status.PASS if slack.ok else Status.FAIL)
            for slack in now.slack.values()
        ],
        "numbers": amounts(step),
    }


# --- the negotiation ------------------------------------------------------------------------


def round_slide(negotiation: Negotiation, at: int, note: str = "") -> Panel:
    """Return a round: what changed in it, what each side wants, and the plan on the table.

    Args:
        negotiation: with the round in it.
        at: the round, counted from 0.
        note: what is to be said of one that is not confirmed; empty for one that is.
    """
    done, before = negotiation.rounds[at], negotiation.state_before(at).plan
    scientist, manager = _scientist(before, done), _manager(done)
    short = all(
        len(side.rows) <= _FEW_CHANGES and sum(map(len, side.says)) <= _SHORT
        for side in (scientist, manager)
        if side
    )
    breaks = plans.cautions_sentence(done.plan) if done.plan else ""
    return panel(
        "slide_round",
        caption=texts.round_caption(negotiation, at),
        scientist=scientist,
        manager=manager,
        roomy=short and not (note or breaks),
        confirmed=not note,
        stands=_stands(PlanStep(before or done.plan, done.plan), breaks=breaks)
        if done.plan
        else None,
        note=note,
    )


class _Side(NamedTuple):
    """What a side does: the changes that fit, names of the others, and what it says of them."""

    does: str
    rows: Rows
    others: str
    says: list[str]
    status: Status | None = None


def _scientist(before: Assessment | None, done: Round) -> _Side:
    action, plan = done.action, done.plan
    says = list(action.questions) if action else []
    rows: Rows = []
    if action is not None and plan is not None and not done.only_asks:
        rows = texts.change_rows(PlanStep(before, plan)) if before else []
        says = [] if rows else [f"{size_text(plan)}."]
        if action.action_type is ScientistActionType.ACCEPT:
            says = ["Takes what the Lab Manager offers." if rows else "Takes the plan as it is."]
    reason = "" if done.only_asks else done.reason  # a question says it already
    return _side(texts.turn_title(done), rows, [*says, reason])


def _manager(done: Round) -> _Side | None:
    verdict = texts.answer_verdict(done)
    if done.answer is None or verdict is None:
        return None
    if done.only_asks or done.plan is None:
        answer = " ".join(done.answer.explanation.split())
        return _side(verdict.title, [], [shortened(answer, _MOST_OF_AN_ANSWER)], verdict.status)
    offer = texts.offered_plan(done)
    if offer is None:
        return _side(verdict.title, [], [verdict.text], verdict.status)
    step = PlanStep(done.plan, offer)
    price = "; ".join(
        filter(None, (plans.saved_text(step), plans.evidence_text(step), plans.fidelity_move(step)))
    )
    says = [f"{capitalised(price)}.", texts.offer_breaks_text(done)]
    return _side(verdict.title, texts.change_rows(step), says, verdict.status)


def _side(does: str, rows: Rows, says: list[str], status: Status | None = None) -> _Side:
    others = [name.lower() for name, _, _ in rows[_MOST_CHANGES:]]
    return _Side(
        does.lower(),
        rows[:_MOST_CHANGES],
        f"and other {', '.join(others)}" if others else "",
        [text for text in says if text],
        status,
    )


def outcome_slide(negotiation: Negotiation, verdict: Verdict, note: str = "") -> Panel:
    """Return how it ended: the verdict, from the first plan to the last, and who gave what.

    Args:
        negotiation: as far as it has gone.
        verdict: how it ended, or where it stands.
        note: what is to be said of one that is not confirmed; empty for one that is.
    """
    plans = [done.plan for done in negotiation.rounds if done.plan is not None]
    known = bool(plans) and not note
    return panel(
        "slide_outcome",
        verdict=verdict,
        roomy=len(verdict.text) <= _SHORT_VERDICT,
        is_open=negotiation.outcome is None,
        stands=_stands(PlanStep(plans[0], plans[-1])) if known else None,
        gave=texts.ledger_sentence(ledger(negotiation)) if known else "",
        note=note,
    )


# --- two plans ------------------------------------------------------------------------------


def beside_slide(yours: Assessment, other: Assessment, name: str, *also: str) -> Panel:
    """Return two plans in two columns: in what they differ, and nothing else."""
    step = PlanStep(yours, other)
    fields = texts.change_rows(step)
    return panel(
        "slide_beside",
        name=name,
        also=also,
        column=capitalised(name),
        verdicts=[plan_verdict(yours), plan_verdict(other)],
        fails=[failing_text(plan.failing) if plan.failing else "" for plan in (yours, other)],
        fields=fields,
        measures=list(_measures(step)),
    )


def _measures(step: PlanStep) -> Iterator[tuple[str, list[tuple[str, Bar | None, str]]]]:
    """Yield what two plans cost, show and lose, where it differs: the name, and both cells."""
    both = (step.before, step.after)
    found = [plan.evidence for plan in both]
    if step.credits_saved:
        over = [plan.cost > plan.pack.lab.budget for plan in both]
        yield (
            "Credits",
            [
                (amount_text(plan.cost), cost_bar(plan), Status.FAIL if much else Status.PASS)
                for plan, much in zip(both, over, strict=True)
            ],
        )
    if step.evidence_changed:
        bars = [
            (each.number, evidence_bar(each, found, found[0]), evidence_status(each))
            for each in found
        ]
        yield capitalised(found[0].measure), [(text, bar, status) for text, bar, status in bars]
    if any(plan.broken_wishes for plan in both):
        yield (
            plans.WISHES,
            [
                (plans.wishes_cell(plan), None, Status.CAUTION if plan.broken_wishes else "")
                for plan in both
            ],
        )
    if plans.fidelity_move(step):
        yield "Fidelity loss", [(str(plan.fidelity_loss), None, "") for plan in both]


def region_slide(title: str, *lines: str) -> Panel:
    """Return the heading of the region's figure, and how to read it."""
    return panel("slide_region", title=title, lines=[line for line in lines if line])
