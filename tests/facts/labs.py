"""Plans and labs of the golden files, and all sentences about one of them."""

from collections.abc import Iterator
from typing import Final

from replicalab.assessment import assess, assumed_effects
from replicalab.facts import options as ways
from replicalab.facts import plan, verdicts
from replicalab.models import Protocol
from replicalab.planner import PlanAnalysis, PlanStep, change_steps
from replicalab.scenarios import Pack
from tests.factories import make_design, make_pack, make_protocol, make_throughput

# As many samples as controls, so no experimental sample.
UNSOUND: Final = make_protocol(sample_size=2)
# Pays for two days of the smallest plan; the endpoint needs three.
POOR: Final = make_pack(budget=540)
# Has fewer days than the endpoint needs.
BRIEF: Final = make_pack(days=2)
# Has one of everything, and a population of one case to cover.
LONE: Final = make_pack(
    budget=1, days=1, staff=1, min_days=1, samples_per_day=make_throughput(value=1),
    design=make_design(kind="coverage", effect_published=None, effect_planning=None, sesoi=None,
                       alpha=None, target=1.0, floor=1.0, population_max=1),
)  # fmt: skip
# One sample and no day in which it could count.
IN_VAIN: Final = make_protocol(sample_size=1, duration_days=0, controls=[])


def of(protocol: Protocol, pack: Pack) -> PlanAnalysis:
    return PlanAnalysis(assess(protocol, pack))


def of_reference(pack: Pack) -> PlanAnalysis:
    return of(pack.reference_protocol, pack)


def report_on(options: PlanAnalysis) -> str:
    return "\n".join(f"{name}: {text}" for name, text in _sentences(options) if text)


def _sentences(options: PlanAnalysis) -> Iterator[tuple[str, str]]:
    yours = options.yours
    yield "plan", verdicts.plan_size(yours)
    yield "verdict", " | ".join(verdicts.plan_verdict(yours))
    yield "first of all", ways.first_advice(options)
    for slack in yours.slack.values():
        rest = plan.slack_text(slack)
        yield slack.dimension, plan.used_text(yours, slack) + (f", slack {rest}" if rest else "")
    yield "staff", plan.staff_text(yours)
    for dimension, reason in yours.reasons_once:
        yield f"why {dimension}", reason
    for name, text in plan.notes(yours):
        yield name.casefold(), text
    yield "assumption", plan.assumption_text(yours)
    for effect in assumed_effects(yours.pack.design):
        yield "assumed", f"{plan.effect_label(effect)}: {yours.evidence_at(effect.effect).number}"
    yield "detects", plan.effect_text(yours.detectable_effect)
    if options.offer:
        for step in change_steps(yours, options.offer.changes):
            yield "change", f"{plan.saved_text(step)}; {plan.loss_text(step)}"
    yield "difference", ways.difference_text(options)
    yield "search", ways.search_text(options)
    whole = PlanStep(yours, options.least.after)
    yield "least loss", f"{plan.saved_text(whole)}; {plan.loss_text(whole)}"
    yield "gives up", " ".join(map(plan.protection_text, whole.newly_dropped))
    for title, lines in ways.needs_parts(options):
        yield from ((title, line) for line in lines)
