"""What the lint says: a level, a place in the file, and a message with its remedy."""

from __future__ import annotations

from enum import StrEnum

from replicalab.models import NonEmptyText, Record


class LintLevel(StrEnum):
    """How much a finding matters: a note informs, a warning asks for a change."""

    NOTE = "note"
    WARNING = "warning"


class LintFinding(Record):
    """One finding; ``place`` is the dotted path of the part of the file that it is about."""

    level: LintLevel
    place: NonEmptyText
    message: NonEmptyText


def note(place: str, message: str) -> LintFinding:
    """Return a finding that informs."""
    return LintFinding(level=LintLevel.NOTE, place=place, message=message)


def warning(place: str, message: str) -> LintFinding:
    """Return a finding that asks for a change."""
    return LintFinding(level=LintLevel.WARNING, place=place, message=message)
