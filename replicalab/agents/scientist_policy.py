"""The Scientist: prompts, retries and a baseline; source: docs/methods.md, Scientist."""

import json
import re
from collections.abc import Callable
from itertools import count
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from replicalab import models
from replicalab.agents.parsing import (
    ParseErrorCode,
    ScientistOutputParseError,
    parse_scientist_output,
)
from replicalab.lexicon import lines_text, measured_text, section
from replicalab.models import PROTOCOL_FIELDS, Protocol, ScientistActionType, ScientistObservation
from replicalab.scenarios import Pack

GenerateFn: TypeAlias = Callable[[list[dict[str, str]]], str]
"""A model: chat messages (``role``, ``content``) in, its text out."""

_FORMS: Final = {name: row.form for name, row in models.PROTOCOL_ROWS.items()} | {
    "action_type": "one of the action_type values",
    "questions": models.LIST_OF_TEXTS,
}
FIELD_FORMS: Final = {name: _FORMS[name] for name in models.ScientistAction.model_fields}
"""The keys of a ScientistAction, in its order, and the form of each value."""
_FIELDS: Final = "\n".join(f"- {name}: {form}" for name, form in FIELD_FORMS.items())
_KINDS: Final = "\n".join(f"- {value}" for value in ScientistActionType)

# A text from a study file or a model is behind a bullet on a line of its own, so that it cannot
# pass for a section.
_OPENING: Final = """\
You are the Scientist agent in ReplicaLab.

Your job: negotiate with the Lab Manager the strongest plan that the lab can run.
Keep what the conclusion rests on; give up first what costs it least."""
_RULES: Final = f"""\
Output contract:
Answer with exactly one JSON object and nothing else: no prose, no code fence.
It has all of these keys and no extra keys:
{_FIELDS}

Allowed action_type values:
{_KINDS}

Action-specific field requirements:
- propose_protocol and revise_protocol: sample_size 1 or more, a technique and a rationale; \
controls, required_equipment and required_reagents may be []; questions is [].
- request_info: one question or more; every other field empty: 0, "" or [].
- accept, which takes the Lab Manager's standing offer or, without one, the current protocol: \
every other field empty: 0, "" or []."""
_SCHEMA: Final = f"""\
ScientistAction schema:
{_FIELDS}
action_type values: {", ".join(ScientistActionType)}

Respond with exactly one JSON object that is a valid ScientistAction, and nothing else."""
_NO_HISTORY: Final = "No conversation history yet"
_NO_PROTOCOL: Final = "No protocol has been proposed yet"


def build_scientist_system_prompt(scenario: Pack) -> str:
    """Return the system prompt about the study and this lab, without the hidden reference."""
    summary, constraints, substitutions = scenario.study.agent_texts
    means = {key: (name, measured_text(n, unit)) for key, (name, n, unit) in scenario.means.items()}
    lines = [*constraints, *[f"- [hard] {name} <= {has}" for name, has in means.values()]]
    resources = lines_text(
        [f"- {i.label} ({i.category}): {i.status_text}" for i in scenario.inventory.listed]
        + [f"- lab staff (personnel), {means['staff'][1]}: available"]
    )
    limits = "\n".join(lines)
    return (
        f"{_OPENING}\n\n{summary}\n\nConstraints:\n{limits}\n\n"
        f"Available resources:\n{resources}\n{substitutions}\n\n{_RULES}"
    )


def format_scientist_observation(obs: ScientistObservation) -> str:
    """Return the user message of one turn: six sections, in a fixed order."""
    names = ("Title", "Hypothesis", "Method", "Key finding", "Goal")
    paper = [f"{name}: {text}" for name, text in zip(names, _paper(obs), strict=True)]
    history = [
        f"Round {e.round_number}, {e.role}, {e.action_type or 'no action'}: {e.message}"
        for e in obs.conversation_history
    ]
    current, offer = obs.current_protocol, obs.suggested_protocol
    lines = [f"Round {obs.round_number} of {obs.max_rounds}", *section("Paper", paper)]
    lines += section("Conversation history", history) if history else ["", _NO_HISTORY]
    lines += section("Current protocol", _plan(current)) if current else ["", _NO_PROTOCOL]
    if offer:
        lines += section("The Lab Manager's standing offer", _plan(offer))[1:]
    if offer or current:
        lines.append(f"accept takes {'this offer' if offer else 'the current protocol'}.")
    return f"{lines_text(lines)}\n\n{_SCHEMA}"


def _paper(obs: ScientistObservation) -> tuple[str, ...]:
    texts = (obs.paper_title, obs.paper_hypothesis, obs.paper_method, obs.paper_key_finding)
    return (*texts, obs.experiment_goal)


def _plan(plan: Protocol) -> list[str]:
    values = plan.model_dump()
    return [f"{name}: {json.dumps(values[name], ensure_ascii=False)}" for name in PROTOCOL_FIELDS]


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


_EMPTY: Final = "(empty answer)"


class RetryMetadata(models.Record):
    """How an action was obtained; ``last_error_*`` are None if the first answer was valid."""

    attempt_count: Annotated[int, Field(strict=True, ge=1)]
    retry_count: models.Count
    last_error_code: ParseErrorCode | None
    last_error_message: str | None


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

    Each failed answer and its correction join the messages, so attempt k + 1 is sent 2 + 2k. The
    last failure is a ScientistOutputParseError. Errors of ``generate_fn`` are not caught.
    """
    if max_retries < 0:
        raise ValueError(f"max_retries = {max_retries}, must be 0 or more")
    message = format_scientist_observation(observation)
    pairs = ("system", system_prompt), ("user", message)
    messages = [{"role": role, "content": content} for role, content in pairs]
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
                # Many servers refuse an empty message.
                {"role": "assistant", "content": raw_text if raw_text.strip() else _EMPTY},
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


def _mentions(text: str, hints: tuple[str, ...]) -> bool:
    """Return whether a word starts with a hint: "training", but not "constraint"."""
    words = "|".join(map(re.escape, hints)).replace(r"\ ", r"\s+")
    return re.search(rf"\b(?:{words})", text.casefold()) is not None


_NO_INVENTORY: Final = "No items are listed: the paper alone does not say what the lab has."
# The baseline's proposal in each domain.
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


def build_baseline_scientist_action(
    observation: models.ScientistObservation,
) -> models.ScientistAction:
    """Return the document's deterministic action: propose, revise if blocked, or accept.

    It accepts in the last round, and after a mere report. A revision has half the samples, at
    least one more than controls, and a day less; samples grow only from 0.
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
    return feedback.action_type not in harmless and _mentions(feedback.message, _BLOCKER_HINTS)


def _infer_domain(observation: models.ScientistObservation) -> str:
    paper = " ".join(_paper(observation))
    if _mentions(paper, _ML_HINTS):
        return "machine_learning"
    return "finance_trading" if _mentions(paper, _FINANCE_HINTS) else "mathematics"
