"""How the study is to be run and analysed: what its author says of it, and what the plan lists.

A text of the author's counts as an answer where it has the words of the question; it is quoted, and
whoever reads it judges it.
"""

from __future__ import annotations

import re
from typing import Final

from replicalab.features.critique.remarks import (
    Judged,
    Reviewed,
    answered,
    concern,
    denies,
    mentioned,
    quoted,
    sentence_with,
    unsaid,
)
from replicalab.lexicon import count_text, is_given, joined
from replicalab.lexicon import quoted as labels_quoted
from replicalab.registration import QUESTIONS, Finder

_OBSERVED: Final = "Observational study"
# Not a baseline that acts at random, nor an interval that excludes a value.
_RANDOM: Final = re.compile(
    r"\brandomi[sz]|\bat random\b|\brandomly\b|\brandom (?:sampl|order|assign|alloc|audit|draw)",
    re.IGNORECASE,
)
_RANDOM_WORDS: Final = (
    *("random", "randomly", "randomised", "randomized", "randomisation", "randomization"),
)
_CONCEALED: Final = re.compile(r"\bconceal|\bsealed\b|\bopaque\b", re.IGNORECASE)
_CONCEALED_WORDS: Final = ("conceal", "concealed", "concealment", "sealed", "opaque")
_BLIND: Final = re.compile(r"\b(un)?blind|\bmasked\b", re.IGNORECASE)
_POSITIVE: Final = re.compile(r"\bpositive\b", re.IGNORECASE)
_NEGATIVE: Final = re.compile(r"\bnegative\b", re.IGNORECASE)
_EXCLUDED: Final = re.compile(
    r"\A(?!.*\bintervals?\b.*\bexclud).*(?:\bexclu|\breject|\bscreen)", re.IGNORECASE | re.DOTALL
)
_OUTLIERS: Final = re.compile(r"\boutl(?:ier|ying)|\btrim|\bwinsor|\brobust\b", re.IGNORECASE)
_MISSING: Final = re.compile(r"\bmissing|\bimput|\bintention", re.IGNORECASE)
_MULTIPLE: Final = re.compile(
    r"\bmultipl|\bfamily-?wise|\bbonferroni|\bholm\b|\bfalse discovery|\bfdr\b"
    r"|\b(?:one|single|sole|only) primary\b",
    re.IGNORECASE,
)
_INTERIM: Final = re.compile(
    r"\binterim|\bsequential|\bpeek|\blooks?\b|\buntil (?:it is |the result is )?significant",
    re.IGNORECASE,
)
_INTERIM_WORDS: Final = ("interim", "sequential", "sequentially", "peek", "look", "looks")


def randomisation(of: Reviewed) -> Judged:
    """Judge how units are randomised, or drawn at random."""
    for text in of.author("randomisation"):
        if denies(text, _RANDOM_WORDS):
            return concern(
                f"{quoted(text)} Without it a difference may be one of the units from the start.",
                Finder.AUTHOR,
            )
        return answered(quoted(text), Finder.AUTHOR)
    if _OBSERVED in of.author("study_type"):
        return concern(
            "It is registered as an observational study: nothing is allocated at random, so a "
            "difference may come from how the groups came about.",
            Finder.AUTHOR,
        )
    return unsaid(mentioned(of, _RANDOM))


def concealment(of: Reviewed) -> Judged:
    """Judge whether the allocation is concealed from whoever enrols the units."""
    said = of.author("randomisation", "more_blinding")
    if text := sentence_with(said, _CONCEALED):
        if denies(text, _CONCEALED_WORDS):
            return concern(
                f"{quoted(text)} Whoever knows the next allocation can choose the unit for it.",
                Finder.AUTHOR,
            )
        return answered(quoted(text), Finder.AUTHOR)
    if said:
        return unsaid("What the author says of the allocation does not mention concealment.")
    return unsaid(mentioned(of, _CONCEALED))


def blinding(of: Reviewed) -> Judged:
    """Judge who is blinded."""
    chosen = of.said.choices.get("blinding", ())
    more = "".join(f" {quoted(text)}" for text in of.author("more_blinding"))
    if QUESTIONS["blinding"].alone in chosen:
        return concern(
            f"Nobody is blinded: who knows the condition may measure what is expected.{more}",
            Finder.AUTHOR,
        )
    if chosen:
        return answered(f"Blinded: {joined(chosen)}.{more}", Finder.AUTHOR)
    if more:
        return answered(more.strip(), Finder.AUTHOR)
    return unsaid(mentioned(of, _BLIND))


def controls(of: Reviewed) -> Judged:
    """Judge whether the plan keeps the study's controls."""
    dropped, listed = of.plan.dropped, of.plan.plan.controls
    if dropped:
        lost = [f"without '{each.name}' against {each.guards}" for each in dropped if each.guards]
        bare = labels_quoted([each.name for each in dropped if not each.guards])
        told = [f"Nothing protects {joined(lost)}."] if lost else []
        told += [f"The plan lacks {joined(bare)}."] if bare else []
        return concern(" ".join(told))
    if not listed:
        return concern("The plan has no controls: nothing guards its result against artefacts.")
    more = "".join(f" {quoted(text)}" for text in of.author("controls"))
    return answered(f"The plan has {joined(labels_quoted(listed))}.{more}")


def control_kinds(of: Reviewed) -> Judged:
    """Judge whether a positive and a negative control are named as such."""
    known = {each.name: each.guards for each in of.pack.controls}
    planned = [f"{name}: {known.get(name, '')}" for name in of.plan.plan.controls]
    said = of.author("controls")
    found = {
        "positive": sentence_with([*said, *planned], _POSITIVE),
        "negative": sentence_with([*said, *planned], _NEGATIVE),
    }
    lacks = [kind for kind, text in found.items() if not text]
    if not lacks:
        quotes = dict.fromkeys(text.rstrip(": ") for text in found.values())
        who = Finder.AUTHOR if sentence_with(said, _POSITIVE) else Finder.STUDY
        return answered(" ".join(map(quoted, quotes)), who)
    if not planned:
        return concern("The plan has no controls, neither a positive nor a negative one.")
    which = joined(lacks, "and which a")
    return unsaid(f"The plan has {count_text(len(planned), 'control')}; which is a {which} one?")


def exclusions(of: Reviewed) -> Judged:
    """Judge whether it is said what is excluded."""
    for text in of.author("exclusions"):
        return answered(quoted(text), Finder.AUTHOR)
    return unsaid(mentioned(of, _EXCLUDED))


def outliers(of: Reviewed) -> Judged:
    """Judge whether it is said how outliers are treated."""
    said = of.author("exclusions", "analysis", "transformations")
    if text := sentence_with(said, _OUTLIERS):
        return answered(quoted(text), Finder.AUTHOR)
    if said:
        return unsaid("What the author says of exclusions and analysis does not mention outliers.")
    return unsaid(mentioned(of, _OUTLIERS))


def missing_data(of: Reviewed) -> Judged:
    """Judge whether it is said what happens to missing data."""
    for text in of.author("missing_data"):
        return answered(quoted(text), Finder.AUTHOR)
    if text := sentence_with(of.author("analysis", "exclusions"), _MISSING):
        return answered(quoted(text), Finder.AUTHOR)
    return unsaid(mentioned(of, _MISSING))


def multiplicity(of: Reviewed) -> Judged:
    """Judge whether the level is kept over several primary outcomes."""
    said = of.author("analysis", "inference", "outcomes")
    if text := sentence_with(said, _MULTIPLE):
        return answered(quoted(text), Finder.AUTHOR)
    criteria = [text for text in of.pack.success_criteria if is_given(text)]
    if len(criteria) > 1:
        return concern(
            f"The study names {len(criteria)} criteria of success; which outcome is primary, and "
            "whether the level is kept over all of them, is not given.",
            Finder.STUDY,
        )
    return unsaid("Neither study nor author says how many primary outcomes there are.")


def stopping(of: Reviewed) -> Judged:
    """Judge whether it is said when data collection stops."""
    said = of.author("stopping")
    if (text := sentence_with(said, _INTERIM)) and not denies(text, _INTERIM_WORDS):
        return concern(
            f"{quoted(text)} No interim analysis with an adjusted level is planned, so each "
            "one adds to the chance of a false positive.",
            Finder.AUTHOR,
        )
    for text in said:
        return answered(quoted(text), Finder.AUTHOR)
    size = count_text(of.plan.counts.samples, "sample")
    return unsaid(f"The plan has {size}, and no other stopping rule is given.")


def availability(of: Reviewed) -> Judged:
    """Judge whether the lab has what the plan lists, and the authors give the original's."""
    missing = [f"'{item.label}' is {item.status_text}" for item in of.plan.missing_items]
    if missing:
        return concern(f"In this lab {joined(missing)}.")
    said = of.said.choices.get("original_materials", ())
    has = "The lab has all that the plan lists"
    if "No" in said:
        return concern(
            f"{has}, but the original’s materials are not available from its authors.",
            Finder.AUTHOR,
        )
    if said:
        return answered(
            f"{has}, and the original’s materials are available from its authors.", Finder.AUTHOR
        )
    return unsaid(f"{has}; whether the original’s materials can be had is not given.")
