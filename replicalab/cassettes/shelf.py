"""Cassettes made of a trace, saved, loaded, and the two that are shipped."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from replicalab.cassettes.records import Cassette, Made, ModelSettings, prompt_digest
from replicalab.errors import TraceError
from replicalab.negotiation import Round, Trace
from replicalab.negotiation.loading import list_fault, loaded
from replicalab.negotiation.recorded import outputs_of

FOLDER: Final = Path(__file__).parent


def cassette_of(
    trace: Trace, settings: ModelSettings, *, key: str, title: str, note: str = ""
) -> Cassette:
    """Return a cassette of what a model said in a negotiation.

    Args:
        trace: of a model, finished or not.
        settings: who was asked, and how.
        key: its name, a lower-case word.
        title: for people.
        note: what to look at.

    Raises:
        TraceError: a round was not played by the model (the opening may be given); or there is
            no turn of a model at all.
        pydantic.ValidationError: the key or the title cannot be used.
    """
    played = _models_rounds(trace)
    if not played:
        raise TraceError("this negotiation has no turn of a model; let one play first")
    told = [done.attempts[0] for done in played]
    return Cassette(
        format=1,
        key=key,
        title=title,
        made=Made.RECORDED,
        note=note,
        settings=settings,
        setup=trace.setup,
        turns=[outputs_of(done.attempts) for done in played],
        prompts=[prompt_digest(each.system_prompt, each.observation) for each in told],
    )


def _models_rounds(trace: Trace) -> list[Round]:
    given = 1 if trace.setup.opening is not None else 0
    for done in trace.rounds[given:]:
        if not done.attempts:
            raise TraceError(
                f"round {done.number + 1}: a turn by hand, not by the model; a cassette holds the "
                "model's turns only"
            )
    return trace.rounds[given:]


def save_cassette(cassette: Cassette) -> str:
    """Return the cassette as JSON text; `load_cassette` gives an equal one back."""
    return cassette.model_dump_json(indent=1)


def load_cassette(text: str) -> Cassette:
    """Return the cassette that was saved.

    Raises:
        TraceError: the text is no cassette, or too long for one, or its opening lists more than a
            plan can need; the message names the first place at fault.
    """
    cassette = loaded(Cassette, text)
    fault = list_fault(cassette.setup.opening) if cassette.setup.opening else ""
    if fault:
        raise TraceError(f"setup.opening.{fault}")
    return cassette


def shipped_cassettes() -> list[Cassette]:
    """Return the cassettes that come with the application, by file name.

    Raises:
        TraceError: one of them cannot be read; the message names the file.
    """
    return list(_shipped_in(FOLDER))


@lru_cache(maxsize=2)
def _shipped_in(folder: Path) -> tuple[Cassette, ...]:
    return tuple(_shipped(file) for file in sorted(folder.glob("*.json")))


def _shipped(file: Path) -> Cassette:
    try:
        return load_cassette(file.read_text(encoding="utf-8"))
    except (TraceError, OSError, UnicodeDecodeError) as error:
        raise TraceError(f"{file.name}: {error}") from error
