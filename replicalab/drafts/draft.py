"""A draft: the data of a study's file, right or wrong, and how a form changes it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, cast

from replicalab.drafts.beginning import DEFAULT, NUMBERS, UNSTATED, Block, usual_numbers
from replicalab.drafts.labs import OTHER_LABS, YOUR_LAB, made_labs
from replicalab.errors import ScenarioError
from replicalab.lexicon import label_key
from replicalab.measures import KINDS, DesignKind, Kind
from replicalab.scenarios import Design, Difficulty, Study, parse_study
from replicalab.scenarios.reading import Data
from replicalab.scenarios.writing import data_yaml, study_data

NAME: Final = "your study"
_PLAN_LISTS: Final = {"equipment": "required_equipment", "reagents": "required_reagents"}


class Others(StrEnum):
    """What the easy and the hard lab are, beside the one that the form shows."""

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
    others: Others = Others.SAME
    aside: Mapping[str, Block] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, study: Study) -> Draft:
        """Return the draft of a study; what it makes is that study again."""
        data = study_data(study)
        kept = cls(data, Others.KEPT)
        for others in (Others.SAME, Others.MADE):
            draft = kept.with_others(others)
            if draft.written() == data:
                return replace(draft, aside={})
        return kept

    # --- what stands in it ---

    def at(self, *path: str | int) -> Data:
        """Return what stands at a place; None where nothing does."""
        found: Data = self.data
        for step in path:
            try:
                found = found[step]  # type: ignore[index]
            except (KeyError, IndexError, TypeError):
                return None
        return found

    def items(self, *path: str | int) -> list[Data]:
        """Return the list at a place; an empty one where there is none."""
        found = self.at(*path)
        return found if isinstance(found, list) else []

    def labels(self, *path: str | int) -> list[str]:
        """Return the texts of the list, or the keys of the block, at a place."""
        found = self.at(*path)
        return [str(each) for each in found] if isinstance(found, list | dict) else []

    def names(self, part: str, key: str) -> list[str]:
        """Return what stands under a key in each entry of a list."""
        return [str(self.at(part, place, key)) for place in range(len(self.items(part)))]

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
        return KINDS[DesignKind(str(self.at("design", "kind")))]

    def of_kind(self, kind: DesignKind) -> Draft:
        """Return this draft with another kind of design, and the numbers that it had of that kind.

        Alpha, target and floor go along where both kinds have them.
        """
        old, new = self.row, KINDS[kind]
        design = dict(cast("Block", self.at("design")))
        left = {name: design.pop(name) for name in NUMBERS if name in design}
        found = self.aside.get(kind.value)
        if found is None:
            found = usual_numbers(new)
            if new.scale is old.scale:
                shared = ("alpha", "target", "floor")
                found |= {name: left[name] for name in shared if left.get(name) and name in found}
        aside = {**self.aside, old.kind.value: left}
        design |= {"kind": kind.value, **found}
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
        known = {label_key(label) for label in self.labels(category)}
        there = {label_key(label) for label in labels}
        in_plan = ("reference_protocol", _PLAN_LISTS[category])
        planned = [label for label in self.labels(*in_plan) if label_key(label) in there]
        planned += [label for label in labels if label_key(label) not in known]
        draft = self.put([*labels], category).put([*planned], *in_plan)
        for level, lab in cast("Block", self.at("labs")).items():
            if isinstance(lab, dict):
                draft = draft.put(_without(lab, known - there), "labs", level)
        return draft

    def with_control(self, name: str) -> Draft:
        """Return this draft with one control more, which the plan runs."""
        control: Block = {"name": name, "droppable": True, "protects_against": UNSTATED}
        in_plan = ("reference_protocol", "controls")
        draft = self.put([*self.items("controls"), control], "controls")
        return draft.put([*self.items(*in_plan), name], *in_plan)

    def with_control_named(self, place: int, name: str) -> Draft:
        """Return this draft with another name for a control, in the plan too."""
        old, in_plan = self.at("controls", place, "name"), ("reference_protocol", "controls")
        draft = self.put(name, "controls", place, "name")
        renamed = [name if label == old else label for label in self.items(*in_plan)]
        return draft.put([*renamed], *in_plan)

    def without(self, part: str, place: int) -> Draft:
        """Return this draft without an entry of a list; a control leaves the plan too."""
        gone, in_plan = self.at(part, place, "name"), ("reference_protocol", "controls")
        draft = self.put([each for n, each in enumerate(self.items(part)) if n != place], part)
        if part != "controls":
            return draft
        return draft.put([label for label in self.items(*in_plan) if label != gone], *in_plan)

    def with_others(self, others: Others) -> Draft:
        """Return this draft with other two labs; those of the file come back when asked for."""
        labs = {**cast("Block", self.at("labs"))}
        aside = dict(self.aside)
        if self.others is Others.KEPT:
            aside["labs"] = {level: labs.pop(level) for level in OTHER_LABS if level in labs}
        if others is Others.KEPT:
            made = cast("Block", self.written()["labs"])
            labs |= aside.get("labs") or {level: made[level] for level in OTHER_LABS}
        return replace(self.put(labs, "labs"), others=others, aside=aside)

    # --- what is made of it ---

    def written(self) -> Block:
        """Return what the study's file holds, with its three labs."""
        if self.others is Others.KEPT:
            return self.data
        lab = self.at("labs", YOUR_LAB)
        same = self._with_labs(dict.fromkeys(Difficulty, lab))
        if self.others is Others.SAME:
            return same
        try:
            study = parse_study(data_yaml(same), NAME)
        except ScenarioError:
            return same
        return self._with_labs(made_labs(study))

    def _with_labs(self, labs: Mapping[Difficulty, Data]) -> Block:
        return {**self.data, "labs": {level.value: lab for level, lab in labs.items()}}

    def text(self) -> str:
        """Return the study's file, right or wrong."""
        return data_yaml(self.written())


def _without(lab: Block, gone: set[str]) -> Block:
    """Return a lab in which nothing is said of some items."""
    left = dict(lab)
    for name in ("booked", "prices"):
        if isinstance(block := lab.get(name), dict):
            left[name] = {
                label: each for label, each in block.items() if label_key(label) not in gone
            }
    if isinstance(labels := lab.get("out_of_stock"), list):
        left["out_of_stock"] = [label for label in labels if label_key(str(label)) not in gone]
    return {name: value for name, value in left.items() if value or not lab[name]}
