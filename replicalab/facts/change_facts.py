"""Changes to a plan and additions to its lab, as sentences, tables and panels."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from replicalab import lexicon, planner
from replicalab.agents import SuggestionChange
from replicalab.agents.lab_manager_policy import Offer
from replicalab.assessment import Assessment, Evidence, phrases
from replicalab.assessment.dimensions import DROPPED
from replicalab.facts import blocks, check_facts, plan_facts, texts, verdicts
from replicalab.facts.negotiation_facts import change_rows, signed_credits, step_changes
from replicalab.models import FIELD_LABELS, NUMBER_FIELDS
from replicalab.planner.curves import Curves
from replicalab.planner.least_loss import field_steps
from replicalab.scenarios import EvidenceTier, Pack


def first_advice(analysis: planner.PlanAnalysis) -> str:
    """Return advice to read first: do not run the plan, or put back a control that must stay."""
    yours, reason = analysis.yours, too_short_text(analysis.yours.pack)
    fixed = plan_facts.listed("", [c.name for c in yours.dropped if not c.droppable])
    advice = [texts.DO_NOT_RUN.format(reason=reason)] if reason else []
    return " ".join([*advice, *([texts.PUT_BACK.format(controls=fixed)] if fixed else [])])


def too_short_text(pack: Pack) -> str:
    """Say that the lab has too few days for the study's endpoint; empty if it has enough."""
    remaining, needs = pack.lab.days_left, lexicon.count_text(pack.min_days, "day")
    if remaining >= pack.min_days:
        return ""
    days = f"{remaining}{pack.lab.start_text}"
    return texts.ENDPOINT_NEEDS.format(needs=needs, days=days)


def no_evidence_text(analysis: planner.PlanAnalysis) -> str:
    """Say that the least-loss plan has no evidence; empty if it has some."""
    after = analysis.least.after
    if after.evidence.void_reason is None:
        return ""
    reason = too_short_text(after.pack) or after.evidence.void_reason
    return texts.NOTHING_TO_GAIN.format(reason=reason)


def no_gain_text(analysis: planner.PlanAnalysis) -> str:
    """Say that the least-loss plan has no evidence, or is no better than the offer; else empty."""
    loss, after = analysis.least, analysis.least.after
    if text := no_evidence_text(analysis):
        return text
    if loss.plan != analysis.offered.plan:
        return ""
    if not loss.exact:
        return texts.NO_BETTER_FOUND
    within = least_days_text(after.pack) if loss.none_above_floor else ""
    return texts.NONE_BETTER.format(within=within, adding=analysis.yours.no_control_text)


def difference_table(analysis: planner.PlanAnalysis) -> blocks.Table | None:
    """Return the least-loss plan next to the offer, or else your plan; None if they are equal."""
    offered, after = analysis.offered, analysis.least.after
    if offered.plan == after.plan or after.evidence.void_reason:
        return None
    name = check_facts.YOURS if offered.plan == analysis.yours.plan else "Lab Manager's plan"
    return check_facts.plans_table({name: offered, "Least-loss plan": after})


def proof_text(least: planner.LeastLoss) -> str:
    """Return the proof that no plan passes or reaches the floor; empty when one does.

    Too few days for the endpoint give no evidence, so the proof for the floor covers all days; that
    for passing covers the searched days.
    """
    plan = least.after
    failing = plan.fails_text
    if plan.feasible:
        floor = bound_text(plan.evidence, "floor")
        return texts.NONE_REACHES.format(floor=floor) if least.none_above_floor else ""
    if not least.exact:
        return texts.BEST_FOUND.format(failing=failing)
    if any(violation.field in ("technique", "rationale") for violation in plan.violations):
        return texts.WORDING_BREAKS
    return texts.NONE_PASSES.format(days=least_days_text(plan.pack), failing=failing)


def least_days_text(pack: Pack) -> str:
    """Return the fewest days that were searched: `` of at least 7 days``; empty if all were."""
    if pack.min_days <= 1 or too_short_text(pack):
        return ""
    return f" of at least {lexicon.count_text(pack.min_days, 'day')}"


def search_text(analysis: planner.PlanAnalysis) -> str:
    """Return the proof and the plans searched; empty if a plan passes and reaches the floor."""
    proof = proof_text(analysis.least)
    searched = texts.SEARCHED if proof else ""
    return f"{proof} {searched if analysis.least.exact else texts.NOT_ALL_SEARCHED}".strip()


def needs_parts(analysis: planner.PlanAnalysis) -> list[tuple[str, list[str]]]:
    """Return titles and lines: additions for this plan, for the target, one alone, later starts."""
    yours = analysis.yours
    if nothing_needed(analysis):
        goal = bound_text(yours.evidence, "target")
        parts = {"": [texts.NOTHING_NEEDED.format(goal=goal), wasted_text(yours)]}
    else:
        parts = {
            "This plan as it is": [run_text(yours), wasted_text(yours)],
            "Target with your items": [target_text(analysis)],
            "If you could add one thing": [*single_addition_lines(analysis)],
            "If you start later": [*_wait_lines(analysis)],
        }
    return [(title, [*filter(None, lines)]) for title, lines in parts.items() if any(lines)]


def run_text(plan: Assessment, name: str = "this plan") -> str:
    """Return all additions with which the lab can run a plan."""
    additions = _additions(planner.shortfall_of(plan), "no additions")
    return texts.RUN_TAKES.format(plan=name, additions=additions)


def nothing_needed(analysis: planner.PlanAnalysis) -> bool:
    """Return whether the lab can run the plan as it is and the plan meets the study's target."""
    yours = analysis.yours
    at_target = yours.evidence.tier is EvidenceTier.MEETS_TARGET
    return yours.feasible and at_target and analysis.least.plan == yours.plan


def _additions(relief: planner.Shortfall, none: str) -> str:
    failing = phrases.failing_text(relief.judged.pack, relief.failing)
    but = texts.BUT_FAILS.format(failing=failing) if relief.failing else ""
    return f"{planner.additions_text(relief.asks) or none}{but}"


def wasted_text(plan: Assessment) -> str:
    """Return the number of samples that can count, and the limit; empty if all count."""
    usable, planned = plan.evidence.usable, plan.counts.samples
    if usable >= planned:
        return ""
    why = plan_facts.counting_text(plan)
    samples = lexicon.count_text(planned, plan.pack.design.sample_noun)
    because = f" ({why})" if why else ""
    return texts.WASTED.format(samples=samples, usable=f"{usable:,}", why=because)


def target_text(analysis: planner.PlanAnalysis) -> str:
    """Return the samples and days that reach the target, and the additions for them."""
    yours, relief = analysis.yours, analysis.asks.target
    goal, units = bound_text(yours.evidence, "target"), plan_facts.units_limit_text(yours)
    if relief is None:
        none = texts.TARGET_UNREACHED.format(goal=goal)
        return " ".join(filter(None, (none, unreached_text(yours), units)))
    size, additions = relief.judged.size_text, _additions(relief, "nothing more")
    reached = texts.REACHED.format(size=size, goal=goal, additions=additions)
    return f"{plan_facts.with_cautions(reached, relief.judged)} {units}".strip()


def single_addition_lines(analysis: planner.PlanAnalysis) -> Iterator[str]:
    """Yield each single addition that is enough once the plan is adapted, and that plan."""
    for single in analysis.asks.singles:
        after = single.least.after
        ask, adapted = lexicon.capitalised(single.ask.text), adapted_text(after, analysis.yours)
        bound = "target" if single.tier is EvidenceTier.MEETS_TARGET else "floor"
        goal = bound_text(after.evidence, bound)
        yield plan_facts.with_cautions(f"{ask}: {adapted}, for {goal}.", after)
    least, asks = analysis.least.after, analysis.asks
    reached = least.evidence.tier if least.feasible else EvidenceTier.BELOW_FLOOR
    if reached is EvidenceTier.MEETS_TARGET:
        goal = bound_text(least.evidence, "target")
        owner = "your plan" if least.plan == analysis.yours.plan else "the least-loss plan"
        yield plan_facts.with_cautions(f"Nothing: {owner} reaches {goal}.", least)
        return
    missed = ["floor"] if reached is EvidenceTier.BELOW_FLOOR and not asks.alone_floor else []
    missed += [] if asks.alone_target else ["target"]
    if missed:
        goals = lexicon.joined([bound_text(least.evidence, bound) for bound in missed], "or")
        yield f"No single addition reaches {goals}."


def adapted_text(after: Assessment, yours: Assessment) -> str:
    """Return the size of a plan, with its new items, dropped controls and fidelity loss."""
    new = [s.alternative for s in after.substitutions if s not in yours.substitutions]
    dropped = [control.name for control in planner.PlanStep(yours, after).newly_dropped]
    changes = plan_facts.listed(" with ", new) + plan_facts.listed(" without ", dropped)
    loss = f" (fidelity loss {after.fidelity_loss})" if changes and after.fidelity_loss else ""
    return f"{after.size_text}{changes}{loss}"


def _wait_lines(analysis: planner.PlanAnalysis) -> Iterator[str]:
    for wait in analysis.asks.waits:
        after = wait.least.after
        day = f"{wait.start_day:,}{after.pack.lab.dated(wait.start_day)}"
        items = lexicon.joined(lexicon.quoted(wait.items))
        days = lexicon.count_text(after.pack.lab.days_left, "day")
        evidence = after.evidence.placed_text
        still = f"; {after.still_fails_text}" if after.failing else ""
        text = f"Start on day {day}, with {items} free and {days} left: "
        text += f"{adapted_text(after, analysis.yours)}; {evidence}{still}."
        yield plan_facts.with_cautions(text, after)


def bound_text(evidence: Evidence, bound: str) -> str:
    """Return the study's target or floor with its number: ``the target of power 0.80``."""
    value = evidence.target if bound == "target" else evidence.floor
    return f"the {bound} of {evidence.text_of(evidence.format(value))}"


def needs_panel(analysis: planner.PlanAnalysis) -> blocks.Group:
    """Return `needs_parts` as blocks."""
    parts = [
        blocks.group(
            blocks.Heading(title),
            blocks.Sentence(lines[0]) if len(lines) == 1 else blocks.listing(lines),
        )
        for title, lines in needs_parts(analysis)
    ]
    return blocks.group(
        blocks.Heading("What it would take", 2), blocks.group(*parts, in_columns=True)
    )


def unreached_text(plan: Assessment) -> str:
    """Return the evidence of the largest sample if the target is out of reach; else empty."""
    if (unreached := Curves(plan).why_unreached) is None:
        return ""
    size = lexicon.count_text(unreached.samples, plan.pack.design.sample_noun)
    value = plan.evidence.text_of(plan.evidence.format(unreached.value))
    return f"Largest sample: {size}, {value}."


def plan_blocks(analysis: planner.PlanAnalysis) -> Iterator[blocks.Block | str | None]:
    """Yield the offer, the least-loss plan and the lab's shortfalls, change by change."""
    loss, offer = analysis.least, analysis.offer
    yield first_advice(analysis)
    if offer:
        yield blocks.Heading("The Lab Manager's changes")
        yield verdicts.ANSWERS[analysis.answer].text
        yield revision_panel(offer)
    yield blocks.Heading("The least-loss plan")
    yield no_gain_text(analysis)
    yield difference_table(analysis)
    yield search_text(analysis)
    if not loss.after.evidence.void_reason:
        yield revision_panel(loss)
    for name, end in analysis.ends.items():
        yield blocks.Heading(name)
        yield revision(planner.PlanStep(analysis.yours, end))
    yield needs_panel(analysis)


class ChangeText(NamedTuple):
    """A suggested change in words."""

    field: str
    title: str
    price: str
    loss: str  # with its reason


def change_text(step: planner.PlanStep) -> ChangeText:
    """Return the suggested change of a step in words."""
    change = step.change
    if change is None:
        raise ValueError("a step without a suggested change has no words for it")
    field = step.after.pack.study.term(FIELD_LABELS[change.field])
    old, new = (
        f"{int(value):,}" if change.field in NUMBER_FIELDS else value
        for value in (change.original, change.revised)
    )
    loss = f"{change.reason} {change.tradeoff} {plan_facts.newly_broken_text(step)}".strip()
    price = f"{plan_facts.saved_text(step)} · {plan_facts.loss_text(step)}"
    return ChangeText(field, f"{field}: {old} → {new}", price, loss)


def changes_made(texts: Iterable[ChangeText]) -> blocks.Table:
    """Return suggested changes; a page unfolds the loss of each."""
    rows = [
        (blocks.Cell(text.title, more=blocks.Sentence(text.loss)), text.price) for text in texts
    ]
    return blocks.table("Changes", ("Change", "Saves and loses"), rows, kind="changes")


def revision(whole: planner.PlanStep) -> blocks.Group:
    """Return a revised plan: size, failing checks, cautions, and the gain."""
    after, lab = whole.after, whole.after.pack.lab
    cost = f"{lexicon.amount_text(after.cost)} of {lab.money(lab.budget)}"
    failing = f"{after.still_fails_text}." if after.failing else ""
    size = f"{after.size_text}, {cost}, {after.evidence.text}."
    cautions = plan_facts.cautions_sentence(after)
    return blocks.group(
        blocks.Sentence(lexicon.capitalised(failing), size, verdicts.status_and_tier(after)[0]),
        blocks.Sentence(cautions, status=blocks.Status.CAUTION) if cautions else None,
        blocks.Sentence(f"In all: {plan_facts.saved_text(whole)} · {plan_facts.loss_text(whole)}"),
    )


def revision_panel(revised: planner.LeastLoss | Offer) -> blocks.Group:
    """Return a revision of a plan; its changes are folded."""
    made = list(map(change_text, planner.change_steps(revised.before, revised.changes)))
    folded = blocks.Fold(lexicon.count_text(len(made), "change"), (changes_made(made),))
    whole = revision(planner.PlanStep(revised.before, revised.after))
    return blocks.group(whole, folded if made else None)


def repair_label(step: planner.PlanStep) -> str:
    """Return a label for a button that repairs a dimension: ``Use the spare``."""
    old, new = (
        [item for items in side if isinstance(items, tuple) for item in items]
        for side in zip(*((old, new) for _, old, new in step.fields), strict=True)
    )
    if not (old or new):
        return step_changes(step)
    return f"Use {lexicon.joined(new)}" if new else f"Drop {lexicon.joined(old)}"


def repair_effect(step: planner.PlanStep) -> str:
    """Return the effect of such a button: credits, evidence and tier, and new failures."""
    after = step.after
    new = [name for name in after.failing if name not in step.before.failing]
    parts = [plan_facts.saved_text(step), after.evidence.placed_text]
    parts += [lexicon.capitalised(phrases.failing_text(after.pack, new))] if new else []
    return " · ".join(parts)


def edit_sentence(step: planner.PlanStep) -> blocks.Sentence:
    """Return an edit, its saving and its loss; items of one field by name."""
    moved = (
        f"{signed_credits(step)} {step.after.pack.lab.currency}, {plan_facts.evidence_text(step)}"
    )
    edit = repair_label(step) if len(step.fields) == 1 else step_changes(step)
    return blocks.Sentence(f"{edit}: {moved}." if edit else f"{moved}.")


def changes_table(before: Assessment, after: Assessment) -> blocks.Table:
    """Return each change from the reference protocol and its price, one after the other."""
    steps = field_steps(before, after)
    rows = []
    for step in steps:
        [(name, *values)], [(_, *numbers)] = change_rows(step), step.fields
        cells = (
            blocks.Cell(lexicon.lines_text([text]), value if isinstance(value, int) else None)
            for text, value in zip(values, numbers, strict=True)
        )
        rows.append(blocks.row(name, *cells, *_effects(step)))
    if totals := int(len(steps) > 1):
        rows.append(blocks.row("In all", "", "", *_effects(planner.PlanStep(before, after))))
    caption = "Changes from the reference protocol, one after the other"
    cost = lexicon.capitalised(after.pack.lab.currency)
    names = ("Field", "Reference", "This plan", cost, "Evidence")
    return blocks.table(caption, names, rows, totals=totals)


def _effects(step: planner.PlanStep) -> tuple[blocks.Cell, blocks.Cell]:
    old, new = step.before.evidence, step.after.evidence
    moved = f"{old.number} → {new.number}" if step.evidence_changed else "unchanged"
    worth = ", ".join(filter(None, (moved, plan_facts.fidelity_move(step))))
    return blocks.Cell(signed_credits(step), -step.credits_saved), blocks.Cell(worth)


def reasons_table(
    options: planner.PlanAnalysis, reference: Assessment, answers: Mapping[str, str]
) -> blocks.Table:
    """Return each change of the reference protocol with its reasons, also ``answers``, and loss."""
    analysis = planner.PlanAnalysis(reference)
    changes = [("Planner", change) for change in analysis.least.changes]
    offered = analysis.offer.changes if analysis.offer else ()
    changes += [("Lab Manager", change) for change in offered]
    rows = []
    for step in field_steps(reference, options.yours):
        [(name, _, _)], [(field, _, _)] = change_rows(step), step.fields
        made = {(c.original, c.revised): (who, c) for who, c in changes if _makes(c, step)}
        theirs = [f"{who}: {change.reason}" for who, change in made.values()]
        why = " ".join(dict.fromkeys(filter(None, (answers.get(field, ""), *theirs))))
        lost = lost_text(step, [change for _, change in made.values()])
        rows.append(blocks.row(name, why or lexicon.capitalised(blocks.NOT_GIVEN), lost or "–"))
    return blocks.table("Why, and the loss", ("Field", "Reason", "Loss"), rows)


def lost_text(step: planner.PlanStep, changes: Iterable[SuggestionChange]) -> str:
    """Return the losses of a step of one field, as suggested ``changes`` name them, or empty."""
    dropped = {lexicon.label_key(control.name) for control in step.newly_dropped}
    lost = [
        change.tradeoff
        for change in changes
        if _makes(change, step) and lexicon.label_key(change.original) not in dropped
    ]
    lost += [
        *map(plan_facts.protection_text, step.newly_dropped),
        plan_facts.newly_broken_text(step),
    ]
    if not any(lost) and step.evidence_falls:
        lost = [f"{lexicon.capitalised(plan_facts.evidence_text(step))}."]
    return " ".join(dict.fromkeys(filter(None, lost)))


def _makes(change: SuggestionChange, step: planner.PlanStep) -> bool:
    [(field, old, new)] = step.fields
    if change.field != field:
        return False
    if isinstance(old, tuple) and isinstance(new, tuple):
        return change.original in old and (change.revised in new or change.revised == DROPPED)
    return (str(old), str(new)) == (change.original, change.revised)
