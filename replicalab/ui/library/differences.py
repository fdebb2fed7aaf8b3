"""What differs between two contents of a kind, field by field, as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from replicalab.errors import LibraryContentError, ReplicaLabError
from replicalab.lexicon import capitalised
from replicalab.library import Kind, read_batch, read_decision, read_plan
from replicalab.models import FIELD_LABELS
from replicalab.negotiation import load
from replicalab.scenarios import parse_study, read_lab
from replicalab.text.lab import MEANS, RATES, STEPS

_NONE: Final = "—"
_NAMES: Final = {**FIELD_LABELS, **MEANS, **RATES, **STEPS, "lab": "Lab"}
_QUIET: Final = frozenset({"format"})
_LONGEST: Final = 300
"""Of a longer text its beginning is shown, and its length."""

Row = tuple[str, str, str]


def differences(kind: Kind, one: str, other: str) -> list[Row]:
    """Return what of two contents differs: what it is called, and both.

    Raises:
        LibraryContentError: one of them cannot be read.
    """
    try:
        before, after = (dict(_told("", _FACTS[kind](text))) for text in (one, other))
    except LibraryContentError:
        raise
    except ReplicaLabError as error:
        raise LibraryContentError(str(error)) from error
    names = list(dict.fromkeys((*before, *after)))
    pairs = ((name, before.get(name, _NONE), after.get(name, _NONE)) for name in names)
    return [(name, _short(was), _short(now)) for name, was, now in pairs if was != now]


def _of_plan(text: str) -> dict[str, object]:
    """Return a plan's facts; without a plan of its own, those of the study's reference protocol."""
    kept = read_plan(text)
    plan = kept.plan or kept.pack().reference_protocol
    return {**plan.model_dump(mode="json"), **kept.model_dump(mode="json", exclude={"plan"})}


def _of_run(text: str) -> dict[str, object]:
    found = load(text)
    return {
        **found.setup.model_dump(mode="json"),
        "turns": [turn.model_dump(mode="json", exclude_defaults=True) for turn in found.turns],
        "outcome": found.outcome,
    }


_FACTS: Final[dict[Kind, Callable[[str], Mapping[str, object]]]] = {
    Kind.PLAN: _of_plan,
    Kind.LAB: lambda text: read_lab(text.encode()).model_dump(mode="json"),
    Kind.STUDY: lambda text: parse_study(text, "the study").model_dump(mode="json"),
    Kind.RUN: _of_run,
    Kind.BATCH: lambda text: read_batch(text).model_dump(mode="json"),
    Kind.DECISION: lambda text: read_decision(text).model_dump(mode="json"),
}


def _told(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield every fact under the names that lead to it."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            if key not in _QUIET:
                yield from _told(f"{name}: {_named(key)}" if name else _named(key), each)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for number, each in enumerate(value, start=1):
            yield from _told(f"{name} {number}", each)
    elif value not in (None, "", []):
        yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _named(key: str) -> str:
    return _NAMES.get(key, capitalised(key.replace("_", " ")))


def _short(text: str) -> str:
    more = len(text) - _LONGEST
    return f"{text[:_LONGEST]}… ({more:,} characters more)" if more > 0 else text
