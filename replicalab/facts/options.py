"""What may be done about a plan: the two ways, what is proven, and what it would take."""

from typing import Final

from replicalab.assessment import Assessment, Evidence, phrases
from replicalab.facts.blocks import Group, Heading, Sentence, group, listing
from replicalab.facts.plan import listed, moved_text, with_cautions
from replicalab.facts.units import units_limit_text
from replicalab.lexicon import capitalised, count_text, joined, plural, quoted
from replicalab.models import FIELD_LABELS, Dimension, Protocol
from replicalab.planner import LeastLoss, PlanAnalysis, PlanStep, Shortfall, additions_text
from replicalab.planner.limits import CountLimits
from replicalab.planner.unreached import TargetLimit, why_unreached
from replicalab.scenarios import EvidenceTier, Pack

_BOUNDS: Final = {EvidenceTier.MEETS_TARGET: "target", EvidenceTier.ABOVE_FLOOR: "floor"}

# --- what to do -----------------------------------------------------------------------------


def first_of_all(options: PlanAnalysis) -> str:
    """Return what comes before any change: not to run the study, or to put back a fixed control."""
    yours = options.yours
    fixed = listed("Put back ", [c.name for c in yours.dropped if not c.droppable])
    texts = [
        do_not_run_text(yours.pack),
        f"{fixed}: the study is void without it." if fixed else "",
    ]
    return " ".join(filter(None, texts))


def do_not_run_text(pack: Pack) -> str:
    """Return that a study cannot show anything in so few days, empty where it can."""
    return f"Do not run this here: {_needs_days(pack, 'has')}." if too_short(pack) else ""


def too_short(pack: Pack) -> bool:
    """Return whether the lab has fewer days than the study's endpoint needs."""
    return pack.lab.days_left < pack.min_days


# --- the least-loss plan against the other --------------------------------------------------


def difference_text(options: PlanAnalysis) -> str:
    """Return in one sentence how the least-loss plan differs from the Lab Manager's, or yours."""
    least, offered, after = options.least, options.offered, options.least.after
    if after.evidence.void_reason:
        return f"Nothing to gain here: {_shows_nothing(options)}."
    whose = _whose(offered.plan, options)
    if least.plan == offered.plan:
        if not least.exact:
            return f"No revision of {whose} that gives up less was found."
        within = least_days_text(after.pack) if least.none_above_floor else ""
        none = f"no revision of {whose}{within}{phrases.adding_none(options.yours)} gives up less"
        return f"In this lab {none}."
    step = PlanStep(offered, after)
    sizes = [
        moved_text(offered.counts.samples, after.counts.samples, "sample"),
        moved_text(offered.counts.days, after.counts.days, "day"),
    ]
    size = joined([text for text in sizes if text]) or "other items"
    instead = f"instead of {offered.evidence.number}" if step.evidence_changed else "either way"
    passing = ""  # More evidence means little when a limit breaks.
    if not offered.feasible and not after.feasible:
        passing = f"; {phrases.failing_text(after)} either way"
    elif not offered.feasible:
        failing = phrases.failing_text(offered)
        passing = f"; it passes all seven dimensions, where {failing} otherwise"
    elif EvidenceTier.MEETS_TARGET is offered.evidence.tier is after.evidence.tier:
        saved = step.credits_saved
        passing = f"; either meets the target, and it costs {after.pack.lab.money(saved)} less"
        passing = passing if saved > 0 else ""
    without = listed(", without ", [control.name for control in step.newly_dropped])
    kept = [wish for wish in offered.broken_wishes if wish not in after.broken_wishes]
    wished = f"; it keeps {joined([phrases.kept_text(wish) for wish in kept])}" if kept else ""
    worth = f"{after.evidence.text} {instead}{passing}{wished}"
    return f"Same lab, {size} than {whose}{without}: {worth}."


def _whose(plan: Protocol, options: PlanAnalysis) -> str:
    if plan == options.yours.plan:
        return "your plan"
    if plan == options.offered.plan:
        return "the Lab Manager's plan"
    return f"the least-loss plan, {phrases.size_text(options.least.after)},"


def _shows_nothing(options: PlanAnalysis) -> str:
    """Return why the least-loss plan shows nothing, and first that it passes where it does."""
    least = options.least.after
    pack, why = least.pack, least.evidence.void_reason or ""
    if too_short(pack):
        why = _needs_days(pack, "gives")
    if not least.feasible:
        return why
    return f"{_whose(least.plan, options)} passes all seven dimensions and shows nothing, as {why}"


def _needs_days(pack: Pack, verb: str) -> str:
    if pack.min_days == 1:
        return f"the lab {verb} {phrases.days_text(pack.lab)}"
    needs, has = (
        count_text(pack.min_days, "day"),
        f"{pack.lab.days_left}{phrases.start_text(pack.lab)}",
    )
    return f"the study's endpoint needs {needs}, and the lab {verb} {has}"


# --- what the search has proven -------------------------------------------------------------


def proof_text(least: LeastLoss) -> str:
    """Return what the search has proven; empty when the floor is reached.

    Passing comes first in the order of plans. A plan in fewer days than the endpoint needs shows
    nothing, so of the floor the proof holds for every number of days, of passing it does not.
    """
    plan = least.after
    failing, none = phrases.failing_text(plan), none_passes_text(plan.pack)
    if plan.feasible:
        none = f"No plan for this lab reaches {bound_text(plan.evidence, 'floor')}."
        return none if least.none_above_floor else ""
    if not least.exact:
        return f"The best that was found, not proven to be the best: {failing}."
    kept = _kept_phrases(plan)
    if not kept:
        return f"{capitalised(none)} all seven dimensions: {failing} at best."
    text = "Your wording breaks a restriction, and the search does not change wording. Remove"
    others = [each for each in plan.failing if each is not Dimension.POLICY]
    even = f"; even then {none}: {phrases.failing_text(plan, others)} at best" if others else ""
    return f"{text} {joined(kept)}{even}."


def least_days_text(pack: Pack) -> str:
    """Return the fewest days that were searched: `` of at least 7 days``; empty if any was."""
    if pack.min_days <= 1 or too_short(pack):
        return ""
    return f" of at least {count_text(pack.min_days, 'day')}"


def none_passes_text(pack: Pack) -> str:
    """Return that none of the plans that were searched passes: ``no plan for this lab passes``."""
    return f"no plan{least_days_text(pack)} for this lab passes"


def _kept_phrases(plan: Assessment) -> list[str]:
    """Return what breaks a restriction in texts that the search keeps, and where it stands."""
    return [
        f"'{each.phrase}' from the {FIELD_LABELS[each.field].lower()}"
        for each in plan.violations
        if each.field in ("technique", "rationale")
    ]


def search_text(options: PlanAnalysis) -> str:
    """Return what the search has proven, with what was searched; empty when nothing is missing.

    The search keeps the technique and the rationale, so the proof holds for them.
    """
    least, plan = options.least, options.least.after
    pack, proof = plan.pack, proof_text(least)
    texts = [proof]
    if not least.exact:
        texts.append(
            "Not every combination of the plan's many items and controls could be searched."
        )
    elif proof and not _kept_phrases(plan):
        fewest = f"from {pack.min_days} " if least_days_text(pack) else "up "
        listed_alone = " that the plan lists" if options.yours.dropped else ""
        texts.append(
            f"Searched: every number of days {fewest}to {pack.lab.days_left}, every allowed "
            f"substitution, every set of droppable controls{listed_alone}, every sample size."
        )
    return " ".join(filter(None, texts))


# --- what it would take ---------------------------------------------------------------------


def take_parts(options: PlanAnalysis, name: str = "This plan") -> list[tuple[str, list[str]]]:
    """Return what the lab would have to add: for the plan, for the target, and one thing alone.

    Then what a later start would do, where one buys something. Each part has a title, which is
    empty where nothing is needed; ``name`` is what the plan is called in it.
    """
    if nothing_needed(options):
        goal = bound_text(options.yours.evidence, "target")
        none = f"Nothing: the lab can run the plan as it is, and it reaches {goal}."
        none = with_cautions(none, options.yours)
        return [("", list(filter(None, [none, wasted_text(options.yours)])))]
    parts = [
        (f"{name} as it is", [run_text(options.asks.run), wasted_text(options.yours)]),
        ("The target, with your own items", [target_text(options)]),
        ("One addition, the plan adapted", [*alone_lines(options), alone_text(options)]),
        ("Waiting, the plan adapted", wait_lines(options)),
    ]
    shown = [(title, [text for text in texts if text]) for title, texts in parts]
    return [(title, texts) for title, texts in shown if texts]


def nothing_needed(options: PlanAnalysis) -> bool:
    """Return whether the lab can run the plan as it is and the plan meets the study's target."""
    yours = options.yours
    at_target = yours.evidence.tier is EvidenceTier.MEETS_TARGET
    return yours.feasible and at_target and options.least.plan == yours.plan


def run_text(relief: Shortfall) -> str:
    """Return what it takes together to run a plan exactly as it is."""
    left = phrases.failing_text(relief.judged, relief.left)
    if not relief.asks:
        if relief.possible:
            return with_cautions("Nothing: the lab can run the plan as it is.", relief.judged)
        return f"Nothing that the lab could add is enough: {left} all the same."
    together = capitalised(additions_text(relief.asks))
    if relief.left:
        return f"{together}; but {left} whatever the lab adds."
    return f"{together}: with that the lab can run the plan as it is."


def wasted_text(plan: Assessment) -> str:
    """Return how many samples of a plan are paid for in vain; empty where every one counts.

    Then what to do about it: plan fewer, unless it must have so many, or more days, unless no more
    exist.
    """
    able, planned, limits = plan.evidence.able, plan.counts.samples, CountLimits(plan.pack)
    if able >= planned:
        return ""
    exist = plan.pack.design.population_max
    fewer = able >= limits.fewest_samples(plan.counts.controls)
    longer = exist is None or planned <= exist
    ways = ["no more than these"] if fewer else []
    ways += [count_text(limits.fewest_days(planned), "day")] if longer else []
    plan_them = f"; plan {joined(ways, 'or')}" if ways else ""
    return f"Of its {count_text(planned, 'sample')} only {able:,} can count{plan_them}."


def target_text(options: PlanAnalysis) -> str:
    """Return how many samples and days reach the evidence target, and what that takes."""
    yours, least = options.yours, options.least.after
    goal, relief = bound_text(yours.evidence, "target"), options.asks.target
    if relief is None:
        none = f"With these items and controls no sample size reaches {goal}."
        why = unreached_text(yours), units_limit_text(yours, alone=False)
        return " ".join(filter(None, [none, *why]))
    units = units_limit_text(yours)
    own = with_cautions(_reaching_text(relief, goal), relief.judged)
    own = f"{own} {units}" if units else own
    if not relief.asks:
        return own
    if least.feasible and least.evidence.tier is EvidenceTier.MEETS_TARGET:
        none = "Nothing is needed if you take the least-loss plan."
        return f"{none} With your own items: {own}"
    return own


def _reaching_text(relief: Shortfall, goal: str) -> str:
    """Return how large the plan is that reaches a goal, and what it takes to run it."""
    verb = "reaches" if relief.plan.sample_size == 1 else "reach"
    size, left = (
        f"{phrases.size_text(relief.judged)} {verb} {goal}",
        phrases.failing_text(relief.judged, relief.left),
    )
    if not relief.asks:
        if relief.possible:
            return f"Nothing: {size}, and the lab has the means."
        return f"{size}, but {left} whatever the lab adds."
    still = f"; but {left} all the same" if relief.left else ""
    return f"{size}. That takes {additions_text(relief.asks)}{still}."


def alone_lines(options: PlanAnalysis) -> list[str]:
    """Return each single addition that is enough once the plan is adapted, and that plan.

    With what that plan gives up, and the price of giving up less.
    """
    lines = []
    for single in options.asks.singles:
        after = single.least.after
        goal = bound_text(after.evidence, _BOUNDS[single.tier])
        adapted = _adapted_text(after, options.yours)
        text = with_cautions(f"{capitalised(single.ask.text)}: {adapted}, for {goal}.", after)
        if single.dropped:
            kept = f": {single.kept.text}" if single.kept else " it is not enough"
            text = f"{text} With every control kept{kept}."
        lines.append(text)
    return lines


def _adapted_text(after: Assessment, yours: Assessment) -> str:
    """Return how large a plan is, and what it replaces and does without, against yours."""
    come = [s.alternative for s in after.substitutions if s not in yours.substitutions]
    dropped = [control.name for control in PlanStep(yours, after).newly_dropped]
    changes = listed(", with ", come) + listed(", without ", dropped)
    loss = f" (fidelity loss {after.fidelity_loss} in all)" if after.fidelity_loss else ""
    return f"{phrases.size_text(after)}{changes}{loss if changes else ''}"


def wait_lines(options: PlanAnalysis) -> list[str]:
    """Return each later start that buys something: what it frees and leaves, and the best plan."""
    lines = []
    for wait in options.asks.waits:
        after, free, left = wait.least.after, quoted(wait.items), count_text(wait.days_left, "day")
        are, stay = ("is" if number == 1 else "are" for number in (len(free), wait.days_left))
        start = f"Start on day {wait.start_day:,}{after.pack.lab.dated(wait.start_day)}"
        still = f"; {phrases.failing_text(after)} all the same" if after.failing else ""
        text = (
            f"{start}: {joined(free)} {are} free, {left} {stay} left. Then "
            f"{_adapted_text(after, options.yours)}: {phrases.placed_text(after.evidence)}{still}."
        )
        lines.append(with_cautions(text, after))
    return lines


def alone_text(options: PlanAnalysis) -> str:
    """Return what single additions cannot do, or that none is needed; empty when they can."""
    least, asks = options.least, options.asks
    evidence = least.after.evidence
    reached = evidence.tier if least.after.feasible else EvidenceTier.BELOW_FLOOR
    if reached is EvidenceTier.MEETS_TARGET:
        whose = "your plan" if least.plan == options.yours.plan else "the least-loss plan"
        none = f"Nothing: {whose} reaches {bound_text(evidence, 'target')}."
        return with_cautions(none, least.after)
    missed = ["floor"] if reached is EvidenceTier.BELOW_FLOOR and not asks.alone_floor else []
    missed += [] if asks.alone_target else ["target"]
    goals = joined([bound_text(evidence, bound) for bound in missed], "or")
    return f"No single addition reaches {goals}." if missed else ""


def bound_text(evidence: Evidence, bound: str) -> str:
    """Return the study's target or floor with its number: ``the target of power 0.80``."""
    value = evidence.target if bound == "target" else evidence.floor
    return f"the {bound} of {evidence.text_of(evidence.amount(value))}"


def take_panel(options: PlanAnalysis) -> Group:
    """Return `take_parts` as blocks."""
    parts = [
        group(Heading(title), Sentence(texts[0]) if len(texts) == 1 else listing(texts))
        for title, texts in take_parts(options)
    ]
    return group(Heading("What it would take", 2), group(*parts, beside=True))


def unreached_text(plan: Assessment) -> str:
    """Return which limit keeps the target out of reach; empty where some n reaches it.

    ``All there is, 420 samples, shows power 0.62.``
    """
    found, evidence, units = why_unreached(plan), plan.evidence, plan.pack.design.units
    if found is None:
        return ""
    size = count_text(found.samples, "sample")
    is_all = found.samples == plan.pack.design.population_max
    most = "All there is" if is_all else "All that can be planned here"
    shown = f"{most}, {size}, shows {evidence.measure} {evidence.amount(found.value)}"
    if found.limit is TargetLimit.UNITS and units and found.independent is not None:
        alike = (
            f"in {plural(units.name, 2)} of {units.samples:g} with a correlation of {units.icc:g}"
        )
        alone = evidence.amount(found.independent)
        return f"{shown} {alike}; independent ones would show {alone}."
    return f"{shown}."
