"""Plans and labs of the golden files, and all sentences about one of them."""

from collections.abc import Iterator
from typing import Final

from replicalab.assessment import assess, assumed_effects
from replicalab.facts import change_facts, plan_facts, verdicts
from replicalab.models import Protocol
from replicalab.planner import PlanAnalysis, PlanStep, change_steps
from replicalab.scenarios import Pack
from tests.factories import make_design, make_pack, make_protocol, make_throughput

# As many samples as controls, so no experimental sample.
UNSOUND: Final = make_protocol(sample_size=2)
# Pays for two days of the smallest plan; the endpoint needs three.
POOR: Final = make_pack(budget=540)
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
    yield "first of all", change_facts.first_advice(options)
    for slack in yours.slack.values():
        rest = plan_facts.slack_text(slack)
        yield (
            slack.dimension,
            plan_facts.used_text(yours, slack) + (f", slack {rest}" if rest else ""),
        )
    yield "staff", plan_facts.staff_text(yours)
    for dimension, reason in yours.reasons_once:
        yield f"why {dimension}", reason
    for name, text in plan_facts.notes(yours):
        yield name.casefold(), text
    yield "assumption", plan_facts.assumption_text(yours)
    for effect in assumed_effects(yours.pack.design):
        yield (
            "assumed",
            f"{plan_facts.effect_label(effect)}: {yours.evidence_at(effect.effect).number}",
        )
    yield "detects", plan_facts.effect_text(yours.detectable_effect)
    if options.offer:
        for step in change_steps(yours, options.offer.changes):
            yield "change", f"{plan_facts.saved_text(step)}; {plan_facts.loss_text(step)}"
    yield "difference", change_facts.no_gain_text(options)
    yield "search", change_facts.search_text(options)
    whole = PlanStep(yours, options.least.after)
    yield "least loss", f"{plan_facts.saved_text(whole)}; {plan_facts.loss_text(whole)}"
    yield "gives up", " ".join(map(plan_facts.protection_text, whole.newly_dropped))
    for title, lines in change_facts.needs_parts(options):
        yield from ((title, line) for line in lines)
