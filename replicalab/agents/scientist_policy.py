"""The Scientist: how a model is asked, how its answer is read, and a baseline without a model.

No call of a model happens here: the backend is a plain function (`GenerateFn`) that is passed in.
Source: docs/contract.md, Scientist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Final, Self, TypeAlias

from pydantic import Field, model_validator

from replicalab.agents.parsing import ScientistOutputParseError, parse_scientist_output
from replicalab.agents.prompts import build_scientist_system_prompt, format_scientist_observation
from replicalab.models import (
    ACCEPT_ACTION,
    ConversationEntry,
    Count,
    LabManagerActionType,
    Protocol,
    Record,
    Role,
    ScientistAction,
    ScientistActionType,
    ScientistObservation,
    plan_action,
    revise,
)

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

_ML_HINTS: Final = (
    "benchmark",
    "dataset",
    "accuracy",
    "tokenizer",
    "train",
    "gpu",
    "bert",
    "classifier",
    "deep learning",
    "deep reinforcement",
    "language model",
    "machine learning",
    "neural network",
)
_FINANCE_HINTS: Final = (
    "backtest",
    "drawdown",
    "sharpe",
    "trading",
    "slippage",
    "portfolio",
    "stock market",
    "stock return",
    "volatility",
)
_BLOCKER_HINTS: Final = (
    "booked",
    "unavailable",
    "exceeds",
    "tight",
    "budget",
    "cost",
    "not available",
    "limited",
    "deadline",
    "out of stock",
    "over the limit",
    "insufficient",
    "too many",
    "too long",
    "understaffed",
)

_NO_INVENTORY: Final = (
    "No equipment or reagents are listed: this plan is made from the paper alone, which does not "
    "say what the lab has."
)
_DEFAULTS: Final = {
    "machine_learning": Protocol(
        sample_size=10,
        controls=["published baseline", "shuffled labels"],
        technique="independent training runs with fixed seeds, scored on the held-out split",
        duration_days=5,
        required_equipment=[],
        required_reagents=[],
        rationale=f"Several seeds show the spread that one run hides. {_NO_INVENTORY}",
    ),
    "finance_trading": Protocol(
        sample_size=60,
        controls=["buy and hold", "randomly drawn signal"],
        technique="walk-forward backtest on historical data, costs included",
        duration_days=5,
        required_equipment=[],
        required_reagents=[],
        rationale=f"Sixty periods, each scored on data not used to choose it. {_NO_INVENTORY}",
    ),
    "mathematics": Protocol(
        sample_size=20,
        controls=["trivial case", "known counterexample"],
        technique="case-by-case check of the published claim, written out step by step",
        duration_days=4,
        required_equipment=[],
        required_reagents=[],
        rationale=f"Checked cases show where the claim holds and where it breaks. {_NO_INVENTORY}",
    ),
}


class RetryMetadata(Record):
    """How an action was obtained; ``last_error_*`` are None when the first answer was valid."""

    attempt_count: Annotated[int, Field(strict=True, ge=1)]
    retry_count: Count
    last_error_code: str | None
    last_error_message: str | None

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        if self.retry_count != self.attempt_count - 1:
            raise ValueError(
                f"retry_count is {self.retry_count}, must be attempt_count - 1 = "
                f"{self.attempt_count - 1}"
            )
        return self


class ScientistCallResult(Record):
    """A valid action, and how it was obtained."""

    action: ScientistAction
    metadata: RetryMetadata


def call_scientist_with_retry(
    generate_fn: GenerateFn,
    system_prompt: str,
    observation: ScientistObservation,
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
    attempt = 1
    while True:
        raw_text = generate_fn([dict(message) for message in messages])
        try:
            action = parse_scientist_output(raw_text)
        except ScientistOutputParseError as error:
            if attempt > max_retries:
                raise
            failure = error
        else:
            return ScientistCallResult(action=action, metadata=_metadata(attempt, failure))
        messages += [
            {"role": "assistant", "content": raw_text},
            {"role": "user", "content": _build_correction_prompt(failure)},
        ]
        attempt += 1


def _metadata(attempt: int, failure: ScientistOutputParseError | None) -> RetryMetadata:
    return RetryMetadata(
        attempt_count=attempt,
        retry_count=attempt - 1,
        last_error_code=failure.code if failure else None,
        last_error_message=failure.message if failure else None,
    )


def _build_correction_prompt(error: ScientistOutputParseError) -> str:
    """Return what the model is told about its failed answer, by error code."""
    if error.code == "no_json":
        return (
            "Your previous response did not contain a JSON object. "
            "Respond with exactly one JSON object that is a valid ScientistAction."
        )
    if error.code == "invalid_json":
        return (
            f"Your previous response contained malformed JSON: {error.message}. "
            "Respond with exactly one complete JSON object, without comments or trailing commas."
        )
    return (
        "Your previous response was JSON but failed ScientistAction validation: "
        f"{error.message}. Fix the validation error and respond with exactly one JSON object."
    )


def build_baseline_scientist_action(observation: ScientistObservation) -> ScientistAction:
    """Return the document's deterministic action: propose, revise once it is blocked, or accept.

    It accepts in the last round, and whatever the Lab Manager merely reported. A first proposal
    lists no equipment or reagents, because the Scientist does not see what the lab has.
    """
    protocol = observation.current_protocol
    if protocol is None:
        default = _DEFAULTS[_infer_domain(observation)]
        return plan_action(ScientistActionType.PROPOSE_PROTOCOL, default)
    if _at_max_rounds(observation):
        return ACCEPT_ACTION
    feedback = _latest_feedback(observation)
    if feedback is not None and _feedback_indicates_blocker(feedback):
        return plan_action(ScientistActionType.REVISE_PROTOCOL, _reduced(protocol))
    return ACCEPT_ACTION


def _at_max_rounds(observation: ScientistObservation) -> bool:
    # Rounds count from 0, so the last of five is round 4; round 0 is never the last to speak in.
    return observation.round_number >= max(1, observation.max_rounds - 1)


def _latest_feedback(observation: ScientistObservation) -> ConversationEntry | None:
    spoken = reversed(observation.conversation_history)
    return next((entry for entry in spoken if entry.role is Role.LAB_MANAGER), None)


def _feedback_indicates_blocker(feedback: ConversationEntry) -> bool:
    """Return whether the Lab Manager's answer names something that stands in the way."""
    if feedback.action_type in (
        LabManagerActionType.ACCEPT,
        LabManagerActionType.REPORT_FEASIBILITY,
    ):
        return False
    return _mentions(feedback.message, _BLOCKER_HINTS)


def _reduced(protocol: Protocol) -> Protocol:
    """Return the plan with half the samples and a day less, and one experimental sample left.

    Samples never grow, except from 0, which no proposal may have.
    """
    fewer = max(protocol.sample_size // 2, len(protocol.controls) + 1)
    return revise(
        protocol,
        sample_size=max(1, min(protocol.sample_size, fewer)),
        duration_days=max(1, protocol.duration_days - 1),
    )


def _infer_domain(observation: ScientistObservation) -> str:
    """Return the domain that the paper's words hint at; mathematics when none does."""
    paper = (
        f"{observation.paper_title} {observation.paper_hypothesis} {observation.paper_method} "
        f"{observation.paper_key_finding} {observation.experiment_goal}"
    )
    if _mentions(paper, _ML_HINTS):
        return "machine_learning"
    return "finance_trading" if _mentions(paper, _FINANCE_HINTS) else "mathematics"


def _mentions(text: str, hints: Iterable[str]) -> bool:
    """Return whether a word of ``text`` starts with a hint: "training" does, "constraint" not."""
    words = " ".join(text.casefold().split())
    return re.search(rf"\b(?:{'|'.join(map(re.escape, hints))})", words) is not None
