"""How large a plan may be: what the pages, the links and the study files take.

A protocol as such has no limit; what evidence is computed for, and what a page can show, has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from replicalab.models import FIELD_LABELS, PROTOCOL_FIELDS, Protocol, wording_of

LARGEST_PLANNED: Final = 1_000_000
"""The most samples, or days, of a plan: what the evidence is computed for."""
MOST_LABELS: Final = 200
"""The most controls, pieces of equipment or reagents of a plan."""
LONGEST_LABEL: Final = 300
"""The most characters of a label."""
LONGEST_TEXT: Final = 4000
"""The most characters of a technique or a rationale."""
MOST_BYTES: Final = 20_000
"""The most bytes of a plan's texts together (UTF-8): what an address can carry."""


def too_large(protocol: Protocol) -> list[str]:
    """Return what of a plan is larger than can be planned here, each with value and limit."""
    return [
        *(
            problem
            for field in PROTOCOL_FIELDS
            for problem in _problems(FIELD_LABELS[field], getattr(protocol, field))
        ),
        *_size_problems(protocol),
    ]


def _problems(name: str, value: int | str | list[str]) -> Iterator[str]:
    if isinstance(value, int):
        if value > LARGEST_PLANNED:
            yield f"{name} is {value:,}; at most {LARGEST_PLANNED:,} can be planned here"
    elif isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            yield f"{name} has {len(value):,} characters; at most {LONGEST_TEXT:,} fit"
    else:
        yield from _label_problems(name, value)


def _label_problems(name: str, labels: list[str]) -> Iterator[str]:
    if len(labels) > MOST_LABELS:
        yield f"{name} has {len(labels):,} entries; at most {MOST_LABELS} fit"
    longest = max(map(len, labels), default=0)
    if longest > LONGEST_LABEL:
        yield f"{name} has an entry of {longest:,} characters; at most {LONGEST_LABEL} fit"


def _size_problems(protocol: Protocol) -> Iterator[str]:
    size = sum(len(text.encode("utf-8", "replace")) for _, text in wording_of(protocol).texts)
    if size > MOST_BYTES:
        yield f"The plan's texts take {size:,} bytes; at most {MOST_BYTES:,} fit"
