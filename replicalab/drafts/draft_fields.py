"""The fields of a study file in a form, one row each.

A path is dotted, with ``*`` for the number of an entry. In a label ``{effect}`` is the effect of
the kind, ``{measure}`` its evidence, ``{currency}`` the lab's and ``{item}`` the last step.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from enum import StrEnum, auto
from functools import partial
from typing import Any, Final, NamedTuple, cast

from replicalab import designs, errors, lexicon, limits
from replicalab.drafts.beginning import UNSTATED, YOUR_LAB, Block
from replicalab.drafts.draft import Draft
from replicalab.scenarios import AMOUNTS, AmountGroup, Confidence, amounts_in
from replicalab.scenarios.reading import Data, FieldPath

ORIGINAL: Final[FieldPath] = ("design", "original")
_ORIGINAL_COUNTS: Final = frozenset({"n", "n1", "n2", "events", "samples"})
_LAB: Final = f"labs.{YOUR_LAB}"


class Input(StrEnum):
    """How a field is typed."""

    TEXT = auto()
    PROSE = auto()
    NUMBER = auto()
    LABELS = auto()
    CHOICE = auto()
    SWITCH = auto()
    DATE = auto()


class StudyField(NamedTuple):
    """A field of a study file in a form."""

    label: str
    input: Input = Input.TEXT
    help: str = ""
    usual: Data = None  # the value of a file without the field
    optional: bool = False  # whether it can be emptied
    step: float = 1  # of a number's buttons; whole for a count
    longest: int = limits.LONGEST_LABEL  # the most characters
    placeholder: str = ""
    options: Callable[[Draft], Sequence[Data]] | None = None  # in a draft; None: any label
    words: Mapping[Any, str] = {}  # as the options are shown
    change: Callable[[Draft, FieldPath, Any], Draft] | None = None


def edit_field(draft: Draft, field: StudyField, path: FieldPath, value: Any) -> Draft:
    if field.change:
        return field.change(draft, path, value)
    if isinstance(value, date):
        value = value.isoformat()
    if isinstance(value, str) and (field.optional or field.usual is not None):
        value = value.strip() or field.usual
    return draft.put(value, *path)


def _change_block(draft: Draft, path: FieldPath, value: Data, **usual: Data) -> Draft:
    # Without this value its block is left out; a new block has the usual values.
    block = draft.at(*path[:-1])
    others = block if isinstance(block, dict) else usual
    changed: Data = {**others, str(path[-1]): value.strip() if isinstance(value, str) else value}
    return draft.put(None if value is None or value == "" else changed, *path[:-1])


def _change_booked(draft: Draft, path: FieldPath, chosen: list[str]) -> Draft:
    days = draft.at(*path[:-1], "days")
    until = {item: draft.at(*path, item) for item in chosen}
    return draft.put({item: days if day is None else day for item, day in until.items()}, *path)


def _change_reported(draft: Draft, path: FieldPath, value: Data) -> Draft:
    around = draft.at(*path[:-1])
    numbers: Block = {**around} if isinstance(around, dict) else {}
    numbers[str(path[-1])] = value
    return draft.put({k: x for k, x in numbers.items() if x is not None}, *path[:-1])


def _number(label: str, step: float = 1, **more: Any) -> StudyField:
    return StudyField(label, Input.NUMBER, step=step, **more)


def _change_design(draft: Draft, path: FieldPath, value: Data) -> Draft:
    return draft.with_number(str(path[-1]), value)


def _design_number(label: str, step: float = 0.05, **more: Any) -> StudyField:
    return _number(label, step, change=_change_design, **more)


def _text(label: str, **more: Any) -> StudyField:
    return StudyField(label, longest=limits.LONGEST_TEXT, **more)


def _items(label: str, hint: str) -> StudyField:
    return StudyField(
        label,
        Input.LABELS,
        f"{hint} Removing one removes it from the plan and the lab.",
        change=lambda draft, path, labels: draft.with_labels(str(path[-1]), labels),
    )


def _chosen(label: str, part: str, **more: Any) -> StudyField:
    return StudyField(label, Input.LABELS, options=lambda draft: draft.part_labels(part), **more)


def _choice(label: str, words: Mapping[Any, str], **more: Any) -> StudyField:
    return StudyField(label, Input.CHOICE, options=lambda _: [*words], words=words, **more)


def _reported(label: str, step: float = 1, **more: Any) -> StudyField:
    return _number(label, step, optional=True, change=_change_reported, **more)


_LOSSES: Final = {
    0: "0: the same study",
    1: "1: a small deviation",
    2: "2: a related test",
    3: "3: hypothesis not tested",
}
_SIDES: Final = {2: "two-sided", 1: "one-sided"}
_CONFIDENCE: Final = {
    level.value: level.value for level in Confidence if level is not Confidence.PLANNING_VALUE
}

FIELDS: Final[Mapping[str, StudyField]] = {
    "scenario_id": StudyField("Id in addresses", longest=64),
    "domain_id": StudyField("Field of research", longest=64),
    "paper.title": StudyField("Name of the study", longest=limits.LONGEST_TITLE),
    "paper.short_title": StudyField(
        "Short name", longest=limits.LONGEST_SHORT_TITLE, optional=True, placeholder="For headings"
    ),
    "paper.goal": StudyField("Research question", Input.PROSE),
    # The design
    "design.effect_planning": _design_number("Assumed: {effect}"),
    "design.effect_published": _design_number("Published: {effect}", optional=True),
    "design.sesoi": _design_number("Smallest of interest: {effect}", optional=True),
    "design.source": _text("Source of the effect"),
    "design.sides": _choice(
        "Test", _SIDES, usual=2, help=designs.PARAMETERS["sides"].help, change=_change_design
    ),
    "design.target": _design_number("Target: {measure}"),
    "design.floor": _design_number("Minimum worth running"),
    "design.unit_of_n": StudyField("Sampling unit"),
    "design.dropout": _number("Dropout, as a share", 0.05, usual=0.0, help="Share not analysed."),
    "design.units.name": StudyField(
        "Experimental unit",
        help="Several samples may share one; empty if each is treated on its own.",
        longest=limits.LONGEST_SHORT_TITLE,
        placeholder="tank, class, lot",
        change=partial(_change_block, samples=1.0),
    ),
    "design.units.samples": _number("Samples per unit", 1.0),
    "design.units.icc": _number(
        "Intraclass correlation",
        0.01,
        optional=True,
        help="If empty, the samples count as independent.",
    ),
    "design.why.units": StudyField("Reason for the units"),
    "design.arms.share": _number(
        "Share of first arm",
        0.05,
        optional=True,
        help="The first arm is the treated one; empty for two equal arms.",
        change=_change_block,
    ),
    "design.why.arms": StudyField("Reason for the share"),
    "design.original.effect": _reported("{Effect}", 0.05),
    "design.original.se": _reported("Standard error", 0.01),
    "design.original.low": _reported("Interval from", 0.05),
    "design.original.high": _reported("to", 0.05),
    "design.original.level": _reported("Level of it", 0.01, placeholder="0.95"),
    "design.original.n": _reported("n"),
    "design.original.n1": _reported("n, group 1"),
    "design.original.n2": _reported("n, group 2"),
    "design.original.events": _reported("Events"),
    "design.original.source": _text("Source of the numbers"),
    "design.original.confidence": _choice("Confidence", _CONFIDENCE),
    "design.original.sides": _choice("Its test was", _SIDES, usual=2),
    # Its needs
    "min_days": _number("Minimum days", help="With fewer days there is nothing to measure."),
    "samples_per_day.value": _number(
        "Samples a day",
        optional=True,
        help="The most that can be finished in a day; empty if all run together.",
        change=partial(_change_block, why=UNSTATED),
    ),
    "samples_per_day.why": StudyField("Reason for the rate"),
    "equipment": _items("Equipment", "Items that are booked."),
    "reagents": _items("Reagents", "Items that are used up: materials, data sets, licences, pay."),
    "substitutions.*.original": StudyField(
        "Replaces", Input.CHOICE, options=lambda draft: draft.used_items
    ),
    "substitutions.*.fidelity_loss": _choice("Fidelity loss (0–3)", _LOSSES),
    "substitutions.*.condition": _text("Allowed when"),
    "substitutions.*.alternative": StudyField("Substitute"),
    "substitutions.*.evidence_factor": _number("Effect multiplier (0–1)", 0.05, usual=1.0),
    "substitutions.*.tradeoff": _text("Drawback"),
    "controls.*.name": StudyField(
        "Name", change=lambda draft, path, name: draft.with_control_named(int(path[1]), name)
    ),
    "controls.*.protects_against": _text("Protects against"),
    "controls.*.droppable": StudyField("Can be dropped", Input.SWITCH, usual=False),
    "policy_rules.*.restriction": _text("Rule"),
    "policy_rules.*.forbidden_phrases": StudyField(
        "Forbidden phrases",
        Input.LABELS,
        "A plan with one of them breaks the rule, unless 'no' precedes it.",
    ),
    # The plan and the lab
    "reference_protocol.sample_size": _number("Sample size"),
    "reference_protocol.duration_days": _number("Duration (days)"),
    "reference_protocol.technique": StudyField("Technique", Input.PROSE),
    "reference_protocol.rationale": StudyField("Rationale", Input.PROSE),
    "reference_protocol.required_equipment": _chosen("Equipment of the plan", "equipment"),
    "reference_protocol.required_reagents": _chosen("Reagents of the plan", "reagents"),
    "reference_protocol.controls": _chosen("Controls of the plan", "controls"),
    **{
        f"{_LAB}.{key}": _number(amount.label_in("{currency}"), 100.0 if amount.unit else 1)
        for key, amount in AMOUNTS.items()
        if amount.is_shared
    },
    f"{_LAB}.start_date": StudyField("Start date", Input.DATE),
    f"{_LAB}.currency": StudyField("Currency", usual=lexicon.CREDITS, longest=8),
    **{
        f"{_LAB}.cost_model.{amount.key}": _number(amount.label_in("{currency}"), 1.0, usual=0.0)
        for amount in amounts_in(AmountGroup.MONEY)
    },
    f"{_LAB}.weekends": StudyField("Weekends count as days", Input.SWITCH, usual=True),
    f"{_LAB}.booked": _chosen("Booked", "equipment", change=_change_booked),
    f"{_LAB}.out_of_stock": _chosen("Out of stock", "reagents"),
}
"""By dotted path, in the order of the form."""


def field_at(path: FieldPath, draft: Draft) -> StudyField:
    row = draft.row
    place, name = ".".join("*" if isinstance(step, int) else step for step in path), str(path[-1])
    if place in FIELDS:
        return FIELDS[place]
    if path[:-1] == (*ORIGINAL, "numbers"):
        asked = (number for source in row.sources for number in source.asked)
        reported = next(number for number in asked if number.name == name)
        return _reported(reported.label, 1 if reported.whole else 0.1)
    if path[0] == "design":
        number, optional = designs.PARAMETERS[name], name not in row.needs
        label = row.label(name, draft.at("design", "sides"))
        return _design_number(label, number.step, help=number.help, optional=optional)
    return _number("{item}: booked until day")


class ItemList(NamedTuple):
    """A list of the file whose items have fields of their own."""

    title: str
    noun: str
    placeholder: str
    columns: tuple[tuple[str, ...], ...]  # fields by column
    named: tuple[str, ...]  # fields of its name in the choice
    add: Callable[[Draft, str], Draft]  # one more, by name


ITEM_LISTS: Final = {
    "substitutions": ItemList(
        "Allowed substitutes", "replacement", "Substitute",
        (
            ("original", "fidelity_loss", "condition"),
            ("alternative", "evidence_factor", "tradeoff"),
        ),
        ("alternative", "original"), Draft.with_replacement,
    ),
    "controls": ItemList(
        "Controls", "control", "Its name",
        (("name", "droppable"), ("protects_against",)), ("name",), Draft.with_control,
    ),
    "policy_rules": ItemList(
        "Forbidden", "rule", "open flame",
        (("restriction", "forbidden_phrases"),), ("restriction",), Draft.with_rule,
    ),
}  # fmt: skip
"""By key of the file."""


def original_ways(row: designs.Kind) -> dict[str, list[str]]:
    """Return the ways to report an original's effect, by label, each with its numbers."""
    if row.effect is None:
        return {}
    ways: dict[tuple[str, ...], str] = {}
    for source in row.sources:
        names = (number.name for number in source.asked)
        ways[tuple(name for name in names if name not in _ORIGINAL_COUNTS)] = source.label
    return {row.effect.name: [], **{label: [*numbers] for numbers, label in ways.items()}}


def original_way(draft: Draft) -> str | None:
    """Return the label of the way in which a draft's original is reported; None without one."""
    if draft.at(*ORIGINAL) is None or draft.row.effect is None:
        return None
    filled = {*draft.labels(*ORIGINAL, "numbers")}
    ways = original_ways(draft.row).items()
    return next((label for label, numbers in ways if {*numbers} == filled), draft.row.effect.name)


def with_original_way(draft: Draft, way: str | None) -> Draft:
    """Return a draft whose original is reported in another way, without its numbers."""
    if way is None:
        return draft.put(None, *ORIGINAL)
    gone = ("effect", "se", "low", "high", "level", "numbers")
    old = cast("Block", draft.at(*ORIGINAL) or {})
    new: Block = {"sides": 2, "source": UNSTATED, "confidence": Confidence.RECALLED.value}
    return draft.put({**new, **{k: v for k, v in old.items() if k not in gone}}, *ORIGINAL)


def original_paths(row: designs.Kind, way: str) -> list[FieldPath]:
    """Return the fields of an original's numbers and counts, reported in a way."""
    effect: list[FieldPath] = [("effect",), ("se",), ("low",), ("high",), ("level",)]
    numbers: list[FieldPath] = [("numbers", name) for name in original_ways(row).get(way, [])]
    if row.normal is not None and row.normal.in_events:
        counts = ["events", "n"]
    else:
        counts = ["n1", "n2"] if row.groups == 2 else ["n"]
    return [(*ORIGINAL, *name) for name in (*(numbers or effect), *((n,) for n in counts))]


def fault_text(fault: errors.Fault) -> str:
    return f"{fault.problem}: {fault.remedy}."
