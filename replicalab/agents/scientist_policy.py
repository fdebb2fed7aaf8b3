"""The Scientist: how a model is asked, how its answer is read, and a baseline without a model.

No call of a model happens here: the backend is a plain function (`GenerateFn`) that is passed in.
Source: docs/methods.md, Scientist.
"""

import re
from collections.abc import Callable
from itertools import count
from typing import Annotated, Final, Self, TypeAlias

from pydantic import Field, model_validator

from replicalab import models
from replicalab.agents.parsing import (
    ParseErrorCode,
    ScientistOutputParseError,
    parse_scientist_output,
)
from replicalab.agents.prompts import build_scientist_system_prompt, format_scientist_observation

__all__ = [
    "GenerateFn",
    "RetryMetadata",
    "ScientistCallResult",
    "ScientistOutputParseError",
    "build_baseline_scientist_action",
    "build_scientist_system_prompt",
    "call_scientist_with_retry",
    "format_scientist_observation",
    "parse_scientist_output",
]

GenerateFn: TypeAlias = Callable[[list[dict[str, str]]], str]
"""A model: chat messages (``role``, ``content``) in, its text out."""


_ML_HINTS: Final = tuple(
    "benchmark, dataset, accuracy, tokenizer, train, gpu, bert, classifier, deep learning, "
    "deep reinforcement, language model, machine learning, neural network".split(", ")
)
_FINANCE_HINTS: Final = tuple(
    "backtest, drawdown, sharpe, trading, slippage, portfolio, stock market, stock return, "
    "volatility".split(", ")
)
_BLOCKER_HINTS: Final = tuple(
    "booked, unavailable, exceeds, tight, budget, cost, not available, limited, deadline, "
    "out of stock, over the limit, insufficient, too many, too long, understaffed".split(", ")
)


def _one_of(hints: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds a word that starts with a hint: "training" does, "constraint" not."""
    words = "|".join(map(re.escape, hints)).replace(r"\ ", r"\s+")
    return re.compile(rf"\b(?:{words})")


_ML: Final = _one_of(_ML_HINTS)
_FINANCE: Final = _one_of(_FINANCE_HINTS)
_BLOCKER: Final = _one_of(_BLOCKER_HINTS)

_NO_INVENTORY: Final = (
    "No items are listed: this plan is made from the paper alone, which does not say what the "
    "lab has."
)
# What the baseline proposes in each domain.
_DEFAULTS: Final = {
    domain: models.Protocol(
        sample_size=samples,
        controls=controls,
        technique=technique,
        duration_days=days,
        required_equipment=[],
        required_reagents=[],
        rationale=f"{reason} {_NO_INVENTORY}",
    )
    for domain, samples, days, controls, technique, reason in (
        (
            "machine_learning", 10, 5, ["published baseline", "shuffled labels"],
            "independent training runs with fixed seeds, scored on the held-out split",
            "Several seeds show the spread that one run hides.",
        ),
        (
            "finance_trading", 60, 5, ["buy and hold", "randomly drawn signal"],
            "walk-forward backtest on historical data, costs included",
            "Sixty periods, each scored on data not used to choose it.",
        ),
        (
            "mathematics", 20, 4, ["trivial case", "known counterexample"],
            "case-by-case check of the published claim, written out step by step",
            "Checked cases show where the claim holds and where it breaks.",
        ),
    )
}  # fmt: skip

_CORRECTIONS: Final[dict[ParseErrorCode, str]] = {
    ParseErrorCode.NO_JSON: (
        "Your previous response did not contain a JSON object. "
        "Respond with exactly one JSON object that is a valid ScientistAction."
    ),
    ParseErrorCode.INVALID_JSON: (
        "Your previous response contained malformed JSON: {message}. "
        "Respond with exactly one complete JSON object, without comments or trailing commas."
    ),
    ParseErrorCode.INVALID_ACTION: (
        "Your previous response was JSON but failed ScientistAction validation: {message}. "
        "Fix the validation error and respond with exactly one JSON object."
    ),
}


class RetryMetadata(models.Record):
    """How an action was obtained; ``last_error_*`` are None when the first answer was valid."""

    attempt_count: Annotated[int, Field(strict=True, ge=1)]
    retry_count: models.Count
    last_error_code: ParseErrorCode | None
    last_error_message: str | None

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        if self.retry_count != self.attempt_count - 1:
            raise ValueError(
                f"retry_count is {self.retry_count}, must be attempt_count - 1 = "
                f"{self.attempt_count - 1}"
            )
        return self


class ScientistCallResult(models.Record):
    """A valid action, and how it was obtained."""

    action: models.ScientistAction
    metadata: RetryMetadata


def call_scientist_with_retry(
    generate_fn: GenerateFn,
    system_prompt: str,
    observation: models.ScientistObservation,
    max_retries: int = 2,
) -> ScientistCallResult:
    """Return the first valid action of ``generate_fn``, asked at most ``1 + max_retries`` times.

    Each failed answer and its correction join the messages, so attempt k + 1 is sent 2 + 2k.
    What ``generate_fn`` itself raises is not caught.

    Raises:
        ValueError: ``max_retries`` is below 0.
        ScientistOutputParseError: no answer was valid; this is the last failure.
    """
    if max_retries < 0:
        raise ValueError(f"max_retries = {max_retries}, must be 0 or more")
    messages = [
        {"role": "system", "content": system_prompt},
        {"role": "user", "content": format_scientist_observation(observation)},
    ]
    failure: ScientistOutputParseError | None = None
    for attempt in count(1):
        raw_text = generate_fn([dict(message) for message in messages])
        try:
            action = parse_scientist_output(raw_text)
        except ScientistOutputParseError as error:
            if attempt > max_retries:
                raise
            failure = error
            messages += [
                {"role": "assistant", "content": raw_text},
                {"role": "user", "content": _build_correction_prompt(error)},
            ]
        else:
            break
    metadata = RetryMetadata(
        attempt_count=attempt,
        retry_count=attempt - 1,
        last_error_code=failure.code if failure else None,
        last_error_message=failure.message if failure else None,
    )
    return ScientistCallResult(action=action, metadata=metadata)


def _build_correction_prompt(error: ScientistOutputParseError) -> str:
    return _CORRECTIONS[error.code].format(message=error.message)


def build_baseline_scientist_action(
    observation: models.ScientistObservation,
) -> models.ScientistAction:
    """Return the document's deterministic action: propose, revise once it is blocked, or accept.

    It accepts in the last round, and whatever the Lab Manager merely reported. A first proposal
    lists no equipment or reagents, because the Scientist does not see what the lab has. A revision
    has half the samples, with one left beside the controls, and a day less; samples never grow,
    except from 0, which no proposal may have.
    """
    plan = observation.current_protocol
    if plan is None:
        default = _DEFAULTS[_infer_domain(observation)]
        return models.plan_action(models.ScientistActionType.PROPOSE_PROTOCOL, default)
    spoken = reversed(observation.conversation_history)
    feedback = next((entry for entry in spoken if entry.role is models.Role.LAB_MANAGER), None)
    # Rounds count from 0, so the last of five is round 4; round 0 is never the last to speak in.
    in_last_round = observation.round_number >= max(1, observation.max_rounds - 1)
    if in_last_round or feedback is None or not _feedback_indicates_blocker(feedback):
        return models.ACCEPT_ACTION
    fewer = max(plan.sample_size // 2, len(plan.controls) + 1)
    return models.plan_action(
        models.ScientistActionType.REVISE_PROTOCOL,
        plan,
        sample_size=max(1, min(plan.sample_size, fewer)),
        duration_days=max(1, plan.duration_days - 1),
    )


def _feedback_indicates_blocker(feedback: models.ConversationEntry) -> bool:
    harmless = (models.LabManagerActionType.ACCEPT, models.LabManagerActionType.REPORT_FEASIBILITY)
    return feedback.action_type not in harmless and _mentions(feedback.message, _BLOCKER)


def _infer_domain(observation: models.ScientistObservation) -> str:
    """Return the domain that the paper's words hint at; mathematics when none does."""
    paper = (
        f"{observation.paper_title} {observation.paper_hypothesis} {observation.paper_method} "
        f"{observation.paper_key_finding} {observation.experiment_goal}"
    )
    if _mentions(paper, _ML):
        return "machine_learning"
    return "finance_trading" if _mentions(paper, _FINANCE) else "mathematics"


def _mentions(text: str, hints: re.Pattern[str]) -> bool:
    return hints.search(text.casefold()) is not None
