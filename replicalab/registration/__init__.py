"""Registration forms: their questions, which form asks what, and an author's answers."""

from replicalab.registration.answers import LONGEST_LINE, Finder, Registration
from replicalab.registration.profiles import (
    PROFILES,
    SIDE_BY_SIDE,
    SIDES,
    FormItem,
    Profile,
    Section,
)
from replicalab.registration.questions import QUESTIONS, SAMENESS, Question

__all__ = [
    "LONGEST_LINE",
    "PROFILES",
    "QUESTIONS",
    "SAMENESS",
    "SIDES",
    "SIDE_BY_SIDE",
    "Finder",
    "FormItem",
    "Profile",
    "Question",
    "Registration",
    "Section",
]
