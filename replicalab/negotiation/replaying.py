"""A transcript played again: what happens now, and in which round that differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from replicalab.errors import NegotiationError
from replicalab.lexicon import amount_text, capitalised, count_text, joined
from replicalab.models import Count, NonEmptyText, Record
from replicalab.negotiation.asking import hear
from replicalab.negotiation.games import begin, play, play_on, play_rule, put_forward
from replicalab.negotiation.players import choose, follows_a_rule
from replicalab.negotiation.records import By, Facts, Negotiation, Round, ScientistKind, Setup, Turn
from replicalab.negotiation.transcript import SavedTurn, Transcript, start_of
from replicalab.scenarios import Pack


class Difference(Record):
    """Where a replay parts from what was saved; ``round_number`` None means no single round."""

    round_number: Count | None
    message: NonEmptyText


class Replay(NamedTuple):
    """A transcript played again.

    Attributes:
        negotiation: what happens now, as far as it can be played.
        differences: from what was saved; empty when every round is identical.
    """

    negotiation: Negotiation
    differences: tuple[Difference, ...] = ()


class _Again(NamedTuple):
    """A turn as it is now: None where there is none, and how it differs from the saved one."""

    turn: Turn | None
    fault: str = ""


def replay(transcript: Transcript, pack: Pack) -> Replay:
    """Return the negotiation that the saved turns make now, and where it differs.

    A rule is asked again, a model's outputs are read again, and everybody else's turn is played as
    it was. Where a rule acts otherwise now, it goes on as it does now.
    """
    negotiation = begin(transcript.setup, pack)
    elsewhere = _elsewhere(transcript.setup, pack)
    if elsewhere:
        return Replay(negotiation, (_differs(None, elsewhere),))
    found = list(_of_the_whole(transcript))
    before = None if found else transcript.setup.digest
    for number, saved in enumerate(transcript.turns):
        if negotiation.ending is not None:
            left = count_text(len(transcript.turns) - number, "turn")
            ended = f"the negotiation had ended, {negotiation.ending}; {left} left over"
            return Replay(negotiation, (*found, _differs(number, ended)))
        again = _again(saved, negotiation)
        if again.fault:
            found.append(_differs(number, again.fault))
        if again.turn is None:
            return Replay(negotiation, tuple(found))
        if again.turn.by is By.RULE:
            negotiation = play_rule(negotiation)
            if again.fault:
                return Replay(play_on(negotiation), tuple(found))
        else:
            negotiation = play(negotiation, again.turn)
        if not again.fault:
            found += (
                _differs(number, w) for w in _otherwise(saved, negotiation.rounds[-1], before)
            )
        before = saved.digest
    return Replay(negotiation, (*found, *_of_the_end(transcript, negotiation)))


def _differs(number: int | None, what: str) -> Difference:
    text = f"{capitalised(what)}." if number is None else f"Round {number + 1}: {what}."
    return Difference(round_number=number, message=text)


def _elsewhere(setup: Setup, pack: Pack) -> str:
    named = f"{setup.scenario_id}, {setup.difficulty}, seed {setup.seed}"
    found = f"{pack.scenario_id}, {pack.difficulty}, seed {pack.seed}"
    return "" if named == found else f"it is of {named}, not of {found}; open that study and lab"


def _of_the_whole(transcript: Transcript) -> Iterator[Difference]:
    """Yield what no single round can be blamed for."""
    setup = transcript.setup
    if transcript.start not in (None, start_of(setup, transcript.recording)):
        yield _differs(None, "the setup or the model's settings were edited since it was saved")
    by_hand = [number for number, turn in enumerate(transcript.turns) if turn.by is By.FORK]
    last = by_hand[-1] if by_hand else None
    if setup.forked_at != last:
        told = "no round" if setup.forked_at is None else f"round {setup.forked_at + 1}"
        stands = "in none" if last is None else f"in round {last + 1}"
        yield _differs(
            None, f"it says that {told} was forked, and the last plan by hand stands {stands}"
        )


def _again(saved: SavedTurn, negotiation: Negotiation) -> _Again:
    """Return a saved turn as it is now."""
    setup, state = negotiation.setup, negotiation.state
    if saved.by is By.FORK:
        plan = saved.action.protocol if saved.action else None
        if plan is None:
            return _Again(None, "no plan was put forward by hand")
        return _compared(saved, Turn(action=put_forward(state, plan), by=By.FORK))
    if saved.by is By.RULE or follows_a_rule(setup, state):
        try:
            action = choose(setup, state, negotiation.pack).action
        except NegotiationError as error:
            return _Again(None, str(error))
        return _compared(saved, Turn(action=action, by=By.RULE))
    if saved.by is By.PERSON and not saved.outputs:
        return _Again(saved.turn)
    return _heard(saved, negotiation)


def _compared(saved: SavedTurn, now: Turn) -> _Again:
    return _Again(now, "" if saved.turn == now else "the Scientist acts differently")


def _heard(saved: SavedTurn, negotiation: Negotiation) -> _Again:
    """Return a model's turn, or that of a person who acted for it, out of the model's outputs."""
    if negotiation.setup.scientist is not ScientistKind.MODEL or not saved.outputs:
        return _Again(None, "no model plays here")
    heard = hear(saved.outputs, negotiation.state, negotiation.pack)
    if heard.turn is None:
        if saved.by is By.PERSON or saved.action is None:
            return _Again(saved.turn)
        return _Again(None, f"the model's outputs hold no valid action: {heard.failure}")
    if saved.by is By.PERSON:
        return _Again(saved.turn, "the model's outputs hold a valid action, and a person acted")
    tried = len(heard.attempts)
    if tried < len(saved.outputs):
        left = count_text(len(saved.outputs) - tried, "output")
        return _Again(heard.turn, f"attempt {tried} is a valid action, and {left} left over")
    same = saved.turn == heard.turn
    return _Again(heard.turn, "" if same else "the model's outputs hold another action")


def _otherwise(saved: SavedTurn, now: Round, before: str | None) -> Iterator[str]:
    """Yield how a round differs whose turn is the same; ``before`` None compares no digest."""
    if saved.told is not None and now.attempts and saved.told != now.told:
        yield "the model would be told something else now than when this was saved"
    if saved.facts is not None and saved.facts != now.facts:
        others = joined(list(_other_facts(saved.facts, now.facts)))
        yield f"the Lab Manager answers differently: {others}"
    elif saved.digest and before and saved.digest != now.digest_after(before):
        yield "the turn was edited since it was saved"


def _other_facts(saved: Facts, now: Facts) -> Iterator[str]:
    """Yield each fact that is another now."""
    plans = {"plan": "another plan is on the table", "offer": "another plan is offered"}
    for name in Facts.model_fields:
        then, today = getattr(saved, name), getattr(now, name)
        if then != today:
            yield plans.get(name) or f"{name} is {_shown(today)} and was {_shown(then)}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return joined(value) or "none"
    if isinstance(value, int | float):
        return amount_text(value)
    return "none" if value is None else str(value)


def _of_the_end(transcript: Transcript, negotiation: Negotiation) -> Iterator[Difference]:
    if not transcript.kept_whole:
        return
    last = max(len(negotiation.rounds) - 1, 0)
    if transcript.ending != negotiation.ending:
        yield _differs(last, f"the ending is not '{transcript.ending or 'none'}'")
    elif transcript.outcome != negotiation.outcome:
        yield _differs(last, f"the outcome is not '{transcript.outcome or 'none'}'")
