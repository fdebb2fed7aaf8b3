"""The data of a study file in a form, valid or not: its changes, its check, its undo."""

from __future__ import annotations

import copy
import json
import math
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from itertools import count
from typing import Any, Final, NamedTuple, cast

from replicalab.assessment import assess
from replicalab.designs import GROUPINGS, KINDS, Kind
from replicalab.drafts import beginning
from replicalab.drafts.beginning import UNSTATED, YOUR_LAB, Block
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import label_key
from replicalab.limits import LONGEST_SHORT_TITLE, LONGEST_TITLE
from replicalab.scenarios import MOST, Design, Difficulty, Study, pack_of, parse_study
from replicalab.scenarios.reading import Data, with_text_at
from replicalab.scenarios.writing import data_yaml, study_data, study_yaml

NAME: Final = "your study"
NEW_ID: Final = "my_study"
_OTHER_LABS: Final = (Difficulty.EASY.value, Difficulty.HARD.value)
_OTHER_LAB: Final = re.compile(f"^labs[.]({'|'.join(_OTHER_LABS)})")
_HARD_SHARE: Final = 0.75
_PLAN: Final = "reference_protocol"
_PLANNED_CONTROLS: Final = (_PLAN, "controls")
_UNDO_STEPS: Final = 100
_UNDO_CHARACTERS: Final = 2**20  # of the texts of all steps


class OtherLabs(StrEnum):
    """The easy and the hard lab, next to the one in the form."""

    SAME = "the same lab"
    MADE = "made from it"
    KEPT = "as in the file"


@dataclass(frozen=True)
class Draft:
    """A study that is being written."""

    data: Block  # of its file; only the medium lab, unless the others are kept
    others: OtherLabs = OtherLabs.SAME
    # The numbers of other kinds of design, and the other two labs, for a return to them
    aside: Mapping[str, Block] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, study: Study) -> Draft:
        """Return the draft whose file is exactly this study."""
        data = study_data(study)
        saved = cls(data, OtherLabs.KEPT)
        for others in (OtherLabs.SAME, OtherLabs.MADE):
            draft = saved.with_others(others)
            if draft.content() == data:
                return replace(draft, aside={})
        return saved

    def at(self, *path: str | int) -> Data:
        value: Data = self.data
        with suppress(KeyError, IndexError, TypeError):
            for step in path:
                value = value[step]  # type: ignore[index]
            return value
        return None

    def items(self, *path: str | int) -> list[Data]:
        value = self.at(*path)
        return value if isinstance(value, list) else []

    def labels(self, *path: str | int) -> list[str]:
        value = self.at(*path)
        return [str(label) for label in value] if isinstance(value, list | dict) else []

    def names(self, part: str, key: str) -> list[str]:
        return [str(self.at(part, place, key)) for place in range(len(self.items(part)))]

    def part_labels(self, part: str) -> list[str]:
        return self.names(part, "name") if part == "controls" else self.labels(part)

    @property
    def used_items(self) -> list[str]:
        return [*self.labels("equipment"), *self.labels("reagents")]

    def put(self, value: Data, *path: str | int) -> Draft:
        data = copy.deepcopy(self.data)
        around: Any = data
        for step in path[:-1]:
            if isinstance(around, dict) and around.get(step) is None:
                around[step] = {}
            around = around[step]
        around[path[-1]] = value
        return replace(self, data=data)

    @property
    def row(self) -> Kind:
        return KINDS[str(self.at("design", "kind"))]

    def of_kind(self, kind: str) -> Draft:
        """Return this draft with another kind of design, and its earlier numbers of that kind."""
        old, new = self.row, KINDS[kind]
        design = dict(cast("Block", self.at("design")))
        names = (*beginning.NUMBERS, *GROUPINGS, "original")
        before = {name: design.pop(name) for name in names if name in design}
        shared = ("alpha", "target", "floor") if new.scale is old.scale else ()
        usual = beginning.usual_numbers(new) | {n: before[n] for n in shared if before.get(n)}
        aside = {**self.aside, old.kind: before}
        design |= {"kind": kind, **self.aside.get(kind, usual)}
        ordered = {name: design[name] for name in Design.model_fields if name in design}
        return replace(self.put(ordered, "design"), aside=aside)

    def with_number(self, name: str, value: Data) -> Draft:
        draft, why = self.put(value, "design", name), ("design", "why", name)
        return draft.put(UNSTATED, *why) if self.at(*why) == beginning.DEFAULT else draft

    def with_labels(self, category: str, labels: list[str]) -> Draft:
        """Return this draft with other items; the plan uses new ones and loses removed ones."""
        before, after = ({*map(label_key, items)} for items in (self.labels(category), labels))
        in_plan = (_PLAN, f"required_{category}")
        planned = [label for label in self.labels(*in_plan) if label_key(label) in after]
        planned += [label for label in labels if label_key(label) not in before]
        draft = self.put([*labels], category).put([*planned], *in_plan)
        for level, lab in cast("Block", self.at("labs")).items():
            if isinstance(lab, dict):
                draft = draft.put(_without(lab, before - after), "labs", level)
        return draft

    def with_replacement(self, name: str) -> Draft:
        swap: Block = {"original": next(iter(self.used_items), ""), "alternative": name}
        swap |= {"condition": UNSTATED, "tradeoff": UNSTATED, "fidelity_loss": 1}
        return self.put([*self.items("substitutions"), swap], "substitutions")

    def with_rule(self, restriction: str) -> Draft:
        taken = self.names("policy_rules", "key")
        key = next(name for n in count(1) if (name := f"rule_{n}") not in taken)
        rule: Block = {"key": key, "restriction": restriction, "forbidden_phrases": [restriction]}
        return self.put([*self.items("policy_rules"), rule], "policy_rules")

    def with_control(self, name: str) -> Draft:
        control: Block = {"name": name, "droppable": True, "protects_against": UNSTATED}
        planned = [*self.items(*_PLANNED_CONTROLS), name]
        draft = self.put([*self.items("controls"), control], "controls")
        return draft.put(planned, *_PLANNED_CONTROLS)

    def with_control_named(self, place: int, name: str) -> Draft:
        """Return this draft with a control renamed, in the plan too."""
        old, planned = self.at("controls", place, "name"), self.items(*_PLANNED_CONTROLS)
        renamed = [name if label == old else label for label in planned]
        return self.put(name, "controls", place, "name").put([*renamed], *_PLANNED_CONTROLS)

    def without(self, part: str, place: int) -> Draft:
        """Return this draft without an entry of a list; a control leaves the plan too."""
        entries, gone = self.items(part), self.at(part, place, "name")
        draft = self.put([*entries[:place], *entries[place + 1 :]], part)
        if part != "controls":
            return draft
        planned = [label for label in self.items(*_PLANNED_CONTROLS) if label != gone]
        return draft.put(planned, *_PLANNED_CONTROLS)

    def with_others(self, others: OtherLabs) -> Draft:
        """Return this draft with other choices of the other labs; the file's labs can come back."""
        labs = {**cast("Block", self.at("labs"))}
        aside = dict(self.aside)
        if self.others is OtherLabs.KEPT:
            aside["labs"] = {level: labs.pop(level) for level in _OTHER_LABS if level in labs}
        if others is OtherLabs.KEPT:
            made = cast("Block", self.content()["labs"])
            labs |= aside.get("labs") or {level: made[level] for level in _OTHER_LABS}
        return replace(self.put(labs, "labs"), others=others, aside=aside)

    def content(self) -> Block:
        """Return the content of the study file, with its three labs."""
        if self.others is OtherLabs.KEPT:
            return self.data
        lab = self.at("labs", YOUR_LAB)
        labs: Block = dict.fromkeys((level.value for level in Difficulty), lab)
        same: Block = {**self.data, "labs": labs}
        if self.others is OtherLabs.SAME:
            return same
        try:
            study = parse_study(data_yaml(same), NAME)
        except ScenarioError:
            return same
        return {**self.data, "labs": study_data(_with_made_labs(study))["labs"]}


def _without(lab: Block, gone: set[str]) -> Block:
    rest = dict(lab)
    for name in ("booked", "prices", "out_of_stock"):
        if isinstance(items := lab.get(name), dict):
            rest[name] = {item: at for item, at in items.items() if label_key(item) not in gone}
        elif isinstance(items, list):
            rest[name] = [item for item in items if label_key(str(item)) not in gone]
    return {name: value for name, value in rest.items() if value or not lab[name]}


def _with_made_labs(study: Study) -> Study:
    lab = study.labs.medium.with_means()
    plan = assess(study.reference_protocol, pack_of(study, Difficulty.MEDIUM))
    days = plan.plan.duration_days + lab.start_day - 1
    enough = {"budget": math.ceil(plan.cost), "days": days, "staff": plan.staff}
    means = {name: min(MOST, max(getattr(lab, name), minimum)) for name, minimum in enough.items()}
    easy = lab.model_copy(update={"booked": {}, "out_of_stock": [], **means})
    hard = lab.with_means(
        budget=_less(lab.budget), days=max(1, int(_less(lab.days))), staff=max(1, lab.staff - 1)
    )
    labs = study.labs.model_copy(update={"easy": easy, "hard": hard})
    return study.model_copy(update={"labs": labs})


def _less(amount: float) -> float:
    less = amount * _HARD_SHARE
    return math.floor(less) if less >= 1 else less


@dataclass(frozen=True)
class DraftCheck:
    """The study of a draft, or its faults."""

    read: str  # the draft's file
    study: Study | None = None
    faults: dict[str, list[Fault]] = field(default_factory=dict)  # by dotted field path
    more: int = 0  # further faults

    @cached_property
    def text(self) -> str:
        """The study file, in the order of its fields if it is valid."""
        return study_yaml(self.study) if self.study else self.read


def check(draft: Draft, read: Callable[[str, str], Study] = parse_study) -> DraftCheck:
    text = data_yaml(draft.content())
    try:
        return DraftCheck(text, read(text, NAME))
    except ScenarioError as error:
        return DraftCheck(text, None, _by_field(error.faults, draft.others), error.more)


def _by_field(all_faults: Sequence[Fault], others: OtherLabs) -> dict[str, list[Fault]]:
    faults: dict[str, list[Fault]] = {}
    repeated: dict[str, list[Fault]] = {}
    for fault in all_faults:
        path = fault.path
        if others is not OtherLabs.KEPT:
            path = _OTHER_LAB.sub(f"labs.{YOUR_LAB}", path)
        same = faults if path == fault.path else repeated
        same.setdefault(path, []).append(fault)
    for path, same_faults in repeated.items():
        faults.setdefault(path, same_faults[:1])
    return faults


def free_name(name: str, taken: Iterable[str], longest: int = LONGEST_TITLE) -> str:
    """Return a name that is not taken, such as ``My study (2)``."""
    keys = {label_key(text) for text in taken}
    ends = ("" if number == 1 else f" ({number})" for number in count(1))
    tried = (f"{name[: longest - len(end)].rstrip()}{end}" for end in ends)
    return next(text for text in tried if label_key(text) not in keys)


def longest_name(study: Study) -> int:
    """Return the most characters of a study's name, which may be its short title."""
    return LONGEST_TITLE if study.paper.short_title is None else LONGEST_SHORT_TITLE


def rename(text: str, study: Study, name: str) -> str:
    """Return a study's file under another name; raises ScenarioError if that is not allowed."""
    field = "title" if study.paper.short_title is None else "short_title"
    wanted = study.paper.model_dump() | {field: name}
    written = with_text_at(text, json.dumps(name, ensure_ascii=False), "paper", field)
    with suppress(ScenarioError):
        if parse_study(written, NAME).paper.model_dump() == wanted:
            return written
    # The name cannot be changed in place, such as in a block text: write the whole file.
    whole = data_yaml(Draft.of(study).put(name, "paper", field).content())
    parse_study(whole, NAME)
    return whole


class FormStep(NamedTuple):
    """A state of the form."""

    draft: Draft
    text: str | None
    begun: bool
    size: int


@dataclass
class FormSession:
    """The study that a visitor is making."""

    reader: Callable[[str, str], Study]  # of a file that the visitor can use
    draft: Draft = field(default_factory=lambda: Draft(beginning.new_study(NEW_ID)))
    text: str | None = None  # as typed or uploaded; None if the form wrote last
    begun: bool = False  # whether there is a study to show
    choosing: bool = False  # a new beginning; the study is kept
    past: list[FormStep] = field(default_factory=list)  # for undo, the next last
    # A tab that outlived its server still has typed values under its old keys.
    version: int = field(default_factory=partial(secrets.randbelow, 2**32))
    part: str = ""  # that was open last
    refused: bool = False  # whether the text is no study
    _checked: DraftCheck | None = None

    @property
    def study(self) -> Study | None:
        return self.result.study

    @property
    def result(self) -> DraftCheck:
        if self._checked is None:
            self._checked = check(self.draft, self.reader)
        return self._checked

    @property
    def faults(self) -> list[Fault]:
        return [fault for faults in self.result.faults.values() for fault in faults]

    @property
    def file(self) -> str:
        """The study file: as its author wrote it, or as the form writes it."""
        return self.result.text if self.text is None else self.text

    def change(self, draft: Draft, *, redraw: bool = False) -> None:
        """Take a draft that the form has changed, and redraw all widgets if asked."""
        if draft != self.draft:
            self._remember()
            self._show(draft)
        self.version += redraw

    def begin(self, draft: Draft) -> None:
        self._remember()
        self._show(draft)
        self.begun, self.choosing = True, False
        self.version += 1

    def write(self, text: str) -> None:
        """Take a file; a faulty one stays in the editor, and the form stays as it was."""
        if not self.begun or self.choosing or text != self.file:
            self._remember()
            self._read(text)

    def undo(self) -> None:
        if self.past:
            step = self.past.pop()
            self._show(step.draft)
            if step.text is not None:
                self._read(step.text)
            self.begun = step.begun
            self.version += 1

    def _show(self, draft: Draft) -> None:
        self.draft, self.text, self._checked, self.refused = draft, None, None, False

    def _read(self, text: str) -> None:
        self.text, self._checked, self.refused = text or None, None, False
        self.begun, self.choosing = True, False
        if not text:
            return
        try:
            self.draft = Draft.of(self.reader(text, NAME))
            self.version += 1
        except ScenarioError as error:
            self.refused = True
            self._checked = DraftCheck(text, None, {"": [*error.faults]}, error.more)

    def _remember(self) -> None:
        size = len(self.text or "") + len(self.result.read)
        self.past = [*self.past, FormStep(self.draft, self.text, self.begun, size)][-_UNDO_STEPS:]
        while sum(step.size for step in self.past) > _UNDO_CHARACTERS:
            del self.past[0]
