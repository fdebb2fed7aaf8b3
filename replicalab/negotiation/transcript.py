"""A negotiation kept: one form for saving, replaying, recording and handing on.

A transcript holds the setup and the turns, a model's outputs among them, and of every round the
facts that were decided and a digest chained from the setup on. Rounds are not kept: `replay` makes
them anew out of the turns, in today's words, and says in which the facts of today are others.
Source: docs/methods.md, Negotiation.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Final, Literal, NamedTuple, Self

from pydantic import FailFast, Field, StringConstraints, model_validator

from replicalab.errors import NegotiationError, TraceError
from replicalab.lexicon import amount_text, capitalised, count_text, joined
from replicalab.models import LONGEST_LABEL, NonEmptyText, Passage, Record
from replicalab.negotiation.asking import hear
from replicalab.negotiation.players import choose, follows_a_rule, put_forward
from replicalab.negotiation.records import (
    MOST_OUTPUTS,
    MOST_ROUNDS,
    Digest,
    Ending,
    Facts,
    ModelName,
    Negotiation,
    Outcome,
    Round,
    ScientistKind,
    Setup,
    Turn,
    TurnAuthor,
    fingerprint,
)
from replicalab.negotiation.rounds import play, play_on, play_rule
from replicalab.scenarios import EvidenceAssumptions, Identifier, LabOverrides, Pack

FORMAT: Final = 2

Host = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?$"),
]
"""A host and perhaps a port: no scheme, no user, no path, so that no address with a key fits."""


class TextSource(StrEnum):
    """Where a model's texts come from."""

    RECORDED = "recorded"
    BY_HAND = "written by hand"


class ModelSettings(Record):
    """Who was asked, and how; never a key, and of the address only the host, if there was one."""

    model: ModelName
    host: Host | None = None
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]
    max_tokens: Annotated[int, Field(ge=1)]
    max_retries: Annotated[int, Field(ge=0, lt=MOST_OUTPUTS)]


class Recording(Record):
    """What is known of a recorded model besides the negotiation.

    ``key`` is its name among the others; title and note are for people.
    """

    key: Identifier
    title: Annotated[NonEmptyText, Field(max_length=LONGEST_LABEL)]
    made: TextSource = TextSource.RECORDED
    note: Passage = ""
    settings: ModelSettings


class SavedTurn(Turn):
    """A turn, and what came of it when it was saved; None where an earlier version kept nothing.

    ``told`` is the fingerprint of the prompt; None also where there was no model, and
    where its texts were written by hand. ``digest`` is that of the round.
    """

    facts: Facts | None = None
    told: Digest | None = None
    digest: Digest | None = None

    @property
    def turn(self) -> Turn:
        """The turn alone."""
        return Turn(action=self.action, by=self.by, outputs=self.outputs)


class Transcript(Record):
    """A negotiation as it is kept.

    ``start`` is a fingerprint of the setup and of the model's settings, None where an earlier
    version kept none; ``end`` is the digest of the last round, so that none can be left out.
    """

    format: Literal[2]
    setup: Setup
    recording: Recording | None = None
    start: Digest | None = None
    turns: Annotated[tuple[SavedTurn, ...], Field(max_length=MOST_ROUNDS), FailFast()]
    end: Digest | None = None
    ending: Ending | None = None
    outcome: Outcome | None = None

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        known = self.recording
        if known and self.setup.scientist is not ScientistKind.MODEL:
            raise ValueError(
                f"setup.scientist is {self.setup.scientist}; only a model's run has a recording, "
                "leave it out"
            )
        most = known.settings.max_retries + 1 if known else MOST_OUTPUTS
        for number, turn in enumerate(self.turns, start=1):
            if len(turn.outputs) > most:
                raise ValueError(
                    f"round {number} has {count_text(len(turn.outputs), 'output')}, and the model "
                    f"was asked at most {count_text(most, 'time')}; leave the others out"
                )
            # Without what this version keeps of every turn, an edit of it would pass.
            asked = turn.outputs and not (known and known.made is TextSource.BY_HAND)
            needed = [] if self.start is None else ["facts", "digest", *(["told"] if asked else [])]
            if missing := [name for name in needed if getattr(turn, name) is None]:
                raise ValueError(f"round {number} lacks {joined(missing)}; nothing can be left out")
        return self


def save(negotiation: Negotiation, recording: Recording | None = None) -> str:
    """Return a negotiation, finished or not, as JSON text.

    Raises:
        TraceError: there is something to be kept of a model, and no turn of one.
    """
    setup, rounds = negotiation.setup, negotiation.rounds
    if recording and not any(done.turn.by is TurnAuthor.MODEL for done in rounds):
        raise TraceError("this negotiation has no turn of a model; let one play first")
    by_hand = recording is not None and recording.made is TextSource.BY_HAND
    turns = tuple(
        SavedTurn(
            **dict(done.turn),
            facts=done.facts,
            told=None if by_hand else done.prompt_digest,
            digest=done.digest,
        )
        for done in rounds
    )
    return Transcript(
        format=FORMAT,
        setup=setup,
        recording=recording,
        start=start_of(setup, recording),
        turns=turns,
        end=rounds[-1].digest if rounds else None,
        ending=negotiation.ending,
        outcome=negotiation.outcome,
    ).model_dump_json(indent=1, exclude_defaults=True)


def start_of(setup: Setup, recording: Recording | None) -> str:
    """Return the fingerprint of a setup, and of who was recorded, and how."""
    return fingerprint(setup.digest, recording and [recording.made, recording.settings])


# --- played again -----------------------------------------------------------------------------


class Difference(NamedTuple):
    """Where a replay parts from what was saved; ``round_number`` None means no single round."""

    round_number: int | None
    message: str


class Replay(NamedTuple):
    """What happens now, as far as it can be played; no differences where all is identical."""

    negotiation: Negotiation
    differences: tuple[Difference, ...] = ()


def replay(transcript: Transcript, pack: Pack) -> Replay:
    """Return the negotiation that the saved turns make now, and where it differs.

    A rule is asked again, a model's outputs are read again, and everybody else's turn is played as
    it was. Where a rule acts otherwise now, it goes on as it does now.
    """
    negotiation = Negotiation(transcript.setup, pack)
    named, here = _place(transcript.setup), _place(pack)
    setup = transcript.setup
    own = {
        "lab of one's own": setup.own_lab != pack.own_lab,
        "question": setup.question != pack.question,
    }
    if named != here:
        elsewhere = f"It is of {named}, not of {here}; open that study, in the same lab."
        return Replay(negotiation, (Difference(None, elsewhere),))
    if differ := joined([name for name, differs in own.items() if differs]):
        elsewhere = f"It is of another {differ} than what is open here; open it with its own."
        return Replay(negotiation, (Difference(None, elsewhere),))
    found = [Difference(None, f"{capitalised(what)}.") for what in _of_the_whole(transcript)]
    before = None if found else transcript.setup.digest
    for number, saved in enumerate(transcript.turns):
        if negotiation.ending is not None:
            left = count_text(len(transcript.turns) - number, "turn")
            ended = f"the negotiation had ended, {negotiation.ending}; {left} left over"
            return Replay(negotiation, (*found, _in_round(number, ended)))
        turn, fault = _again(saved, negotiation)
        if fault:
            found.append(_in_round(number, fault))
        if turn is None:
            return Replay(negotiation, tuple(found))
        by_rule = turn.by is TurnAuthor.RULE
        negotiation = play_rule(negotiation) if by_rule else play(negotiation, turn)
        if fault and by_rule:
            return Replay(play_on(negotiation), tuple(found))
        if not fault:
            others = _otherwise(saved, negotiation.rounds[-1], before)
            found += [_in_round(number, what) for what in others]
        before = saved.digest
    last = max(len(negotiation.rounds) - 1, 0)
    found += [_in_round(last, what) for what in _of_the_end(transcript, negotiation)]
    return Replay(negotiation, tuple(found))


def _in_round(number: int, what: str) -> Difference:
    return Difference(number, f"Round {number + 1}: {what}.")


def _place(found: Setup | Pack) -> str:
    own = [
        found.own_lab != LabOverrides() and "one's own lab",
        found.question != EvidenceAssumptions() and "question",
    ]
    said = f" with {joined([each for each in own if each])}" if any(own) else ""
    return f"{found.scenario_id}, {found.difficulty}, seed {found.seed}{said}"


def _of_the_whole(transcript: Transcript) -> Iterator[str]:
    """Yield what no single round can be blamed for."""
    setup = transcript.setup
    if transcript.start not in (None, start_of(setup, transcript.recording)):
        yield "the setup or the model's settings were edited since it was saved"
    by_hand = [number for number, turn in enumerate(transcript.turns) if turn.by is TurnAuthor.FORK]
    last = by_hand[-1] if by_hand else None
    if setup.forked_at != last:
        said = "no round" if setup.forked_at is None else f"round {setup.forked_at + 1}"
        stands = "in none" if last is None else f"in round {last + 1}"
        yield f"it says that {said} was forked, and the last plan by hand stands {stands}"


def _again(saved: SavedTurn, negotiation: Negotiation) -> tuple[Turn | None, str]:
    """Return a saved turn as it is now, None where there is none, and how it differs."""
    setup, state = negotiation.setup, negotiation.state
    if saved.by is TurnAuthor.FORK:
        plan = saved.action.protocol if saved.action else None
        if plan is None:
            return None, "no plan was put forward by hand"
        now = Turn(action=put_forward(state, plan), by=TurnAuthor.FORK)
    elif saved.by is TurnAuthor.RULE or follows_a_rule(setup, state):
        try:
            action = choose(setup, state, negotiation.pack).action
        except NegotiationError as error:
            return None, str(error)
        now = Turn(action=action, by=TurnAuthor.RULE)
    elif saved.by is TurnAuthor.PERSON and not saved.outputs:
        return saved.turn, ""
    else:
        return _heard(saved, negotiation)
    return now, "" if saved.turn == now else "the Scientist acts differently"


def _heard(saved: SavedTurn, negotiation: Negotiation) -> tuple[Turn | None, str]:
    """Return a model's turn, or that of a person who acted for it, out of the model's outputs."""
    if negotiation.setup.scientist is not ScientistKind.MODEL or not saved.outputs:
        return None, "no model plays here"
    heard = hear(saved.outputs, negotiation.state, negotiation.pack)
    if heard.turn is None:
        if saved.by is TurnAuthor.PERSON or saved.action is None:
            return saved.turn, ""
        return None, f"the model's outputs hold no valid action: {heard.failure}"
    if saved.by is TurnAuthor.PERSON:
        return saved.turn, "the model's outputs hold a valid action, and a person acted"
    tried = len(heard.attempts)
    if tried < len(saved.outputs):
        left = count_text(len(saved.outputs) - tried, "output")
        return heard.turn, f"attempt {tried} is a valid action, and {left} left over"
    same = saved.turn == heard.turn
    return heard.turn, "" if same else "the model's outputs hold another action"


def _otherwise(saved: SavedTurn, now: Round, before: str | None) -> Iterator[str]:
    """Yield how a round differs whose turn is the same; ``before`` None compares no digest."""
    if saved.told is not None and now.attempts and saved.told != now.prompt_digest:
        yield "the model would be told something else now than when this was saved"
    if saved.facts is not None and saved.facts != now.facts:
        plans = {"plan": "another plan is on the table", "offer": "another plan is offered"}
        both = [(n, getattr(saved.facts, n), getattr(now.facts, n)) for n in Facts.model_fields]
        others = [
            plans.get(name) or f"{name} is {_shown(today)} and was {_shown(then)}"
            for name, then, today in both
            if then != today
        ]
        yield f"the Lab Manager answers differently: {joined(others)}"
    elif saved.digest and before and saved.digest != fingerprint(before, now.turn, now.facts):
        # After the saved digest of the round before, so that an edit is found only once.
        yield "the turn was edited since it was saved"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return joined(value) or "none"
    if isinstance(value, int | float):
        return amount_text(value)
    return "none" if value is None else str(value)


def _of_the_end(transcript: Transcript, negotiation: Negotiation) -> Iterator[str]:
    if not all(turn.facts for turn in transcript.turns):  # an earlier version did not say
        return
    if transcript.end != (transcript.turns[-1].digest if transcript.turns else None):
        yield "it is not the last round that was saved"
    if transcript.ending != negotiation.ending:
        yield f"the ending is not '{transcript.ending or 'none'}'"
    elif transcript.outcome != negotiation.outcome:
        yield f"the outcome is not '{transcript.outcome or 'none'}'"
