"""A draft: the data of a study's file, right or wrong, how a form changes it, and what it makes."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import count
from typing import Any, Final, cast

from replicalab.assessment import assess
from replicalab.designs import GROUPINGS, KINDS, Kind
from replicalab.drafts.beginning import DEFAULT, NUMBERS, UNSTATED, YOUR_LAB, Block, usual_numbers
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import label_key
from replicalab.limits import LONGEST_SHORT_TITLE, LONGEST_TITLE
from replicalab.models import FIELD_LABELS, Record
from replicalab.scenarios import MOST, Design, Difficulty, Lab, Study, pack_of, parse_study
from replicalab.scenarios.reading import Data, with_text_at
from replicalab.scenarios.writing import data_yaml, study_data, study_yaml

NAME: Final = "your study"
OTHER_LABS: Final = (Difficulty.EASY.value, Difficulty.HARD.value)
_OTHER_LAB: Final = re.compile(f"^labs[.]({'|'.join(OTHER_LABS)})")
_HARD_SHARE: Final = 0.75
_PLAN_LISTS: Final = {"equipment": "required_equipment", "reagents": "required_reagents"}
_PLANNED_CONTROLS: Final = ("reference_protocol", "controls")
# The blocks whose fields a form shows, and whose rules may be between fields.
_PLAN: Final = "reference_protocol"
_BLOCKS: Final[dict[str, type[Record]]] = {"": Study, "design": Design, f"labs.{YOUR_LAB}": Lab}


class OtherLabs(StrEnum):
    """What the easy and the hard lab are, apart from the one that the form shows."""

    SAME = "the same lab"
    MADE = "made from it"
    KEPT = "as they are in the file"


@dataclass(frozen=True)
class Draft:
    """A study that is being written.

    Attributes:
        data: what its file holds; only the medium lab, unless the others are kept.
        others: what the other two labs are.
        aside: what was put aside and comes back when it is asked for: the numbers of other kinds of
            design, and the other two labs.
    """

    data: Block
    others: OtherLabs = OtherLabs.SAME
    aside: Mapping[str, Block] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, study: Study) -> Draft:
        """Return the draft of a study; what it makes is that study again."""
        data = study_data(study)
        saved = cls(data, OtherLabs.KEPT)
        for others in (OtherLabs.SAME, OtherLabs.MADE):
            draft = saved.with_others(others)
            if draft.written() == data:
                return replace(draft, aside={})
        return saved

    # --- what stands in it ---

    def at(self, *path: str | int) -> Data:
        """Return what stands at a place; None where nothing does."""
        value: Data = self.data
        for step in path:
            try:
                value = value[step]  # type: ignore[index]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def items(self, *path: str | int) -> list[Data]:
        """Return the list at a place; an empty one where there is none."""
        value = self.at(*path)
        return value if isinstance(value, list) else []

    def labels(self, *path: str | int) -> list[str]:
        """Return the texts of the list, or the keys of the block, at a place."""
        value = self.at(*path)
        return [str(label) for label in value] if isinstance(value, list | dict) else []

    def names(self, part: str, key: str) -> list[str]:
        """Return what stands under a key in each entry of a list."""
        return [str(self.at(part, place, key)) for place in range(len(self.items(part)))]

    def listed(self, part: str) -> list[str]:
        """Return the labels of a list of the study: its items, or the names of its controls."""
        return self.names(part, "name") if part == "controls" else self.labels(part)

    @property
    def used_items(self) -> list[str]:
        """The study's equipment and reagents."""
        return [*self.labels("equipment"), *self.labels("reagents")]

    def put(self, value: Data, *path: str | int) -> Draft:
        """Return this draft with another value at a place, whatever is there."""
        data = copy.deepcopy(self.data)
        around: Any = data
        for step in path[:-1]:
            if isinstance(around, dict) and around.get(step) is None:
                around[step] = {}
            around = around[step]
        around[path[-1]] = value
        return replace(self, data=data)

    # --- changes that touch more than one place ---

    @property
    def row(self) -> Kind:
        """The kind of design."""
        return KINDS[str(self.at("design", "kind"))]

    def of_kind(self, kind: str) -> Draft:
        """Return this draft with another kind of design, and the numbers that it had of that kind.

        Alpha, target and floor go along where both kinds have them.
        """
        old, new = self.row, KINDS[kind]
        design = dict(cast("Block", self.at("design")))
        texts = (*NUMBERS, *GROUPINGS, "original")
        record = {name: design.pop(name) for name in texts if name in design}
        numbers = self.aside.get(kind)
        if numbers is None:
            numbers = usual_numbers(new)
            if new.scale is old.scale:
                shared = ("alpha", "target", "floor")
                numbers |= {
                    name: record[name] for name in shared if record.get(name) and name in numbers
                }
        aside = {**self.aside, old.kind: record}
        design |= {"kind": kind, **numbers}
        ordered = {name: design[name] for name in Design.model_fields if name in design}
        return replace(self.put(ordered, "design"), aside=aside)

    def with_number(self, name: str, value: Data) -> Draft:
        """Return this draft with another number of the design, which is no longer the default."""
        draft, why = self.put(value, "design", name), ("design", "why", name)
        return draft.put(UNSTATED, *why) if self.at(*why) == DEFAULT else draft

    def with_labels(self, category: str, labels: list[str]) -> Draft:
        """Return this draft with these pieces of equipment, or reagents.

        A new one is used by the plan; one that is gone leaves the plan and the labs.
        """
        texts = {label_key(label) for label in self.labels(category)}
        existing = {label_key(label) for label in labels}
        in_plan = ("reference_protocol", _PLAN_LISTS[category])
        planned = [label for label in self.labels(*in_plan) if label_key(label) in existing]
        planned += [label for label in labels if label_key(label) not in texts]
        draft = self.put([*labels], category).put([*planned], *in_plan)
        for level, lab in cast("Block", self.at("labs")).items():
            if isinstance(lab, dict):
                draft = draft.put(_without(lab, texts - existing), "labs", level)
        return draft

    def with_entry(self, part: str, entry: Block) -> Draft:
        """Return this draft with one entry more in a list."""
        return self.put([*self.items(part), entry], part)

    def with_control(self, name: str) -> Draft:
        """Return this draft with one control more, which the plan runs."""
        control: Block = {"name": name, "droppable": True, "protects_against": UNSTATED}
        planned = [*self.items(*_PLANNED_CONTROLS), name]
        return self.with_entry("controls", control).put(planned, *_PLANNED_CONTROLS)

    def with_control_named(self, place: int, name: str) -> Draft:
        """Return this draft with another name for a control, in the plan too."""
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
        """Return this draft with other two labs; those of the file come back when asked for."""
        labs = {**cast("Block", self.at("labs"))}
        aside = dict(self.aside)
        if self.others is OtherLabs.KEPT:
            aside["labs"] = {level: labs.pop(level) for level in OTHER_LABS if level in labs}
        if others is OtherLabs.KEPT:
            made = cast("Block", self.written()["labs"])
            labs |= aside.get("labs") or {level: made[level] for level in OTHER_LABS}
        return replace(self.put(labs, "labs"), others=others, aside=aside)

    # --- what is made of it ---

    def written(self) -> Block:
        """Return what the study's file holds, with its three labs."""
        if self.others is OtherLabs.KEPT:
            return self.data
        lab = self.at("labs", YOUR_LAB)
        same: Block = {
            **self.data,
            "labs": dict.fromkeys((level.value for level in Difficulty), lab),
        }
        if self.others is OtherLabs.SAME:
            return same
        try:
            study = parse_study(data_yaml(same), NAME)
        except ScenarioError:
            return same
        return {**self.data, "labs": study_data(_with_made_labs(study))["labs"]}

    def text(self) -> str:
        """Return the study's file, right or wrong."""
        return data_yaml(self.written())


def _without(lab: Block, gone: set[str]) -> Block:
    """Return a lab in which nothing is said of some items."""
    record = dict(lab)
    for name in ("booked", "prices", "out_of_stock"):
        if isinstance(items := lab.get(name), dict):
            record[name] = {item: at for item, at in items.items() if label_key(item) not in gone}
        elif isinstance(items, list):
            record[name] = [item for item in items if label_key(str(item)) not in gone]
    return {name: value for name, value in record.items() if value or not lab[name]}


def _with_made_labs(study: Study) -> Study:
    """Return a study with an easy and a hard lab made from its medium one.

    In the easy lab nothing is missing, and credits, days and people reach for the reference
    protocol. The hard one has three quarters of the credits and the days, and one person fewer.
    """
    lab = study.labs.medium.with_means()
    worth = assess(study.reference_protocol, pack_of(study, Difficulty.MEDIUM))
    enough = {
        "budget": math.ceil(worth.cost),
        "days": worth.plan.duration_days + lab.start_day - 1,
        "staff": worth.staff,
    }
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


# --- the study, or what is wrong ------------------------------------------------------------


@dataclass(frozen=True)
class Checked:
    """What a draft makes.

    Attributes:
        study: where nothing is wrong with it.
        faults: what is wrong, by dotted field path.
        more: how many faults there are beyond these.
        read: its file as it was read.
    """

    study: Study | None
    faults: dict[str, list[Fault]]
    more: int
    read: str

    @cached_property
    def text(self) -> str:
        """The study's file for people: of a study that can be used in the order of its fields."""
        return study_yaml(self.study) if self.study else self.read


def check(draft: Draft, read: Callable[[str, str], Study] = parse_study) -> Checked:
    """Return what a draft makes."""
    text = draft.text()
    try:
        return Checked(read(text, NAME), {}, 0, text)
    except ScenarioError as error:
        return Checked(None, _by_field(error.faults, draft.others), error.more, text)


def _by_field(all_faults: Sequence[Fault], others: OtherLabs) -> dict[str, list[Fault]]:
    """Return faults by field; one that other labs only repeat stands once, at the lab asked for."""
    faults: dict[str, list[Fault]] = {}
    repeated: dict[str, list[Fault]] = {}
    for fault in all_faults:
        path = fault.path
        if others is not OtherLabs.KEPT:
            path = _OTHER_LAB.sub(f"labs.{YOUR_LAB}", path)
        same = faults if path == fault.path else repeated
        same.setdefault(_place(path, fault.problem), []).append(fault)
    for path, same_faults in repeated.items():
        faults.setdefault(path, same_faults[:1])
    return faults


def _place(path: str, problem: str) -> str:
    """Return the field of a fault: of a block's, the field that its words name first."""
    if path == _PLAN:
        labels = (name for name, label in FIELD_LABELS.items() if problem.startswith(f"{label} "))
        return f"{path}.{next(labels, '')}".removesuffix(".")
    block = _BLOCKS.get(path)
    if block is None:
        return path
    for word in re.findall(r"\w+", problem):
        name = f"{word}s" if f"{word}s" in block.model_fields else word
        if name in block.model_fields:
            return f"{path}.{name}".removeprefix(".")
    return path


def free_name(name: str, taken: Iterable[str], longest: int = LONGEST_TITLE) -> str:
    """Return a name that is not taken: it, or with a number after it: ``My study (2)``."""
    keys = {label_key(text) for text in taken}
    ends = ("" if number == 1 else f" ({number})" for number in count(1))
    tried = (f"{name[: longest - len(end)].rstrip()}{end}" for end in ends)
    return next(text for text in tried if label_key(text) not in keys)


def longest_name(study: Study) -> int:
    """Return how many characters a study's name may have: its short title's, where it has one."""
    return LONGEST_TITLE if study.paper.short_title is None else LONGEST_SHORT_TITLE


def renamed(text: str, study: Study, name: str) -> str:
    """Return the file of a study under another name; all else of it stays, its notes too.

    Raises:
        ScenarioError: it cannot be called that.
    """
    field = "title" if study.paper.short_title is None else "short_title"
    wanted = {**study.model_dump(mode="json")["paper"], field: name}
    written = with_text_at(text, json.dumps(name, ensure_ascii=False), "paper", field)
    try:
        result = parse_study(written, "your study")
    except ScenarioError:
        result = None
    if result is not None and result.model_dump(mode="json")["paper"] == wanted:
        return written
    # Written in a way that cannot be changed in its place: the whole file is written anew.
    anew = Draft.of(study).put(name, "paper", field).text()
    parse_study(anew, "your study")
    return anew
