"""What a revised plan changes, as blocks: each change with its price, its reason and its loss."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from replicalab import lexicon
from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment
from replicalab.assessment.dimensions import DROPPED
from replicalab.assessment.phrases import failing_text, placed_text, size_text
from replicalab.facts import blocks
from replicalab.facts import plan as texts
from replicalab.facts.blocks import NOT_GIVEN, Cell, Panel, Sentence, Table
from replicalab.facts.negotiation import change_rows, signed_credits, step_changes
from replicalab.facts.verdicts import standing
from replicalab.models import FIELD_LABELS, NUMBER_FIELDS
from replicalab.planner import PlanAnalysis, PlanStep, change_steps
from replicalab.planner.least_loss import field_steps


class Changed(NamedTuple):
    """A change on show.

    Attributes:
        number: among the changes of its revision.
        change: what is changed.
        step: what that does.
        on: whether it is taken; the price of another is what it would add to those that are.
    """

    number: int
    change: SuggestionChange
    step: PlanStep
    on: bool = True


class ChangeText(NamedTuple):
    """A change in words: what is changed, its price, its reason, and what is lost with it."""

    number: int
    field: str
    values: str
    on: bool
    price: str
    why: str
    lost: str

    @property
    def title(self) -> str:
        """The field and its values."""
        return f"{self.field}: {self.values}"


class RevisionText(NamedTuple):
    """A revised plan in words: its size, what fails, which wishes it breaks, and what it gains."""

    size: str
    still: str
    breaks: str
    total: str


def all_changes(
    before: Assessment, changes: Iterable[SuggestionChange], known: list[Assessment] | None = None
) -> list[Changed]:
    """Return changes made one after the other, each with its step."""
    steps = change_steps(before, changes, known)
    return [Changed(n, s.change, s) for n, s in enumerate(steps, start=1) if s.change]


def revision_text(whole: PlanStep) -> RevisionText:
    """Return a revised plan in words: what it comes to, and what it gives up."""
    after = whole.after
    cost, budget = (lexicon.amount_text(after.cost), after.pack.lab.money(after.pack.lab.budget))
    return RevisionText(
        size=f"{size_text(after)}, {cost} of {budget}, {after.evidence.text}",
        still=f"{lexicon.capitalised(failing_text(after, still=True))}." if after.failing else "",
        breaks=texts.cautions_sentence(after),
        total=f"In all: {texts.saved_text(whole)} · {texts.total_loss_text(whole)}",
    )


def change_text(each: Changed) -> ChangeText:
    """Return a change in words."""
    change, step = each.change, each.step
    old, new = (
        f"{int(value):,}" if change.field in NUMBER_FIELDS else value
        for value in (change.original, change.revised)
    )
    return ChangeText(
        number=each.number,
        field=step.after.pack.study.term(FIELD_LABELS[change.field]),
        values=f"{old} → {new}",
        on=each.on,
        price=f"{texts.saved_text(step)} · {texts.loss_text(step)}",
        why=change.reason,
        lost=f"{change.tradeoff} {texts.newly_broken_text(step)}".strip(),
    )


def revision_panel(whole: PlanStep, changes: Iterable[Changed] = ()) -> Panel:
    """Return a revised plan: what it comes to, what it gives up; folded, its changes one by one."""
    return blocks.panel(
        "revision",
        status=standing(whole.after)[0],
        revision=revision_text(whole),
        changes=[change_text(change) for change in changes],
    )


# --- the last edit --------------------------------------------------------------------------


def edit_text(step: PlanStep) -> str:
    """Return what an edit changes: ``128 → 100 fish``."""
    return step_changes(step)


def mend_text(step: PlanStep) -> str:
    """Return what a button does that mends a dimension: ``128 → 100 fish``, ``Use the spare``."""
    numbers = [field for field in step.fields if isinstance(field.before, int)]
    if len(numbers) == len(step.fields):
        return edit_text(step)
    gone, taken = list[str](), list[str]()
    for _, old, new in step.fields:
        if isinstance(old, tuple) and isinstance(new, tuple):
            gone, taken = [*gone, *old], [*taken, *new]
    return f"Use {lexicon.joined(taken)}" if taken else f"Drop {lexicon.joined(gone)}"


def mend_price(step: PlanStep) -> str:
    """Return what such a button leads to: credits, evidence and tier, and what newly fails."""
    after = step.after
    new = [text for text in after.failing if text not in step.before.failing]
    parts = [texts.saved_text(step), placed_text(after.evidence)]
    parts += [lexicon.capitalised(failing_text(after, new))] if new else []
    return " · ".join(parts)


def edit_sentence(step: PlanStep) -> Sentence:
    """Return what an edit changes, and what it saves and loses; items of one field by name."""
    moved = f"{signed_credits(step)} {step.after.pack.lab.currency}, {texts.evidence_text(step)}"
    return Sentence(": ".join(filter(None, (_items_text(step) or edit_text(step), moved))) + ".")


def _items_text(step: PlanStep) -> str:
    """Return which items come and go: ``'shelf' in place of 'chamber'``; empty for other edits."""
    if len(step.fields) != 1:
        return ""
    [(_, gone, taken)] = step.fields
    if not isinstance(gone, tuple) or not isinstance(taken, tuple):
        return ""
    old, new = (lexicon.joined(lexicon.quoted(labels)) for labels in (gone, taken))
    if gone and taken:
        return f"{new} in place of {old}"
    return f"with {new}" if taken else f"without {old}"


# --- from the reference protocol ------------------------------------------------------------


def changes_table(before: Assessment, after: Assessment) -> Table:
    """Return what a plan changes of the reference protocol, and what each change costs.

    The changes are made one after the other, so that what they cost adds up.
    """
    steps = field_steps(before, after)
    rows = []
    for step in steps:
        [(name, *values)], [(_, *numbers)] = change_rows(step), step.fields
        cells = (
            Cell(lexicon.lines_text([text]), value if isinstance(value, int) else None)
            for text, value in zip(values, numbers, strict=True)
        )
        rows.append(blocks.row(name, *cells, *_effects(step)))
    totals = int(len(steps) > 1)
    if totals:
        rows.append(blocks.row("In all", "", "", *_effects(PlanStep(before, after))))
    caption = "Changes from the reference protocol, one after the other"
    cost = lexicon.capitalised(after.pack.lab.currency)
    names = ("What", "Reference", "This plan", cost, "Evidence")
    return blocks.table(caption, names, rows, totals=totals)


def _effects(step: PlanStep) -> tuple[Cell, Cell]:
    old, new = step.before.evidence, step.after.evidence
    moved = f"{old.number} → {new.number}" if step.evidence_changed else "unchanged"
    worth = ", ".join(filter(None, (moved, texts.fidelity_move(step))))
    return Cell(signed_credits(step), -step.credits_saved), Cell(worth)


def reasons_table(
    options: PlanAnalysis, reference: Assessment, given: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """Return each change of the reference protocol with its reason, and what is lost with it.

    The reasons are those with which the Lab Manager or the planner would make the same change, each
    by its name; of any other nobody has said why, unless whoever registers the plan does.
    """
    analysis = PlanAnalysis(reference)
    pairs = [
        ("Lab Manager", change) for change in (analysis.offer.changes if analysis.offer else ())
    ]
    pairs += [("Planner", change) for change in analysis.least.changes]
    rows = [_reasoned(step, pairs, given) for step in field_steps(reference, options.yours)]
    return blocks.table("Why, and what is lost", ("What", "Reason", "What is lost"), rows)


def _reasoned(
    step: PlanStep, known: Iterable[tuple[str, SuggestionChange]], given: Mapping[str, str]
) -> tuple[Cell, ...]:
    [(name, _, _)], [(field, _, _)] = change_rows(step), step.fields
    made: dict[tuple[str, str], tuple[str, SuggestionChange]] = {}
    for who, change in known:
        if _makes(change, step):
            made.setdefault((change.original, change.revised), (who, change))
    reasons: dict[str, list[str]] = {}
    for who, change in made.values():
        reasons.setdefault(who, []).append(change.reason)
    theirs = [f"{who}: {' '.join(dict.fromkeys(why))}" for who, why in reasons.items()]
    why = " ".join(filter(None, (given.get(field, ""), *theirs)))
    lost = lost_text(step, [change for _, change in made.values()])
    return blocks.row(name, why or lexicon.capitalised(NOT_GIVEN), lost or "–")


def lost_text(step: PlanStep, changes: Iterable[SuggestionChange]) -> str:
    """Return what a step loses besides numbers, by whoever suggested it; empty if nothing is known.

    Args:
        step: of one field.
        changes: what the Lab Manager or the planner suggested, of this step or of others.
    """
    dropped = {lexicon.label_key(control.name) for control in step.newly_dropped}
    lost = [
        change.tradeoff
        for change in changes
        if _makes(change, step) and lexicon.label_key(change.original) not in dropped
    ]
    lost += [*texts.protection_losses(step), texts.newly_broken_text(step)]
    if not any(lost) and step.evidence_falls:
        lost = [f"{lexicon.capitalised(texts.evidence_text(step))}."]
    return " ".join(dict.fromkeys(filter(None, lost)))


def _makes(change: SuggestionChange, step: PlanStep) -> bool:
    """Return whether a suggested change is part of a step."""
    [(field, old, new)] = step.fields
    if change.field != field:
        return False
    if isinstance(old, tuple) and isinstance(new, tuple):
        return change.original in old and (change.revised in new or change.revised == DROPPED)
    return (str(old), str(new)) == (change.original, change.revised)
