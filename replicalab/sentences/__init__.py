"""The sentences people read first, built from numbers, each with how it is to be shown."""

from replicalab.sentences.verdicts import (
    ANSWER_MEANINGS,
    ANSWER_STATUS,
    ANSWER_TITLES,
    OUTCOME_STATUS,
    OUTCOME_TITLES,
    TIER_STATUS,
    Status,
    Verdict,
    evidence_sentence,
    evidence_status,
    failing_text,
    offer_story,
    outcome_verdict,
    plan_size,
    plan_verdict,
)

__all__ = [
    "ANSWER_MEANINGS",
    "ANSWER_STATUS",
    "ANSWER_TITLES",
    "OUTCOME_STATUS",
    "OUTCOME_TITLES",
    "TIER_STATUS",
    "Status",
    "Verdict",
    "evidence_sentence",
    "evidence_status",
    "failing_text",
    "offer_story",
    "outcome_verdict",
    "plan_size",
    "plan_verdict",
]
