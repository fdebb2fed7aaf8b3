"""Registration forms, filled in from a plan, its study's file and the author's answers."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partialmethod
from itertools import chain, count, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

from replicalab.answers import QUESTIONS, AnswerSource, Question, Registration
from replicalab.assessment import Assessment, assumed_effects, phrases
from replicalab.documents import Report
from replicalab.drafts import stated_text
from replicalab.facts import (
    blocks,
    change_facts,
    curve_facts,
    document_facts,
    lab_facts,
    plan_facts,
)
from replicalab.facts.blocks import Cell, Document, Sentence, Status, Table, listing, part
from replicalab.facts.negotiation_facts import numbers_text
from replicalab.lexicon import capitalised, count_text, ended, joined, label_key, lines_text
from replicalab.models import LabManagerActionType, ScientistActionType
from replicalab.negotiation import Negotiation
from replicalab.planner import PlanAnalysis, leanest
from replicalab.planner.least_loss import field_steps
from replicalab.scenarios import EvidenceTier

_ROWS: Final = tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8"))
_CHOICE: Final = ("decision", "refused")  # the questions about how the plan was chosen
_EXACT, _CLOSE, _DIFFERENT = QUESTIONS["same_pay"].options
_CLOSE_LOSS: Final = 1  # largest fidelity loss of a close substitution
_AUTHORS_HAD: Final = "whether the original’s authors had the same is for you to say"
_REFUSALS: Final = (LabManagerActionType.SUGGEST_ALTERNATIVE, LabManagerActionType.REJECT)


class FormItem(NamedTuple):
    """A question of a form, under the form's own id."""

    id: str
    question: Question
    required: bool = False

    @property
    def label(self) -> str:
        return f"{self.question.label}{' (required)' if self.required else ''}"


class Profile(NamedTuple):
    """A form: its items by the title of their section, and its address at a registry or ``""``."""

    title: str
    link: str
    sections: Mapping[str, tuple[FormItem, ...]]


def _profile(row: Mapping[str, Any]) -> Profile:
    numbers, required, sections = count(row.get("first", 0)), row.get("required", "").split(), {}
    for title, names in row["sections"].items():
        keys = names.split()
        ids = [f"{row['prefix']}{next(numbers)}" for _ in keys] if "prefix" in row else keys
        items = zip(ids, keys, strict=True)
        sections[title] = tuple(FormItem(i, QUESTIONS[k], k in required) for i, k in items)
    return Profile(row["title"], row["link"], sections)


PROFILES: Final = {key: _profile(row) for key, row in _ROWS["forms"].items()}


class RegisteredPlan(NamedTuple):
    """A plan to be registered, its author's answers, and its negotiation or None."""

    options: PlanAnalysis
    author: Registration
    run: Negotiation | None = None


class Proposal(NamedTuple):
    """A likely answer, which counts once the author confirms it, and its basis."""

    answer: str
    why: str


class FormAnswer(NamedTuple):
    """An item's answers with their sources; ``value`` is the registry's: options or a text."""

    item: FormItem
    sources: tuple[tuple[AnswerSource, str], ...]
    value: str | list[str] | None
    proposal: Proposal | None = None
    hint: str = ""


def answers_of(profile: Profile, registered: RegisteredPlan) -> dict[str, list[FormAnswer]]:
    """Return the items of a form with their answers, by the title of their section."""
    values = _Values(registered)
    return {
        title: [values.answer(item) for item in items] for title, items in profile.sections.items()
    }


class _Values(dict[str, Any]):
    """The values of the templates in forms.toml; a method's is computed when a template asks."""

    def __init__(self, registered: RegisteredPlan) -> None:
        self.options, self.author, self.run = registered
        self.judged = plan = self.options.yours
        self.design, self.row, self.lab = plan.pack.design, plan.evidence.row, plan.pack.lab
        meets, self.lean = plan.evidence.tier is EvidenceTier.MEETS_TARGET, leanest(plan)
        self.is_fewest = meets and self.lean is None
        reported, needs = self.design.original, plan.plan
        interval = curve_facts.interval_text(reported) if reported else ""
        level = self.row.level_of(self.design.sides)
        level = f", alpha {self.design.alpha:g} ({level})" if self.design.alpha else ""
        super().__init__(
            plan=plan,
            paper=plan.pack.paper,
            reported_effect=curve_facts.reported_text(self.design, reported) if reported else "",
            reported_interval=_items_text(capitalised(interval)),
            interval="" if interval else curve_facts.worked_out_interval_text(self.design),
            original_n=_items_text(curve_facts.counts_text(reported)) if reported else "",
            technique=_items_text(needs.technique),
            equipment=_items_text(*needs.required_equipment),
            reagents=_items_text(*needs.required_reagents),
            size=count_text(plan.counts.samples, self.design.sample_noun),
            dropout=plan_facts.dropout_text(plan),
            own_reason=self.author.reasons.get("sample_size", ""),
            criteria=lines_text(filter(stated_text, plan.pack.success_criteria)),
            cost=self.lab.money(plan.cost),
            budget=self.lab.money(self.lab.budget),
            staff=plan_facts.staff_text(plan),
            days=plan.days_text,
            last_day=plan.last_day_text,
            method=self.row.method_of(self.design) + (level if self.row.sought else ""),
        )

    def __missing__(self, name: str) -> str:
        return str(getattr(self, name)())

    def answer(self, item: FormItem) -> FormAnswer:
        question, by_author = item.question, self.author.answer(item.question.key)
        templates = _ROWS["answers"].get(question.key, {})
        filled = [(AnswerSource[name], text.format_map(self)) for name, text in templates.items()]
        sources = [
            (source, given) for source, text in filled if (given := stated_text(text.strip()))
        ]
        if by_author:
            # An author's answer replaces the study file's and joins ReplicaLab's.
            sources = [(source, text) for source, text in sources if source is AnswerSource.CORE]
            sources.append((AnswerSource.AUTHOR, by_author))
        value: str | list[str] | None = "\n\n".join(text for _, text in sources) or None
        if question.options:
            chosen = list(self.author.choices.get(question.key, ()))
            value = chosen if question.several else next(iter(chosen), None)
        propose = None if by_author else getattr(self, f"propose_{question.key}", None)
        hint = self.worth() if question.key == "sample_rationale" and not sources else ""
        return FormAnswer(item, tuple(sources), value, propose and propose(), hint)

    def published(self) -> str:
        effect, value, published = self.row.effect, self.design.effect_published, ""
        if effect and value is not None and not self.design.original:
            published = f"{capitalised(effect.name)} {plan_facts.effect_text(value)}. "
        return published + stated_text(self.judged.pack.paper.published)

    def differences(self) -> str:
        swaps = self.judged.substitutions
        lines = [f"{s.alternative} in place of {s.original}: {ended(s.tradeoff)}" for s in swaps]
        return lines_text([*lines, *map(plan_facts.protection_text, self.judged.dropped)])

    def arms(self) -> str:
        samples = self.judged.counts.samples
        groups = plan_facts.group_text(samples, self.design)
        groups = groups and f"{samples:,} in all: {groups}"
        shared = [text for _, text in plan_facts.groupings(self.design).values()]
        parts = (self.row.title, f"n counts {self.design.unit_of_n}", groups, *shared)
        return ended("; ".join(filter(None, parts)))

    def controls(self) -> str:
        guards = {c.name: f" (against {c.guards})" for c in self.judged.pack.controls if c.guards}
        return _items_text(*(name + guards.get(name, "") for name in self.judged.plan.controls))

    def reason(self) -> str:
        is_justified = self["own_reason"] or self.author.answer("sample_rationale")
        return self.worth() if is_justified or self.is_fewest else ""

    def sensitivity(self) -> str:
        evidence, least, lines = self.judged.evidence, self.judged.detectable_effect, []
        if self.row.sought and least is not None:
            target = f"{self.row.sought} with {self.row.measure} {evidence.format(evidence.target)}"
            lines = [f"{target}: {plan_facts.effect_text(least)}."]
        for effect in assumed_effects(self.design):
            label = plan_facts.effect_label(effect)
            lines.append(f"{label}: {self.judged.evidence_at(effect.effect).text}.")
        return " ".join(map(capitalised, lines))

    def dates(self) -> str:
        first, days = self.lab.start_day, self.judged.counts.days
        span = self.lab.dated_span(first, first + days - 1) if days else ""
        return f"{self['days']}{span}." if span else ""

    def refusals(self) -> str:
        rounds, own, lines = self.run.rounds if self.run else (), self.judged.plan, list[str]()
        for done, following in zip_longest(rounds, rounds[1:]):
            lead, plan, offer = f"Round {done.number + 1}:", done.plan, done.after.offer
            if plan is None or not done.answer or done.answer.action_type not in _REFUSALS:
                continue
            if plan.plan != own:
                why = " ".join(ended(text) for name in plan.causes for text in plan.reasons[name])
                lines.append(f"{lead} {numbers_text(plan)}. Refused by the lab. {why}")
            action, is_reply = following and following.action, following and not following.only_asks
            accepts = action and action.action_type is ScientistActionType.ACCEPT
            if offer and is_reply and not accepts and offer.plan != own:
                why = following.reason or "No reason given."
                offered = f"offered by the lab, {numbers_text(offer)}"
                lines.append(f"{lead} {offered}. Not taken by the Scientist. {why}")
        return lines_text(lines)

    def terms(self) -> str:
        name, money, terms = self.judged.pack.study.term, self.lab.money, self.judged.cost_terms
        lines = (
            (name(term.label), plan_facts.term_text(term), money(term.credits)) for term in terms
        )
        return lines_text(f"{label}: {text} = {credits}." for label, text, credits in lines)

    def cuts(self) -> str:
        plan, lead = self.judged, "From the study’s own plan:"
        steps = field_steps(document_facts.reference_of(plan), plan)
        if not steps:
            lead, steps = "To fit this lab:", field_steps(plan, self.options.least.after)
        sentences = [change_facts.edit_sentence(step).text for step in steps]
        return lines_text([lead, *sentences]) if steps else ""

    def shortfall(self) -> str:
        parts = change_facts.needs_parts(self.options)
        lines = [(title, line) for title, lines in parts for line in lines]
        return lines_text(f"{title}: {line}" if title else line for title, line in lines)

    def worth(self) -> str:
        evidence, lean = self.judged.evidence, self.lean
        target, floor = evidence.format(evidence.target), evidence.format(evidence.floor)
        worth = f"{capitalised(evidence.text)}; target {target}, minimum {floor}."
        fewest = "No fewer meet the target, all else as planned." if self.is_fewest else ""
        if lean:
            size = count_text(lean.counts.samples, self.design.sample_noun)
            fewest = f"The fewest that meet the target, all else as planned: {size}."
        return " ".join(filter(None, (worth, fewest, plan_facts.assumption_text(self.judged))))

    def propose_stopping(self) -> Proposal:
        size = self["size"]
        return Proposal(f"With {size}, without an interim analysis.", "no other rule planned")

    def propose_same_measures(self, category: str = "equipment") -> Proposal | None:
        listed = {label_key(label) for label in getattr(self.judged.pack.study, category)}
        planned = {label_key(label) for label in getattr(self.judged.plan, f"required_{category}")}
        swaps = [swap for swap in self.judged.substitutions if label_key(swap.original) in listed]
        if swaps:
            loss = max(swap.fidelity_loss for swap in swaps)
            names = joined([f"{swap.alternative} for {swap.original}" for swap in swaps])
            answer = _CLOSE if loss <= _CLOSE_LOSS else _DIFFERENT
            return Proposal(answer, f"{names}, fidelity loss {loss}")
        why = f"the plan uses all {category} that the study lists; {_AUTHORS_HAD}"
        return Proposal(_EXACT, why) if listed and listed <= planned else None

    propose_same_stimuli = partialmethod(propose_same_measures, "reagents")

    def propose_same_procedure(self) -> Proposal | None:
        plan, protocol = self.judged, self.judged.pack.reference_protocol
        if not stated_text(protocol.technique):
            return None
        is_other = label_key(plan.plan.technique) != label_key(protocol.technique)
        changed = ["technique"] * is_other + [f"without {control.name}" for control in plan.dropped]
        if plan.counts.days != protocol.duration_days:
            changed.append(f"{self['days']} in place of {protocol.duration_days:,}")
        if not changed:
            why = f"technique, controls and days are those of the study’s plan; {_AUTHORS_HAD}"
            return Proposal(_EXACT, why)
        answer = _DIFFERENT if is_other or plan.evidence.void_reason is not None else _CLOSE
        return Proposal(answer, f"against the study’s own plan: {joined(changed)}")


def _items_text(*labels: str) -> str:
    text = stated_text("; ".join(labels))
    return ended(text) if text else ""


def progress_text(answers: Sequence[FormAnswer]) -> str:
    """Return the number of answered items and of required ones without an answer."""
    missing = [answer for answer in answers if not answer.sources]
    required = sum(answer.item.required for answer in missing)
    must = f"; {required} required ones are not" if required else ""
    return f"{len(answers) - len(missing)} of {len(answers)} items are answered{must}."


def section(report: Report) -> Document:
    """Return the form of a report's kind, filled in."""
    registered = RegisteredPlan(report.shown, report.answers, report.run)
    return registration(PROFILES[report.kind], registered, on=report.on)


def registration(profile: Profile, registered: RegisteredPlan, *, on: date) -> Document:
    """Return a form with its answers, their sources, and a list of the open questions."""
    plan, author = registered.options.yours, registered.author
    sections = answers_of(profile, registered)
    answers = list(chain.from_iterable(sections.values()))
    missing = [answer.item.label for answer in answers if not answer.sources]
    keys, values = {answer.item.question.key for answer in answers}, _Values(registered)
    unasked = [FormItem(key, QUESTIONS[key]) for key in _CHOICE if key not in keys]
    chosen = [answer for answer in map(values.answer, unasked) if answer.sources]
    form = Sentence(profile.link, "The form:") if profile.link else None
    progress = Sentence(progress_text(answers))
    parts = [
        part("The registered plan", *document_facts.verdict_sentences(plan), progress, form),
        *(part(title, _table(title, rows)) for title, rows in sections.items()),
        part("How the plan was chosen", _table("How the plan was chosen", chosen)),
        part("Not given", listing(f"{label}." for label in missing)),
    ]
    return Document(
        title=author.title or plan.pack.paper.title,
        about=" · ".join(
            (profile.title, lab_facts.lab_text(plan.pack), document_facts.day_text(on))
        ),
        parts=tuple(part for part in parts if part.blocks),
        foot=document_facts.origin_lines(plan),
        on=on,
        authors=author.authors,
        values={answer.item.id: answer.value for answer in answers},
    )


def _table(title: str, answers: Iterable[FormAnswer]) -> Table:
    rows = []
    for item, sources, _, proposal, hint in answers:
        notes = [f"{capitalised(blocks.NOT_GIVEN)}.", f"Known: {hint}" if hint else ""]
        if proposal:
            notes.append(f"Proposed: {ended(proposal.answer)} Why: {proposal.why}.")
        cell = Cell(" ".join(filter(None, notes)), status=Status.CAUTION)
        if sources:
            cell = Cell("\n\n".join(text for _, text in sources))
        names = dict.fromkeys(str(source) for source, _ in sources)
        rows.append((item.label, cell, joined(list(names))))
    return blocks.table(f"{title}, item by item", ("Item", "Answer", "Source"), rows)
