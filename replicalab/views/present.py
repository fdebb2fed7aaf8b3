"""What an audience sees: an argument from the question to what is to be decided.

What is at stake; the plan against its lab; each offer that was refused and each concession; what
was given up in all; the plan that came of it; the decision, and what more would buy. A slide is one
screen in large type, its heading twelve words at most. Of a run that is not confirmed only words
are drawn.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment, cautions_text, placed_text
from replicalab.assessment.phrases import analysed_text
from replicalab.drafts import stated
from replicalab.lexicon import (
    amount_text,
    capitalised,
    count_text,
    ended,
    joined,
    percent_text,
    shortened,
)
from replicalab.models import DIMENSIONS, ScientistActionType
from replicalab.negotiation import (
    Concession,
    Negotiation,
    Outcome,
    Round,
    best_text,
    is_worth_running,
)
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.planner.steps import field_steps
from replicalab.scenarios import EvidenceTier, Pack
from replicalab.views import blocks
from replicalab.views import negotiation as texts
from replicalab.views import plan as plans
from replicalab.views.blocks import Panel, Status, Verdict
from replicalab.views.changes import lost_text
from replicalab.views.check import evidence_bar
from replicalab.views.lab import lab_text
from replicalab.views.options import nothing_needed, take_parts
from replicalab.views.rounds import amounts, given_up_table
from replicalab.views.verdicts import (
    FLOOR_MEANS,
    TARGET_MEANS,
    evidence_status,
    plan_verdict,
)

# So many changes of a side fit on the screen; of others only the names are shown.
_MOST_CHANGES: Final = 4
_FEW_CHANGES: Final = 1
_SHORT: Final = 190  # So many changes, and characters with them, fit in larger type
_MOST_OF_A_TEXT: Final = 330  # So many characters of what somebody says fit with the rest
_FEW_STEPS: Final = 2  # So many rows of a ledger fit in larger type
_MOST_STEPS: Final = 4  # So many fit at all; of more each field stands once
_MOST_ASKS: Final = 3  # So many ways to have more fit next to the plan
_MOST_OF_AN_ASK: Final = 220
_FEW_ASKS: Final = 480  # So many characters of these fit in larger type
_FEW_WORDS: Final = 6  # An addition of so many words leaves a heading at twelve
_SHORT_VERDICT: Final = 320  # A verdict of so many characters fits in larger type

Rows = list[tuple[str, str, str]]


class Slide(StrEnum):
    """What a slide shows."""

    STAKE = "stake"
    PLAN = "plan"
    ROUND = "round"
    REFUSED = "refused"
    CONCESSION = "concession"
    LEDGER = "ledger"
    OUTCOME = "outcome"
    DECISION = "decision"


def top_panel(pack: Pack, number: int, last: int) -> Panel:
    """Return the line above every slide: the study, the lab, and which slide of how many."""
    return blocks.panel(
        "slide_top", study=pack.paper.name, lab=lab_text(pack), number=number, last=last
    )


def stated_slide(title: str, text: str) -> Panel:
    """Return a slide that says one thing under a heading."""
    return blocks.panel("slide_stated", title=title, text=text)


def point_panel(title: str, line: str) -> Panel:
    """Return what a story comes to, below its last slide."""
    return blocks.panel("slide_point", title=title, line=line)


def stake_slide(yours: Assessment) -> Panel:
    """Return what is to be found out, what the lab has, and what counts as evidence."""
    pack, evidence = yours.pack, yours.evidence
    lab = pack.lab
    has = (
        lab.money(lab.budget),
        count_text(lab.days_left, "day"),
        count_text(lab.staff, "staff unit"),
    )
    return blocks.panel(
        "slide_stake",
        study=pack.paper.name,
        goal=stated(pack.paper.goal),
        lab=pack.own_lab.name or f"The {pack.difficulty} lab",
        has=[counted.split(" ", 1) for counted in has],
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
    """Return a plan against its lab: how many checks fail, the seven, its numbers and limits."""
    name, failing = _name(yours), len(yours.failing)
    does = f"fails {failing} of the {len(DIMENSIONS)} checks"
    return blocks.panel(
        "slide_plan",
        title=f"{name} {does if failing else f'passes all {len(DIMENSIONS)} checks'}",
        verdict=_in_noun(plan_verdict(yours), yours),
        stands=_stands(PlanStep(yours, yours)),
    )


def _name(yours: Assessment) -> str:
    own = yours.plan != yours.pack.reference_protocol
    return "Your plan" if own else "The study’s own plan"


def _stands(step: PlanStep, *, breaks: str = "") -> dict[str, object]:
    """Return where a plan stands: its seven dimensions, and its numbers as a step moved them."""
    now = step.after
    samples, *others = amounts(step)
    noun = capitalised(plans.unit_noun(now.pack.design))
    return {
        "breaks": breaks,
        "seven": [
            (capitalised(slack.dimension), Status.PASS if slack.ok else Status.FAIL)
            for slack in now.slack.values()
        ],
        "numbers": [samples._replace(name=noun), *others],
    }


def _in_noun(verdict: Verdict, plan: Assessment) -> Verdict:
    return verdict._replace(text=plans.in_its_noun(verdict.text, plan.pack.design))


def size_words(plan: Assessment) -> str:
    """Return how large a plan is, in its study's noun: ``24 mice (18 analysed) in 22 days``."""
    planned = plan.counts.samples
    noun = plans.unit_noun(plan.pack.design) if planned != 1 else "sample"
    left = analysed_text(planned, plan.evidence.analysed)
    size = f"{amount_text(planned)} {noun}{f' ({left})' if left else ''}"
    return f"{size} in {count_text(plan.counts.days, 'day')}"


# --- what was refused -----------------------------------------------------------------------


def is_refused(negotiation: Negotiation, at: int) -> bool:
    """Return whether the Lab Manager's offer in a round, counted from 0, was not taken."""
    offer = texts.offered_plan(negotiation.rounds[at])
    if offer is None or negotiation.outcome is None:
        return False
    later = negotiation.rounds[at + 1 :]
    return all(done.plan is None or done.plan.plan != offer.plan for done in later)


def refused_slide(negotiation: Negotiation, at: int) -> Panel:
    """Return an offer that was not taken: what it is worth, and what the Scientist did instead."""
    done, offer = negotiation.rounds[at], texts.offered_plan(negotiation.rounds[at])
    if done.plan is None or offer is None:
        raise ValueError("no plan is offered in this round")
    step = PlanStep(done.plan, offer)
    answered = negotiation.rounds[at + 1] if at + 1 < len(negotiation.rounds) else None
    scientist = _Side("has no round left", [], "", [])
    if answered is not None:
        questions = answered.action.questions if answered.action and answered.only_asks else []
        does = "asks for more" if questions else "takes another way"
        scientist = _side(does, [], questions or [answered.reason])
    worth = "no evidence" if offer.evidence.void_reason else offer.evidence.text
    return _two_sides(
        f"Scientist refuses {_short_size(offer)}: {worth}",
        scientist,
        _manager(done),
        PlanStep(step.before, offer),
        breaks=texts.offer_breaks_text(done),
    )


def _short_size(plan: Assessment) -> str:
    noun = plans.unit_noun(plan.pack.design) if plan.counts.samples != 1 else "sample"
    return f"{amount_text(plan.counts.samples)} {noun} in {count_text(plan.counts.days, 'day')}"


def round_slide(negotiation: Negotiation, at: int) -> Panel:
    """Return a round: what changed in it, what each side wants, and the plan on the table.

    Args:
        negotiation: with the round in it.
        at: the round, counted from 0.
    """
    done, before = negotiation.rounds[at], negotiation.state_before(at).plan
    return _two_sides(
        f"Round {at + 1}: the Scientist {texts.turn_title(done).lower()}",
        _scientist(before, done),
        _manager(done),
        PlanStep(before or done.plan, done.plan) if done.plan else None,
        breaks=plans.cautions_sentence(done.plan) if done.plan else "",
    )


def _two_sides(
    title: str,
    scientist: "_Side",
    manager: "_Side | None",
    step: PlanStep | None,
    *,
    breaks: str = "",
) -> Panel:
    short = all(
        len(side.rows) <= _FEW_CHANGES and sum(map(len, side.says)) <= _SHORT
        for side in (scientist, manager)
        if side
    )
    design = step.after.pack.design if step else None

    def worded(side: "_Side | None") -> "_Side | None":
        if side is None or design is None:
            return side
        return side._replace(says=[plans.in_its_noun(text, design) for text in side.says])

    return blocks.panel(
        "slide_round",
        caption=title,
        scientist=worded(scientist),
        manager=worded(manager),
        roomy=short and not breaks,
        stands=_stands(step, breaks=breaks) if step else None,
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
        says = [] if rows else [f"{size_words(plan)}."]
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
        return _side(verdict.title, [], [shortened(answer, _MOST_OF_A_TEXT)], verdict.status)
    offer = texts.offered_plan(done)
    if offer is None:
        return _side(verdict.title, [], [verdict.text], verdict.status)
    step = PlanStep(done.plan, offer)
    price = "; ".join(
        filter(None, (plans.saved_text(step), plans.evidence_text(step), plans.fidelity_move(step)))
    )
    return _side(verdict.title, texts.change_rows(step), [f"{capitalised(price)}."], verdict.status)


def _side(does: str, rows: Rows, says: list[str], status: Status | None = None) -> _Side:
    others = [name.lower() for name, _, _ in rows[_MOST_CHANGES:]]
    return _Side(
        does.lower(),
        rows[:_MOST_CHANGES],
        f"and other {', '.join(others)}" if others else "",
        [text for text in says if text],
        status,
    )


# --- what was given up ----------------------------------------------------------------------


def concession_slide(
    steps: Sequence[Concession], at: int, changes: Iterable[SuggestionChange]
) -> Panel:
    """Return one concession: what it saves, what it loses in numbers and words, and what is left.

    Args:
        steps: every one, in order.
        at: which of them, counted from 0.
        changes: what was suggested, whose words of a loss are shown.
    """
    step = steps[at].step
    design = step.after.pack.design
    [(name, old, new)] = texts.change_rows(step)
    noun = {"sample_size": plans.unit_noun(design), "duration_days": "days"}.get(step.fields[0][0])
    moved = f"{noun} {old.split()[0]} → {new.split()[0]}" if noun else f"other {name.lower()}"
    if step.newly_dropped:
        moved = "a control given up"
    lost = plans.in_its_noun(lost_text(step, changes), design)
    return blocks.panel(
        "slide_concession",
        title=f"Concession {at + 1} of {len(steps)}: {moved}",
        row=None if noun else (name, old, new),
        saves=[capitalised(text) for text in _saved(step)],
        loses=[
            capitalised(text)
            for text in (plans.evidence_text(step), plans.fidelity_move(step))
            if text
        ],
        status=evidence_status(step.after.evidence) if step.evidence_changed else "",
        lost=lost,
        roomy=len(lost) <= _SHORT,
        stands=_stands(step),
    )


def _saved(step: PlanStep) -> Iterator[str]:
    """Yield what a step saves of the lab's means, and which checks then pass."""
    before, after = step.before, step.after
    lab = after.pack.lab
    saved = {
        "credit": step.credits_saved,
        "day": before.counts.days - after.counts.days,
        "staff unit": before.staff - after.staff,
    }
    for noun, number in saved.items():
        if number:
            word = "" if number > 0 else "more"
            is_money = noun == "credit"
            counted = (
                lab.money(abs(number), word) if is_money else count_text(abs(number), noun, word)
            )
            yield counted if number > 0 else f"{counted} needed"
    if passes := [each for each in before.failing if each not in after.failing]:
        yield f"{joined(passes)} then {'passes' if len(passes) == 1 else 'pass'}"
    elif not any(saved.values()):
        yield "nothing"


def ledger_slide(steps: Sequence[Concession], changes: Sequence[SuggestionChange]) -> Panel:
    """Return what was given up, row by row and in all; of many steps each field once."""
    first, last = steps[0].step.before, steps[-1].step.after
    if len(steps) > _MOST_STEPS:
        fields = field_steps(first, last)
        whole = (steps[-1]._replace(step=s, total=PlanStep(first, s.after)) for s in fields)
        steps = [each for each in whole if each.counts] or steps
    saved = PlanStep(first, last).credits_saved
    return blocks.panel(
        "slide_ledger",
        title="What was given up"
        + (f" to save {first.pack.lab.money(saved)}" if saved > 0 else ""),
        ledger=given_up_table(steps, changes),
        roomy=len(steps) <= _FEW_STEPS,
    )


# --- how it ended ---------------------------------------------------------------------------


def outcome_slide(negotiation: Negotiation, verdict: Verdict) -> Panel:
    """Return how it ended: the plan that was agreed, or that none was, and its numbers.

    Args:
        negotiation: as far as it has gone.
        verdict: how it ended, or where it stands.
    """
    judged = [done.plan for done in negotiation.rounds if done.plan is not None]
    known = bool(judged)
    text = plans.in_its_noun(verdict.text, negotiation.pack.design)
    return blocks.panel(
        "slide_outcome",
        title=_ending(negotiation, verdict) if known else verdict.title,
        status="" if negotiation.outcome is None else verdict.status,
        text=text,
        roomy=len(text) <= _SHORT_VERDICT,
        stands=_stands(PlanStep(judged[0], judged[-1])) if known else None,
    )


def _ending(negotiation: Negotiation, verdict: Verdict) -> str:
    """Return how it ended in twelve words at most."""
    plan = negotiation.final_plan
    if plan is None or negotiation.outcome in (None, Outcome.NO_DEAL):
        return f"{verdict.title}: {negotiation.ending or 'no side has ended it'}"
    if negotiation.outcome is Outcome.FALSE_AGREEMENT:
        return f"{verdict.title}: {len(plan.failing)} of the {len(DIMENSIONS)} checks fail"
    worth = "no evidence" if plan.evidence.void_reason else plan.evidence.text
    if negotiation.outcome is Outcome.AGREED_BELOW_FLOOR:
        return f"{verdict.title}: {worth}"
    return f"{verdict.title}: {_short_size(plan)}, {worth}"


def decision_slide(
    here: PlanAnalysis, negotiation: Negotiation | None, decision: str = ""
) -> Panel:
    """Return what is to be decided: what the lab could run, and what more would buy.

    Args:
        here: of the plan that was put forward.
        negotiation: that it came to; None where there was none.
        decision: the note of the saved plan; only its beginning is shown.
    """
    yours, design = here.yours, here.yours.pack.design
    name, run = _to_run(here, negotiation)
    status = evidence_status(run.evidence)
    worth_running = is_worth_running(run)
    asks = [
        (title, plans.in_its_noun(_first_sentences(said[0], _MOST_OF_AN_ASK), design))
        for title, said in take_parts(here, _name(yours))[:_MOST_ASKS]
    ]
    note = shortened(" ".join(decision.split()), _MOST_OF_AN_ASK)
    asked = sum(len(text) for _, text in asks) + len(note)
    return blocks.panel(
        "slide_decision",
        title=_decision(here, run),
        name=name if worth_running else "Nothing here is worth running",
        says=[
            f"{capitalised(size_words(run))} for {run.pack.lab.money(run.cost)}"
            if worth_running
            else plans.in_its_noun(capitalised(best_text(here.least)), design)
        ],
        worth=capitalised(placed_text(run.evidence)) if worth_running else "",
        status=status,
        breaks=capitalised(cautions_text(run)) if worth_running else "",
        bar=evidence_bar(run.evidence, [run.evidence, yours.evidence], yours.evidence),
        decision=note,
        asks=asks,
        roomy=asked <= _FEW_ASKS,
        stands=_stands(PlanStep(run, run)) if worth_running and asked <= _SHORT else None,
    )


def _first_sentences(text: str, most: int) -> str:
    """Return as many of a text's sentences as fit into so many characters; of a long one a part."""
    kept = ""
    for sentence in text.split(". "):
        whole = f"{kept}{'. ' if kept else ''}{sentence}"
        if len(whole) >= most:
            break
        kept = whole
    return ended(kept) if kept else shortened(text, most)


def _to_run(here: PlanAnalysis, negotiation: Negotiation | None) -> tuple[str, Assessment]:
    """Return the plan that is there to be run, with its name: what was agreed, else the best."""
    if negotiation and negotiation.outcome is Outcome.AGREED and negotiation.final_plan:
        return "The agreed plan", negotiation.final_plan
    return "The best plan of this lab", here.least.after


def _decision(here: PlanAnalysis, run: Assessment) -> str:
    if nothing_needed(here):
        return "To decide: run the plan as it is"
    runs = is_worth_running(run)
    if runs and run.evidence.tier is EvidenceTier.MEETS_TARGET:
        return "To decide: run this plan, which meets the target"
    asked = next((s.ask for s in here.asks.singles if s.tier is EvidenceTier.MEETS_TARGET), None)
    if asked and len(asked.text.split()) <= _FEW_WORDS:
        return f"To decide: {asked.text} would reach the target"
    more = here.asks.singles
    if runs:
        return f"To decide: run this plan, or {'find more' if more else 'not'}"
    return f"To decide: {'find more' if more else 'change the study'}, or do not run"
