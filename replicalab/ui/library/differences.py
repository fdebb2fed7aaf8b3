"""What differs between two contents of a kind, field by field, as texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from replicalab.errors import ReplicaLabError
from replicalab.lexicon import capitalised
from replicalab.library import KINDS, EntryKind
from replicalab.models import FIELD_LABELS
from replicalab.views.lab import MEANS, RATES, STEPS

_NONE: Final = "—"
_NAMES: Final = {**FIELD_LABELS, **MEANS, **RATES, **STEPS, "lab": "Lab"}
_QUIET: Final = frozenset({"format"})
_LONGEST: Final = 300  # Of a longer text its beginning is shown, and its length

Row = tuple[str, str, str]


def differences(kind: EntryKind, one: str, other: str) -> list[Row]:
    """Return what of two contents differs: what it is called, and both; or why none can be read."""
    try:
        before, after = (dict(_told("", KINDS[kind].facts(text))) for text in (one, other))
    except ReplicaLabError as error:
        return [("Cannot be read", str(error), "")]
    names = list(dict.fromkeys((*before, *after)))
    pairs = ((name, before.get(name, _NONE), after.get(name, _NONE)) for name in names)
    return [(name, _short(was), _short(now)) for name, was, now in pairs if was != now]


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
