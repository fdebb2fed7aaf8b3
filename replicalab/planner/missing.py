"""The items that a lab lacks, what may take their place, and what fails because of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from replicalab.agents.feasibility import needs, replacements
from replicalab.agents.suggestions import SuggestionChange, substitution
from replicalab.lexicon import label_key
from replicalab.models import Dimension, Wording
from replicalab.policy import wording_violations
from replicalab.scenarios import ItemStatus, Pack

Place = tuple[str, str]
"""A protocol field and the key of a label in it."""


class Alternative(NamedTuple):
    """What may take a missing item's place.

    Attributes:
        key: of its label.
        changes: one for each label that names the item.
        failing: the dimensions that fail because the plan lists the alternative.
    """

    key: str
    changes: tuple[SuggestionChange, ...]
    failing: frozenset[Dimension]


class Missing(NamedTuple):
    """An item that the lab lacks, in one field of the plan, and that may be replaced.

    Attributes:
        place: where the plan lists it.
        failing: the dimensions that fail while it stays.
        alternatives: what may take its place, nothing that the plan lists already.
    """

    place: Place
    failing: frozenset[Dimension]
    alternatives: tuple[Alternative, ...]

    @property
    def keys(self) -> set[str]:
        """The labels that may go or come with it."""
        return {self.place[1], *(alternative.key for alternative in self.alternatives)}


def listed_places(wording: Wording) -> frozenset[Place]:
    """Return where a plan lists which item."""
    return frozenset((field, label_key(label)) for field, _, label in needs(wording))


def missing_items(wording: Wording, scenario: Pack) -> list[Missing]:
    """Return what is missing and may be replaced, once for each field that lists it."""
    copies: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for field, category, label in needs(wording):
        copies[field, category, label_key(label)].append(label)
    listed = {key for _, key in listed_places(wording)}
    found = [
        Missing(
            (field, key),
            item_failing(category, labels, scenario),
            tuple(
                Alternative(
                    label_key(each),
                    tuple(substitution(field, category, label, each, scenario) for label in labels),
                    item_failing(category, [each], scenario),
                )
                for each in dict.fromkeys(replacements(labels[0], category, scenario))
                if label_key(each) not in listed
            ),
        )
        for (field, category, key), labels in copies.items()
    ]
    return [item for item in found if item.alternatives]


def item_failing(category: str, labels: list[str], scenario: Pack) -> frozenset[Dimension]:
    """Return the dimensions that fail because a plan lists an item under these labels."""
    failing = set(policy_failing(labels, scenario))
    status = scenario.inventory.status(labels[0], category)
    if status is not ItemStatus.AVAILABLE:
        failing.add(Dimension.EQUIPMENT if category == "equipment" else Dimension.REAGENTS)
        replaceable = scenario.inventory.alternatives(labels[0])
        if status is not ItemStatus.UNKNOWN and not replaceable:
            failing.add(Dimension.PROTOCOL)
    return frozenset(failing)


def policy_failing(texts: Iterable[str], scenario: Pack) -> frozenset[Dimension]:
    """Return policy, if any of these texts of a plan breaks a restriction."""
    stated = Wording("", "", tuple(texts), (), ())
    broken = wording_violations(stated, scenario.policy_rules)
    return frozenset({Dimension.POLICY}) if broken else frozenset()
