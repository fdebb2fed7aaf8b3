"""A transcript played again: what happens now, and in which round that differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from replicalab.errors import NegotiationError
from replicalab.lexicon import amount_text, capitalised, count_text, joined
from replicalab.negotiation.asking import hear
from replicalab.negotiation.players import choose, follows_a_rule, put_forward
from replicalab.negotiation.records import (
    By,
    Facts,
    Negotiation,
    Round,
    ScientistKind,
    Setup,
    Turn,
    fingerprint,
)
from replicalab.negotiation.rounds import begin, play, play_on, play_rule
from replicalab.negotiation.transcript import SavedTurn, Transcript, start_of
from replicalab.scenarios import Pack


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
    negotiation = begin(transcript.setup, pack)
    named, here = _place(transcript.setup), _place(pack)
    if named != here:
        elsewhere = f"It is of {named}, not of {here}; open that study and lab."
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
        by_rule = turn.by is By.RULE
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
    return f"{found.scenario_id}, {found.difficulty}, seed {found.seed}"


def _of_the_whole(transcript: Transcript) -> Iterator[str]:
    """Yield what no single round can be blamed for."""
    setup = transcript.setup
    if transcript.start not in (None, start_of(setup, transcript.recording)):
        yield "the setup or the model's settings were edited since it was saved"
    by_hand = [number for number, turn in enumerate(transcript.turns) if turn.by is By.FORK]
    last = by_hand[-1] if by_hand else None
    if setup.forked_at != last:
        told = "no round" if setup.forked_at is None else f"round {setup.forked_at + 1}"
        stands = "in none" if last is None else f"in round {last + 1}"
        yield f"it says that {told} was forked, and the last plan by hand stands {stands}"


def _again(saved: SavedTurn, negotiation: Negotiation) -> tuple[Turn | None, str]:
    """Return a saved turn as it is now, None where there is none, and how it differs."""
    setup, state = negotiation.setup, negotiation.state
    if saved.by is By.FORK:
        plan = saved.action.protocol if saved.action else None
        if plan is None:
            return None, "no plan was put forward by hand"
        now = Turn(action=put_forward(state, plan), by=By.FORK)
    elif saved.by is By.RULE or follows_a_rule(setup, state):
        try:
            action = choose(setup, state, negotiation.pack).action
        except NegotiationError as error:
            return None, str(error)
        now = Turn(action=action, by=By.RULE)
    elif saved.by is By.PERSON and not saved.outputs:
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
        if saved.by is By.PERSON or saved.action is None:
            return saved.turn, ""
        return None, f"the model's outputs hold no valid action: {heard.failure}"
    if saved.by is By.PERSON:
        return saved.turn, "the model's outputs hold a valid action, and a person acted"
    tried = len(heard.attempts)
    if tried < len(saved.outputs):
        left = count_text(len(saved.outputs) - tried, "output")
        return heard.turn, f"attempt {tried} is a valid action, and {left} left over"
    same = saved.turn == heard.turn
    return heard.turn, "" if same else "the model's outputs hold another action"


def _otherwise(saved: SavedTurn, now: Round, before: str | None) -> Iterator[str]:
    """Yield how a round differs whose turn is the same; ``before`` None compares no digest."""
    if saved.told is not None and now.attempts and saved.told != now.told:
        yield "the model would be told something else now than when this was saved"
    if saved.facts is not None and saved.facts != now.facts:
        others = joined(list(_other_facts(saved.facts, now.facts)))
        yield f"the Lab Manager answers differently: {others}"
    elif saved.digest and before and saved.digest != fingerprint(before, now.turn, now.facts):
        # After the saved digest of the round before, so that an edit is found only once.
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


def _of_the_end(transcript: Transcript, negotiation: Negotiation) -> Iterator[str]:
    if not all(turn.facts for turn in transcript.turns):  # an earlier version did not say
        return
    if transcript.end != (transcript.turns[-1].digest if transcript.turns else None):
        yield "it is not the last round that was saved"
    if transcript.ending != negotiation.ending:
        yield f"the ending is not '{transcript.ending or 'none'}'"
    elif transcript.outcome != negotiation.outcome:
        yield f"the outcome is not '{transcript.outcome or 'none'}'"
