"""A registration form filled in: what core, study file and author answer, item by item.

Nothing is invented: an item that none of the three answers is not given, and what only looks
likely is a proposal, which does not count until the author confirms it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from replicalab.assessment import Assessment, assumed_effects
from replicalab.assessment.phrases import last_day_text
from replicalab.critique import who_asks
from replicalab.lexicon import capitalised, ended, is_given, joined, label_key, lines_text
from replicalab.planner import PlanAnalysis
from replicalab.planner.steps import field_steps
from replicalab.registration import SAMENESS, Finder, FormItem, Profile, Registration
from replicalab.views import blocks, documents
from replicalab.views import plan as texts
from replicalab.views.blocks import NOT_GIVEN, Cell, Document, Sentence, Status, listing, part
from replicalab.views.budget import TITLE as BUDGET_TITLE
from replicalab.views.budget import budget_blocks, budget_lines
from replicalab.views.changes import edit_sentence
from replicalab.views.lab import lab_text
from replicalab.views.looks import looked_text, stopping_text
from replicalab.views.options import take_parts
from replicalab.views.original import (
    counts_text,
    interval_text,
    reported_text,
    worked_out_interval_text,
)
from replicalab.views.success import chosen_text
from replicalab.views.units import groupings
from replicalab.views.verdicts import plan_size, plan_verdict

if TYPE_CHECKING:
    from replicalab.library import Decision


@dataclass(frozen=True)
class Registered:
    """What a registration is of.

    Attributes:
        options: the plan in its lab, and what may be done about it.
        said: what its author answers.
        decision: the latest for or against the plan, None where none is recorded.
    """

    options: PlanAnalysis
    said: Registration
    decision: Decision | None = None

    @property
    def plan(self) -> Assessment:
        """The plan as it is judged."""
        return self.options.yours


class FormAnswer(NamedTuple):
    """An item of a form, answered or not.

    Attributes:
        item: the item.
        found: what answers it, and who: each alone; empty where nobody does.
        proposal: the option that looks likely, and why; no answer.
    """

    item: FormItem
    found: tuple[tuple[Finder, str], ...]
    proposal: tuple[str, str] | None = None

    @property
    def is_given(self) -> bool:
        """Whether anybody answers it."""
        return bool(self.found)

    @property
    def text(self) -> str:
        """The answer as a form takes it; empty where there is none."""
        return "\n\n".join(text for _, text in self.found)


def answers_of(profile: Profile, registered: Registered) -> tuple[FormAnswer, ...]:
    """Return every item of a form, in its order."""
    return tuple(_answer(item, registered) for item in profile.items)


def _answer(item: FormItem, registered: Registered) -> FormAnswer:
    key, said = item.question.key, registered.said.answer(item.question.key)
    known = _KNOWN[key](registered) if key in _KNOWN else ()
    found = [(who, text) for who, text in known if is_given(text)]
    if said:
        # The author's words take the place of the file's; what was worked out stays.
        found = [(who, text) for who, text in found if who is Finder.CORE]
        found.append((Finder.AUTHOR, said))
    proposed = _PROPOSED[key](registered.plan) if key in _PROPOSED and not said else None
    return FormAnswer(item, tuple(found), proposed)


def left_text(answers: Iterable[FormAnswer]) -> str:
    """Return how many items are answered, and how many of those left a form insists on."""
    all_of = list(answers)
    left = [each for each in all_of if not each.is_given]
    if not left:
        return f"All {len(all_of)} items are answered."
    required = sum(each.item.required for each in left)
    must = f", {required} of which the form requires" if required else ""
    return (
        f"{len(all_of) - len(left)} of {len(all_of)} items are answered; {len(left)} are not{must}."
    )


# --- what is known ----------------------------------------------------------------------------

Known = Iterable[tuple[Finder, str]]


def _of_study(read: Callable[[Assessment], str]) -> Callable[[Registered], Known]:
    return lambda registered: [(Finder.STUDY, read(registered.plan))]


def _of_core(read: Callable[[Assessment], str]) -> Callable[[Registered], Known]:
    return lambda registered: [(Finder.CORE, read(registered.plan))]


def _original_effect(plan: Assessment) -> str:
    design, effect = plan.pack.design, plan.evidence.row.effect
    published = ""
    if design.original:
        published = reported_text(design, design.original)
    elif effect and design.effect_published is not None:
        published = f"{capitalised(effect.name)} {texts.effect_text(design.effect_published)}."
    given = plan.pack.paper.published
    return " ".join(filter(None, (published, given if is_given(given) else "")))


def _original_interval(registered: Registered) -> Known:
    design = registered.plan.pack.design
    if design.original and (reported := interval_text(design.original)):
        yield Finder.STUDY, f"{capitalised(reported)}."
    else:
        yield Finder.CORE, worked_out_interval_text(design)


def _original_n(plan: Assessment) -> str:
    original = plan.pack.design.original
    counts = counts_text(original) if original else ""
    return f"{capitalised(counts)}." if counts else ""


def _design(plan: Assessment) -> str:
    design, row = plan.pack.design, plan.evidence.row
    groups = texts.groups_text(plan.counts.samples, design, per_group=True)
    shared = (text for _, text in groupings(design).values())
    parts = (row.title, f"n counts {design.unit_of_n}", groups.rstrip("."), *shared)
    return ended("; ".join(filter(None, parts)))


def _size(plan: Assessment) -> str:
    noun = texts.unit_noun(plan.pack.design)
    parts = (f"{plan.counts.samples:,} {noun}.", texts.dropout_text(plan))
    return " ".join(filter(None, parts))


def _rationale(registered: Registered) -> Known:
    plan, reason = registered.plan, registered.said.reasons.get("sample_size", "")
    evidence = plan.evidence
    target, floor = evidence.amount(evidence.target), evidence.amount(evidence.floor)
    worth = f"{capitalised(evidence.text)}, where {target} is aimed for and {floor} is the least."
    told = (worth, looked_text(plan), texts.assumption_text(plan))
    yield Finder.CORE, " ".join(filter(None, told))
    if reason:
        yield Finder.AUTHOR, reason


def _inference(plan: Assessment) -> str:
    design, row = plan.pack.design, plan.evidence.row
    level = f", alpha {design.alpha:g} ({row.level})" if design.alpha and row.sought else ""
    return ended(f"The sample is planned for {row.method_of(design)}{level}")


def _sensitivity(plan: Assessment) -> str:
    evidence, row = plan.evidence, plan.evidence.row
    found = []
    if row.sought and (least := plan.detectable_effect) is not None:
        target = evidence.amount(evidence.target)
        found.append(
            f"{capitalised(row.sought)} with {row.measure} {target}: {texts.effect_text(least)}."
        )
    for effect in assumed_effects(plan.pack.design):
        worth = plan.evidence_at(effect.effect)
        found.append(f"{capitalised(texts.effect_label(effect))}: {worth.text}.")
    return " ".join(found)


def _controls(plan: Assessment) -> str:
    protects = {control.name: control.protects_against for control in plan.pack.controls}
    listed = [
        f"{name} (against {protects[name]})" if name in protects else name
        for name in plan.plan.controls
    ]
    return ended("; ".join(listed)) if listed else "The plan has no controls."


def _differences(plan: Assessment) -> str:
    swapped = [
        f"{swap.alternative} in place of {swap.original}: {ended(swap.tradeoff)}"
        for swap in plan.substitutions
    ]
    return lines_text([*swapped, *texts.dropped_cautions(plan)])


def _success(registered: Registered) -> Known:
    pack = registered.plan.pack
    yield (
        Finder.STUDY,
        lines_text(each for each in pack.success_criteria if is_given(each)),
    )
    if chosen := pack.design.replication:
        yield who_asks(pack, "replication"), chosen_text(chosen, pack.design)


def _stopping(registered: Registered) -> Known:
    plan = registered.plan
    if plan.pack.design.is_looked_at:
        yield who_asks(plan.pack, "looks"), f"{texts.looks_text(plan.pack.design.looks)}."
        yield Finder.CORE, stopping_text(plan)


def _dates(plan: Assessment) -> str:
    days = plan.counts.days
    return f"{days:,} days{last_day_text(plan)}."


def _decided(registered: Registered) -> Known:
    if registered.decision:
        yield Finder.AUTHOR, ended(f"{registered.decision.name}. {registered.decision.why.strip()}")


def _budget(plan: Assessment) -> str:
    lab = plan.pack.lab
    terms = [
        f"{term.label}: {texts.term_text(term)} = {lab.money(term.credits)}."
        for term in plan.cost_terms
    ]
    total = f"In all {lab.money(plan.cost)} of {lab.money(lab.budget)}."
    return lines_text([*terms, total, "By category:", *budget_lines(plan)])


def _resources(plan: Assessment) -> str:
    lists = {"Equipment": plan.plan.required_equipment, "Materials": plan.plan.required_reagents}
    return lines_text(f"{name}: {'; '.join(labels)}." for name, labels in lists.items() if labels)


def _cuts(registered: Registered) -> Known:
    """Yield each change from the study's own plan; where it is that, what asks for least."""
    plan, reference = registered.plan, documents.reference_of(registered.plan)
    lead, steps = "From the study’s own plan:", field_steps(reference, plan)
    if not steps:
        lead, steps = "To fit this lab:", field_steps(plan, registered.options.least.after)
    if steps:
        yield Finder.CORE, lines_text([lead, *(edit_sentence(step).text for step in steps)])


def _shortfall(registered: Registered) -> Known:
    lines = (
        f"{title}: {text}" if title else text
        for title, found in take_parts(registered.options)
        for text in found
    )
    yield Finder.CORE, lines_text(lines)


_KNOWN: Final[Mapping[str, Callable[[Registered], Known]]] = {
    "effect": _of_study(lambda plan: plan.pack.paper.key_finding),
    "original_effect": _of_study(_original_effect),
    "original_interval": _original_interval,
    "original_n": _of_study(_original_n),
    "original_administration": _of_study(lambda plan: plan.pack.paper.method),
    "differences": _of_study(_differences),
    "question": _of_study(lambda plan: plan.pack.paper.goal),
    "hypotheses": _of_study(lambda plan: plan.pack.paper.hypothesis),
    "design": _of_core(_design),
    "controls": _of_core(_controls),
    "sample_size": _of_core(_size),
    "sample_rationale": _rationale,
    "inference": _of_core(_inference),
    "stopping": _stopping,
    "success": _success,
    "sensitivity": _of_core(_sensitivity),
    "dates": _of_core(_dates),
    "decision": _decided,
    "budget": _of_core(_budget),
    "staff_time": _of_core(lambda plan: f"Staff: {texts.staff_text(plan)}. {_dates(plan)}"),
    "resources": _of_core(_resources),
    "cuts": _cuts,
    "shortfall": _shortfall,
}
"""What is known of a question without its author, by key."""


# --- what is proposed -------------------------------------------------------------------------


def _sameness(category: str) -> Callable[[Assessment], tuple[str, str] | None]:
    """Return what proposes how items of a category stand to the study's own."""

    def propose(plan: Assessment) -> tuple[str, str] | None:
        own = {label_key(label) for label in getattr(plan.pack.study, category)}
        planned = getattr(plan.plan, f"required_{category}")
        swaps = [swap for swap in plan.substitutions if label_key(swap.original) in own]
        if swaps:
            loss = max(swap.fidelity_loss for swap in swaps)
            named = joined([f"{swap.alternative} for {swap.original}" for swap in swaps])
            return SAMENESS[1 if loss <= _CLOSE else 2], f"{named}, fidelity loss {loss}"
        kept = {label_key(label) for label in planned}
        if own and own <= kept:
            return SAMENESS[0], f"the plan uses all of the study’s own {category}"
        return None

    return propose


_CLOSE: Final = 1  # A fidelity loss up to here is a small declared deviation
_PROPOSED: Final = {
    "same_measures": _sameness("equipment"),
    "same_stimuli": _sameness("reagents"),
}


# --- the document -----------------------------------------------------------------------------


def registration(profile: Profile, registered: Registered, *, on: date) -> Document:
    """Return a form filled in, with who answers each item, and a list of what nobody answers."""
    answers = {answer.item.id: answer for answer in answers_of(profile, registered)}
    plan, said = registered.plan, registered.said
    pack = plan.pack
    asked = {item.question.key for item in profile.items}
    left = [each.item.question.label for each in answers.values() if not each.is_given]
    parts = [
        part(
            "What is registered",
            documents.verdict_sentence(plan_verdict(plan)),
            Sentence(f"{capitalised(plan_size(plan))}."),
            Sentence(left_text(answers.values())),
            Sentence(profile.link, "The form:") if profile.link else None,
        ),
        *(
            part(
                section.title,
                blocks.table(
                    f"{section.title}, item by item",
                    ("Item", "Answer", "Who says so"),
                    [_row(answers[item.id]) for item in section.items],
                ),
            )
            for section in profile.sections
        ),
        *([part(BUDGET_TITLE, *budget_blocks(plan))] if "budget" in asked else []),
        part("Not given", listing(f"{label}." for label in left)),
    ]
    return Document(
        title=said.title or pack.paper.title,
        about=" · ".join((profile.title, lab_text(pack), documents.day_text(on))),
        parts=tuple(each for each in parts if each.blocks),
        foot=documents.origin_lines(plan),
        on=on,
        authors=said.authors,
    )


def _row(answer: FormAnswer) -> tuple[Cell, ...]:
    text = answer.text or capitalised(NOT_GIVEN)
    who = joined(list(dict.fromkeys(str(who) for who, _ in answer.found)))
    status = None if answer.is_given else Status.CAUTION
    return blocks.row(answer.item.question.label, Cell(text, status=status), who)


def registry_text(profile: Profile, registered: Registered) -> str:
    """Return a form's answers by its own ids, as a JSON file."""
    values = registry_values(profile, registered)
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


def registry_values(profile: Profile, registered: Registered) -> dict[str, object]:
    """Return a form's answers by the form's own ids, for a file; null where nobody answers.

    An item with options holds those that are chosen; several are a list.
    """
    values: dict[str, object] = {}
    for answer in answers_of(profile, registered):
        question = answer.item.question
        chosen = list(registered.said.choices.get(question.key, ()))
        if question.options:
            values[answer.item.id] = chosen if question.several else next(iter(chosen), None)
        else:
            values[answer.item.id] = answer.text or None
    return values
