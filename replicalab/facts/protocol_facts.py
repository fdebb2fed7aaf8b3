"""The Protocol page: its parts as blocks, and the texts of its buttons."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple
from zlib import crc32

from replicalab.assessment import Assessment
from replicalab.facts import blocks, change_facts, check_facts, curve_facts, plan_facts, verdicts
from replicalab.facts.negotiation_facts import step_changes
from replicalab.models import Protocol
from replicalab.negotiation.case import Case
from replicalab.planner import PlanAnalysis, PlanStep, change_steps, deciding_text
from replicalab.planner.curves import Curves
from replicalab.scenarios import EvidenceTier

_MANAGER: Final = "The Lab Manager's changes"


class Repair(NamedTuple):
    """A button that repairs a dimension: its key, label, effect, and the repaired plan."""

    key: str
    label: str
    effect: str
    plan: Protocol


class Tick(NamedTuple):
    """One change of the Lab Manager, and whether it is ticked.

    ``text`` has its effect after the ticked changes before it, or after all if it is not ticked.
    """

    key: str
    on: bool
    text: change_facts.ChangeText


class OtherPlan(NamedTuple):
    """Another plan at an end of the frontier, as blocks."""

    name: str
    shown: blocks.Group
    plan: Protocol


@dataclass(frozen=True)
class ProtocolFacts:
    """The parts of the page; each is built when first read.

    Attributes:
        before: the case before the last edit, if any.
        now: the case on the page.
        left_out: keys of the Lab Manager's changes without a tick.
        per_group: whether the sample size is typed for one group.
    """

    analysis: PlanAnalysis
    before: Case | None
    now: Case
    left_out: Collection[str]
    per_group: bool

    @cached_property
    def _edit(self) -> PlanStep | None:
        yours = self.analysis.yours
        plan = self.before and (self.before.plan or yours.pack.reference_protocol)
        return PlanStep(yours.revised(plan), yours) if plan and plan != yours.plan else None

    @property
    def undone(self) -> str:
        """The edit that Undo takes back."""
        before, now = self.before, self.now
        if self._edit or before is None:
            return step_changes(self._edit) if self._edit else ""
        changes = {
            f"{before.lab} → {now.lab} lab": before.lab != now.lab,
            f"seed {before.seed} → {now.seed}": before.seed != now.seed,
            "change to the lab": before.own_lab != now.own_lab,
            "change to the assumptions": before.question != now.question,
        }
        return ", ".join(text for text, is_new in changes.items() if is_new)

    @property
    def check(self) -> list[blocks.Block]:
        """The last edit, the groups, and the seven dimensions."""
        yours, design = self.analysis.yours, self.analysis.yours.pack.design
        shares = plan_facts.groups_text(yours.plan.sample_size, design, per_group=self.per_group)
        return [
            *([change_facts.edit_sentence(self._edit)] if self._edit else []),
            *([blocks.Sentence(shares)] if shares else []),
            check_facts.check_panel(yours, self.analysis.binding, self.analysis.repairs),
        ]

    @property
    def repairs(self) -> list[Repair]:
        return [
            Repair(
                f"repair_{dimension}",
                change_facts.repair_label(step),
                change_facts.repair_effect(step),
                step.after.plan,
            )
            for dimension, step in self.analysis.repairs.items()
        ]

    @cached_property
    def _changes(self) -> tuple[list[Tick], Assessment]:
        yours, offer = self.analysis.yours, self.analysis.offer
        pack, changes = yours.pack, {}
        for number, change in enumerate(offer.changes if offer else []):
            # The key is made of the change and its lab: a tick never moves to another change.
            parts = (pack.scenario_id, pack.difficulty, pack.seed, number, *dict(change).values())
            changes[f"{crc32(repr(parts).encode()):08x}"] = change
        ticked = [change for key, change in changes.items() if key not in self.left_out]
        steps = change_steps(yours, ticked)
        result = steps[-1].after if steps else yours
        in_turn, ticks = iter(steps), []
        for key, change in changes.items():
            on = key not in self.left_out
            step = next(in_turn) if on else change_steps(result, [change])[0]
            text = change_facts.change_text(step)
            priced = text if on else text._replace(price=f"would add: {text.price}")
            ticks.append(Tick(key, on, priced))
        return ticks, result

    @property
    def ticks(self) -> list[Tick]:
        return self._changes[0]

    @property
    def ticked(self) -> Assessment:
        """The plan with the ticked changes."""
        return self._changes[1]

    @property
    def is_ticked_useful(self) -> bool:
        """Whether the plan with the ticked changes passes and is worth running."""
        below = self.ticked.evidence.tier is EvidenceTier.BELOW_FLOOR
        return self.ticked.feasible and not below

    @property
    def evidence(self) -> blocks.Group:
        """The evidence of the plans next to their cost."""
        yours, ticked, best = self.analysis.yours, self.ticked, self.analysis.least.after
        compared = {check_facts.YOURS: yours}
        if ticked.plan != yours.plan:
            compared[check_facts.CHOSEN] = ticked
        if not best.evidence.void_reason and best.plan not in (yours.plan, ticked.plan):
            compared["Least loss"] = best
        curve = curve_facts.samples_panel(Curves(yours))
        shown = blocks.group(check_facts.evidence_panel(compared), curve)
        return blocks.Group((shown, check_facts.cost_panel(yours, ticked)), in_columns=True)

    @property
    def changes(self) -> tuple[blocks.Group, ...]:
        """The additions to the lab, and the Lab Manager's changes next to the least-loss plan."""
        advice = [change_facts.first_advice(self.analysis)]
        return (
            change_facts.needs_panel(self.analysis),
            blocks.sentences_panel(advice, title="What to change", level=2),
            blocks.Group((self._offered, self._least_panel), in_columns=True),
        )

    @property
    def _offered(self) -> blocks.Group:
        if not self.ticks:
            answer = verdicts.ANSWERS[self.analysis.answer]
            none = "It knows no change that would help." if self.analysis.offer else ""
            return blocks.sentences_panel([answer.text, none], title=_MANAGER, verdict=answer)
        revised = change_facts.revision(PlanStep(self.analysis.yours, self.ticked))
        changes = change_facts.changes_made([tick.text for tick in self.ticks])
        return blocks.Group((blocks.Heading(_MANAGER), revised, changes))

    @property
    def _least_panel(self) -> blocks.Group:
        analysis, loss = self.analysis, self.analysis.least
        is_void = loss.after.evidence.void_reason is not None
        is_extra = analysis.offer is None and bool(loss.changes)
        sentences = [
            change_facts.no_gain_text(analysis),
            "" if is_void else deciding_text(loss.after, analysis.study),
            change_facts.search_text(analysis),
        ]
        title = "What more this lab could do" if is_extra else "The least-loss plan"
        search = blocks.sentences_panel(sentences, title=title)
        summary = blocks.group(search, change_facts.difference_table(analysis))
        if not self.least_plan:
            return summary
        return blocks.Group((summary, change_facts.revision_panel(loss)))

    @property
    def least_plan(self) -> Protocol | None:
        """The least-loss plan, if it has evidence and is another plan."""
        loss = self.analysis.least
        return loss.plan if loss.changes and not loss.after.evidence.void_reason else None

    @property
    def other_plans(self) -> list[OtherPlan]:
        """The cheapest plan and the one with most evidence, if they are other plans."""
        yours, ends = self.analysis.yours, []
        for name, plan in self.analysis.ends.items():
            revised = change_facts.revision(PlanStep(yours, plan))
            ends.append(OtherPlan(name, blocks.Group((blocks.Heading(name), revised)), plan.plan))
        return ends

    @property
    def no_other_plans(self) -> str:
        """The reason if there is no other plan."""
        if self.analysis.least.none_above_floor:
            return "No plan reaches the floor here."
        return "The least-loss plan is also the cheapest, and has the most evidence."
