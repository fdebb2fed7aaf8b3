"""What may be done about a plan: the two ways, what is proven, and what it would take."""

from collections.abc import Iterator
from typing import Final

from replicalab.agents.lab_manager_policy import Offer
from replicalab.assessment import Assessment, Evidence, phrases
from replicalab.facts import changes, texts
from replicalab.facts.blocks import Block, Group, Heading, Sentence, Table, group, listing, table
from replicalab.facts.fact import compared_table, fits_fact, plan_facts
from replicalab.facts.plan import listed, units_limit_text, with_cautions
from replicalab.facts.verdicts import ANSWERS, answer_to, plan_verdict
from replicalab.lexicon import capitalised, count_text, joined, plural, quoted
from replicalab.models import FIELD_LABELS, Dimension
from replicalab.planner import LeastLoss, PlanAnalysis, PlanStep, Shortfall, additions_text
from replicalab.planner.curves import TargetLimit, why_unreached
from replicalab.planner.limits import CountLimits
from replicalab.scenarios import EvidenceTier, Pack

_BOUNDS: Final = {EvidenceTier.MEETS_TARGET: "target", EvidenceTier.ABOVE_FLOOR: "floor"}

# --- what to do -----------------------------------------------------------------------------


def first_of_all(options: PlanAnalysis) -> str:
    """Return what comes before any change: not to run the study, or to put back a fixed control."""
    yours = options.yours
    fixed = joined(quoted([c.name for c in yours.dropped if not c.droppable]))
    put_back = texts.PUT_BACK.format(controls=fixed) if fixed else ""
    return " ".join(filter(None, [do_not_run_text(yours.pack), put_back]))


def do_not_run_text(pack: Pack) -> str:
    """Return that a study cannot show anything in so few days, empty where it can."""
    return texts.DO_NOT_RUN.format(reason=_too_short_text(pack)) if too_short(pack) else ""


def too_short(pack: Pack) -> bool:
    """Return whether the lab has fewer days than the study's endpoint needs."""
    return pack.lab.days_left < pack.min_days


# --- the least-loss plan against the other --------------------------------------------------


def difference_text(options: PlanAnalysis) -> str:
    """Return that the least-loss plan gives up no less, or shows nothing; else its passing."""
    loss, offered, after = options.least, options.offered, options.least.after
    if after.evidence.void_reason:
        return texts.NOTHING_TO_GAIN.format(reason=_shows_nothing(options))
    if loss.plan != offered.plan:
        return ""
    text = texts.YOUR_PLAN if loss.plan == options.yours.plan else texts.MANAGERS_PLAN
    if not loss.exact:
        return texts.NO_LESS_FOUND.format(whose=text)
    within = least_days_text(after.pack) if loss.none_above_floor else ""
    adding = phrases.adding_none(options.yours)
    return texts.NONE_GIVES_UP_LESS.format(whose=text, within=within, adding=adding)


def difference_table(options: PlanAnalysis) -> Table | None:
    """Return the least-loss plan beside the Lab Manager's, or yours; None if they are one."""
    offered, after = options.offered, options.least.after
    if offered.plan == after.plan or after.evidence.void_reason:
        return None
    name = "Your plan" if offered.plan == options.yours.plan else "Lab Manager's plan"
    sides = {name: offered, "Least-loss plan": after}
    facts = {name: [*plan_facts(plan), fits_fact(plan)] for name, plan in sides.items()}
    return compared_table("The least-loss plan beside the other", facts)


def _shows_nothing(options: PlanAnalysis) -> str:
    """Return why the least-loss plan shows nothing, and first that it passes where it does."""
    plan = options.least.after
    pack, why = plan.pack, plan.evidence.void_reason or ""
    if too_short(pack):
        why = _too_short_text(pack)
    if not plan.feasible:
        return why
    text = texts.YOUR_PLAN if plan.plan == options.yours.plan else texts.LEAST_PLAN
    return texts.PASSES_AND_SHOWS_NOTHING.format(whose=text, reason=why)


def _too_short_text(pack: Pack) -> str:
    if pack.min_days == 1:
        return texts.LAB_HAS.format(days=phrases.days_text(pack.lab))
    days = f"{pack.lab.days_left}{phrases.start_text(pack.lab)}"
    return texts.ENDPOINT_NEEDS.format(needs=count_text(pack.min_days, "day"), days=days)


# --- what the search has proven -------------------------------------------------------------


def proof_text(least: LeastLoss) -> str:
    """Return what the search has proven; empty when the floor is reached.

    Passing comes first in the order of plans. A plan in fewer days than the endpoint needs shows
    nothing, so of the floor the proof holds for every number of days, of passing it does not.
    """
    plan = least.after
    failing, none = phrases.failing_text(plan), none_passes_text(plan.pack)
    if plan.feasible:
        floor = bound_text(plan.evidence, "floor")
        return texts.NONE_REACHES.format(floor=floor) if least.none_above_floor else ""
    if not least.exact:
        return texts.BEST_FOUND.format(failing=failing)
    saved = _kept_phrases(plan)
    if not saved:
        return texts.NONE_PASSES.format(none=capitalised(none), failing=failing)
    others = [text for text in plan.failing if text is not Dimension.POLICY]
    failing = phrases.failing_text(plan, others)
    even = texts.EVEN_THEN.format(none=none, failing=failing) if others else ""
    return texts.WORDING_BREAKS.format(phrases=joined(saved), even=even)


def least_days_text(pack: Pack) -> str:
    """Return the fewest days that were searched: `` of at least 7 days``; empty if any was."""
    if pack.min_days <= 1 or too_short(pack):
        return ""
    return f" of at least {count_text(pack.min_days, 'day')}"


def none_passes_text(pack: Pack) -> str:
    """Return that none of the plans that were searched passes: ``no plan for this lab passes``."""
    return texts.NO_PLAN_PASSES.format(days=least_days_text(pack))


def _kept_phrases(plan: Assessment) -> list[str]:
    """Return what breaks a restriction in texts that the search keeps, and where it stands."""
    return [
        texts.PHRASE.format(phrase=violation.phrase, field=FIELD_LABELS[violation.field].lower())
        for violation in plan.violations
        if violation.field in ("technique", "rationale")
    ]


def search_text(options: PlanAnalysis) -> str:
    """Return what the search has proven, with what was searched; empty when nothing is missing.

    The search keeps the technique and the rationale, so the proof holds for them.
    """
    loss, pack = options.least, options.least.after.pack
    proof = proof_text(loss)
    if not loss.exact:
        return f"{proof} {texts.NOT_ALL_SEARCHED}".strip()
    if not proof or _kept_phrases(loss.after):
        return proof
    first = f"from {pack.min_days} " if least_days_text(pack) else "up "
    listed = texts.LISTED_CONTROLS if options.yours.dropped else ""
    searched = texts.SEARCHED.format(first=first, last=pack.lab.days_left, listed=listed)
    return f"{proof} {searched}"


# --- what it would take ---------------------------------------------------------------------


def take_parts(options: PlanAnalysis, name: str = "This plan") -> list[tuple[str, list[str]]]:
    """Return what the lab would have to add: for the plan, for the target, and one thing alone.

    Then what a later start would do, where one buys something. Each part has a title, which is
    empty where nothing is needed; ``name`` is what the plan is called in it.
    """
    if nothing_needed(options):
        goal = bound_text(options.yours.evidence, "target")
        none = with_cautions(texts.NOTHING_NEEDED.format(goal=goal), options.yours)
        return [("", list(filter(None, [none, wasted_text(options.yours)])))]
    parts = [
        (f"{name} as it is", [run_text(options.asks.run), wasted_text(options.yours)]),
        ("The target, with your own items", [target_text(options)]),
        ("One addition, the plan adapted", [*alone_lines(options), alone_text(options)]),
        ("Waiting, the plan adapted", wait_lines(options)),
    ]
    pairs = [(title, [*filter(None, lines)]) for title, lines in parts]
    return [(title, lines) for title, lines in pairs if lines]


def nothing_needed(options: PlanAnalysis) -> bool:
    """Return whether the lab can run the plan as it is and the plan meets the study's target."""
    yours = options.yours
    at_target = yours.evidence.tier is EvidenceTier.MEETS_TARGET
    return yours.feasible and at_target and options.least.plan == yours.plan


def run_text(relief: Shortfall) -> str:
    """Return what it takes together to run a plan exactly as it is."""
    rest = phrases.failing_text(relief.judged, relief.left)
    if not relief.asks:
        can_run = with_cautions(texts.NOTHING_TO_RUN, relief.judged)
        return can_run if relief.possible else texts.NOTHING_ADDED_HELPS.format(failing=rest)
    text = texts.ADDED_BUT_FAILS if relief.left else texts.ADDED
    return text.format(additions=capitalised(additions_text(relief.asks)), failing=rest)


def wasted_text(plan: Assessment) -> str:
    """Return how many samples of a plan are paid for in vain; empty where every one counts.

    Then what to do about it: plan fewer, unless it must have so many, or more days, unless no more
    exist.
    """
    able, planned, limits = plan.evidence.able, plan.counts.samples, CountLimits(plan.pack)
    if able >= planned:
        return ""
    exist = plan.pack.design.population_max
    ways = [texts.NO_MORE] if able >= limits.fewest_samples(plan.counts.controls) else []
    if exist is None or planned <= exist:
        ways.append(count_text(limits.fewest_days(planned), "day"))
    instead = texts.PLAN_INSTEAD.format(ways=joined(ways, "or")) if ways else ""
    samples = count_text(planned, "sample")
    return texts.WASTED.format(samples=samples, able=f"{able:,}", instead=instead)


def target_text(options: PlanAnalysis) -> str:
    """Return how many samples and days reach the evidence target, and what that takes."""
    yours, plan = options.yours, options.least.after
    goal, relief = bound_text(yours.evidence, "target"), options.asks.target
    if relief is None:
        why = unreached_text(yours), units_limit_text(yours, alone=False)
        return " ".join(filter(None, [texts.TARGET_UNREACHED.format(goal=goal), *why]))
    custom = with_cautions(_reaching_text(relief, goal), relief.judged)
    custom = f"{custom} {units_limit_text(yours)}".strip()
    if relief.asks and plan.feasible and plan.evidence.tier is EvidenceTier.MEETS_TARGET:
        return texts.LEAST_IS_ENOUGH.format(own=custom)
    return custom


def _reaching_text(relief: Shortfall, goal: str) -> str:
    """Return how large the plan is that reaches a goal, and what it takes to run it."""
    verb = "reaches" if relief.plan.sample_size == 1 else "reach"
    size = f"{phrases.size_text(relief.judged)} {verb} {goal}"
    if not relief.asks:
        text = texts.REACHED if relief.possible else texts.REACHED_BUT_FAILS
    else:
        text = texts.REACHED_AND_FAILS if relief.left else texts.REACHED_WITH
    failing = phrases.failing_text(relief.judged, relief.left)
    return text.format(size=size, failing=failing, additions=additions_text(relief.asks))


def alone_lines(options: PlanAnalysis) -> list[str]:
    """Return each single addition that is enough once the plan is adapted, and that plan.

    With what that plan gives up, and the price of giving up less.
    """
    lines = []
    for single in options.asks.singles:
        after = single.least.after
        goal = bound_text(after.evidence, _BOUNDS[single.tier])
        adapted = _adapted_text(after, options.yours)
        ask = capitalised(single.ask.text)
        text = with_cautions(texts.ALONE.format(ask=ask, adapted=adapted, goal=goal), after)
        if single.dropped:
            saved = texts.ALL_KEPT.format(ask=single.kept.text) if single.kept else texts.NONE_KEPT
            text = f"{text} {saved}"
        lines.append(text)
    return lines


def _adapted_text(after: Assessment, yours: Assessment) -> str:
    """Return how large a plan is, and what it replaces and does without, against yours."""
    come = [s.alternative for s in after.substitutions if s not in yours.substitutions]
    dropped = [control.name for control in PlanStep(yours, after).newly_dropped]
    changes = listed(", with ", come) + listed(", without ", dropped)
    loss = texts.LOSS_IN_ALL.format(loss=after.fidelity_loss) if after.fidelity_loss else ""
    return f"{phrases.size_text(after)}{changes}{loss if changes else ''}"


def wait_lines(options: PlanAnalysis) -> list[str]:
    """Return each later start that buys something: what it frees and leaves, and the best plan."""
    lines = []
    for wait in options.asks.waits:
        after, free, rest = wait.least.after, quoted(wait.items), count_text(wait.days_left, "day")
        are, stay = ("is" if number == 1 else "are" for number in (len(free), wait.days_left))
        still = texts.STILL.format(failing=phrases.failing_text(after)) if after.failing else ""
        text = texts.WAIT.format(
            day=f"{wait.start_day:,}{after.pack.lab.dated(wait.start_day)}",
            items=f"{joined(free)} {are}",
            left=f"{rest} {stay}",
            adapted=_adapted_text(after, options.yours),
            evidence=phrases.placed_text(after.evidence),
            still=still,
        )
        lines.append(with_cautions(text, after))
    return lines


def alone_text(options: PlanAnalysis) -> str:
    """Return what single additions cannot do, or that none is needed; empty when they can."""
    loss, asks = options.least, options.asks
    evidence = loss.after.evidence
    reached = evidence.tier if loss.after.feasible else EvidenceTier.BELOW_FLOOR
    if reached is EvidenceTier.MEETS_TARGET:
        text = texts.YOUR_PLAN if loss.plan == options.yours.plan else texts.LEAST_PLAN
        goal = bound_text(evidence, "target")
        return with_cautions(texts.REACHED_ALONE.format(whose=text, goal=goal), loss.after)
    missed = ["floor"] if reached is EvidenceTier.BELOW_FLOOR and not asks.alone_floor else []
    missed += [] if asks.alone_target else ["target"]
    goals = joined([bound_text(evidence, bound) for bound in missed], "or")
    return texts.NONE_ALONE.format(goals=goals) if missed else ""


def bound_text(evidence: Evidence, bound: str) -> str:
    """Return the study's target or floor with its number: ``the target of power 0.80``."""
    value = evidence.target if bound == "target" else evidence.floor
    return f"the {bound} of {evidence.text_of(evidence.amount(value))}"


def take_panel(options: PlanAnalysis) -> Group:
    """Return `take_parts` as blocks."""
    parts = [
        group(Heading(title), Sentence(lines[0]) if len(lines) == 1 else listing(lines))
        for title, lines in take_parts(options)
    ]
    return group(Heading("What it would take", 2), group(*parts, beside=True))


def unreached_text(plan: Assessment) -> str:
    """Return which limit keeps the target out of reach; empty where some n reaches it.

    ``All there is, 420 samples, shows power 0.62.``
    """
    unreached, evidence, units = why_unreached(plan), plan.evidence, plan.pack.design.units
    if unreached is None:
        return ""
    size = count_text(unreached.samples, "sample")
    is_all = unreached.samples == plan.pack.design.population_max
    text = texts.ALL_SHOWS if is_all else texts.MOST_SHOWS
    measure = f"{evidence.measure} {evidence.amount(unreached.value)}"
    if unreached.limit is TargetLimit.UNITS and units and unreached.independent is not None:
        alike = texts.ALIKE.format(
            units=plural(units.name, 2), unit=units, alone=evidence.amount(unreached.independent)
        )
        measure = f"{measure} {alike}"
    return text.format(size=size, measure=measure)


# --- all of it ------------------------------------------------------------------------------


def plan_blocks(analysis: PlanAnalysis) -> Iterator[Block | str | None]:
    """Yield the offer, the least-loss plan and what the lab lacks, change by change."""
    loss, offer = analysis.least, analysis.offer
    yield first_of_all(analysis)
    if offer:
        yield Heading("The Lab Manager's changes")
        yield ANSWERS[answer_to(analysis)].text
        yield from _changes(analysis, offer)
    yield Heading("The least-loss plan")
    yield difference_text(analysis)
    yield difference_table(analysis)
    yield search_text(analysis)
    if not loss.after.evidence.void_reason:
        yield from _changes(analysis, loss)
    for name, end in analysis.ends.items():
        whole = changes.revision_text(PlanStep(analysis.yours, end))
        yield Heading(name)
        yield Sentence(whole.size, status=plan_verdict(end).status)
        yield whole.total
    yield take_panel(analysis)


def _changes(analysis: PlanAnalysis, revised: LeastLoss | Offer) -> Iterator[Block | str | None]:
    """Yield a revised plan, then each change with its price and its reason."""
    made = [
        *map(
            changes.change_text,
            changes.all_changes(analysis.yours, revised.changes, analysis.known),
        )
    ]
    if not made:
        return
    whole = changes.revision_text(PlanStep(analysis.yours, revised.after))
    yield Sentence(whole.size, status=plan_verdict(revised.after).status)
    yield from (whole.still, whole.breaks, whole.total)
    rows = [(change.title, change.price, f"{change.why} {change.lost}") for change in made]
    yield table("Changes", ("Change", "Saves and loses", "Why, and what is lost"), rows)
