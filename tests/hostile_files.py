"""Files of every format with hostile texts at all places that accept them."""

import json
from functools import cache, partial
from typing import Any, Final, NamedTuple

from replicalab import negotiation, scenarios
from replicalab.features.language_model import ModelReply
from replicalab.models import Protocol, revise
from replicalab.negotiation.rounds import play_rule
from tests.hostile import (
    ATTACK,
    LONG_WORD,
    SHORT,
    UNSEEN,
    WITHOUT_SPACES,
    Place,
    Write,
    leaves,
    marked,
    refusal,
    with_text,
    with_texts,
)
from tests.negotiation.playing import ACCEPT, ask, game, revise_to, said
from tests.scenarios.small_study import SMALL
from tests.scripted import ScriptedGenerate

PACK: Final = scenarios.load_scenario("fin_momentum", "medium")


def full_study() -> Any:
    data = json.loads(json.dumps(SMALL))
    data["paper"] |= {"contested": "By some.", "short_title": "Hot or not"}
    data["paper"]["facts"][0] |= {"where": "In the library"}
    data["design"]["original"] = {
        "numbers": {"t": 3.5},
        "n": 40,
        "confidence": "recalled",
        "source": "On a cup.",
        "where": "In the cupboard.",
    }
    data["design"]["sample_noun"] = "cup"
    data["design"]["why"] = {"sesoi": "Nobody would care."}
    data["design"]["units"] = {"name": "tray", "samples": 2}
    data["constraints"][0] |= {"details": "Of the kettle."}
    data["policy_rules"][0] |= {"allowed_mentions": ["no candle"]}
    data["constraints"][0]["label"] = "the heat"
    for lab in data["labs"].values():
        lab |= {"booked": {"kettle": 6}, "out_of_stock": ["tea"], "prices": {"mug": 40.0}}
        lab |= {"equipment": ["mug"], "reagents": ["sugar"]}
        lab |= {"currency": "EUR", "start_date": "2026-12-07"}
    data["samples_per_day"] = {"value": 9, "why": "Small cups."}
    return data


def as_file(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1)


class Walked(NamedTuple):
    """A file with every accepted hostile text, and the refusals of the others."""

    text: str
    marks: dict[int, Place]
    refused: dict[Place, str]


@cache
def hostile_study() -> Walked:
    data, base = full_study(), full_study()
    marks: dict[int, Place] = {}
    refused: dict[Place, str] = {}
    texts = {leaf.text.casefold(): leaf for leaf in leaves(base)}
    for number, leaf in enumerate(texts.values()):
        line = ""
        for text in (f"{ATTACK} {LONG_WORD}", ATTACK, WITHOUT_SPACES, SHORT):
            hostile = marked(number, text)
            changed = with_text(base, leaf.text, hostile)
            line = refusal(partial(scenarios.parse_study, as_file(changed), "x.yaml"))
            if not line:
                data = with_text(data, leaf.text, hostile)
                marks[number] = leaf.place
                break
        else:
            refused[leaf.place] = line
    return Walked(as_file(data), marks, refused)


def hostile_plan(first: int, write: Write = marked) -> Protocol:
    texts = [write(first + n, f"{ATTACK}{UNSEEN}") for n in range(3)]
    prose = [write(first + n, f"{ATTACK}{UNSEEN} {LONG_WORD}") for n in (3, 4)]
    reference = PACK.reference_protocol
    return revise(
        reference,
        controls=[*reference.controls, texts[0]],
        required_equipment=[*reference.required_equipment, texts[1]],
        required_reagents=[*reference.required_reagents, texts[2]],
        technique=prose[0],
        rationale=prose[1],
    )


def hostile_run(write: Write = marked) -> str:
    proposal = said(revise_to(hostile_plan(200, write)))
    questions = ask(*(write(210 + n, f"{ATTACK}{UNSEEN}") for n in range(3)))
    asks = said(questions)
    refused = said(ask("why")).replace("why", write(213))[:-1]
    script = [[write(214), refused, f"{write(215)}\n{proposal}"], [asks]]
    item = scenarios.OwnItem(label=write(222), category="equipment", price=40.0)
    own_lab = scenarios.LabOverrides(name=write(223, SHORT), currency="EUR", items=(item,))
    units = scenarios.Units(name=write(229, SHORT), samples=2.0)
    question = scenarios.EvidenceAssumptions(alpha=0.04, units=units, why={"alpha": write(224)})
    pack = PACK.with_own(own_lab, question)
    setup = game(pack, hostile_plan(230, write), 6, negotiation.ScientistKind.MODEL)
    setup = setup.model_copy(update={"model": write(217)[:200]})
    played = play_rule(negotiation.Negotiation(setup, pack))
    for texts in script:
        answers = [ModelReply(text) for text in texts]
        for answer in answers:
            answer.finish_reason = write(218)
        answered = negotiation.ask_model(ScriptedGenerate(answers), played.state, pack)
        assert answered.turn is not None, answered.failure
        played = negotiation.play(played, answered.turn)
    failed = negotiation.Output(failure=write(216, f"{ATTACK}{UNSEEN}"))
    for action in (revise_to(hostile_plan(200, write)), questions, ACCEPT):
        played = negotiation.play(played, negotiation.Turn(action=action, outputs=(failed,)))
    settings = negotiation.ModelSettings(
        model=write(219)[:200],
        host="localhost:1",
        temperature=0,
        max_tokens=9,
        max_retries=negotiation.MAX_RETRIES,
    )
    title, note = write(220, f"{ATTACK}{UNSEEN}"), write(221, f"{ATTACK}{UNSEEN} {LONG_WORD}")
    return negotiation.save(
        played, negotiation.Recording(key="hostile", title=title, note=note, settings=settings)
    )


def hostile_counter() -> str:
    plan, available = hostile_plan(240), scenarios.ItemState.AVAILABLE
    labels = dict.fromkeys(("licensed-data terminal", plan.required_equipment[-1]), "equipment")
    labels[plan.required_reagents[-1]] = "reagent"
    items = [{"label": k, "category": kind, "state": available} for k, kind in labels.items()]
    means = {"budget": 100_000, "days": 60, "staff": 99}
    own_lab = scenarios.LabOverrides.model_validate({**means, "items": items})
    pack = PACK.with_own(own_lab, scenarios.EvidenceAssumptions())
    kinds = (negotiation.ScientistKind.STEP_BY_STEP, negotiation.LabManagerKind.PERSON)
    waiting = negotiation.play_on(negotiation.Negotiation(game(pack, None, 6, *kinds), pack))
    return negotiation.save(
        negotiation.play_on(negotiation.reply_to(waiting, negotiation.Reply(counter=plan)))
    )


def hostile_edit(text: str, first: int) -> Walked:
    base = json.loads(text)
    places = dict.fromkeys(leaf.place for leaf in leaves(base))
    marks: dict[int, Place] = {}
    refused: dict[Place, str] = {}
    taken: dict[Place, str] = {}
    for number, place in enumerate(places, first):
        whole, short = marked(number, f"{ATTACK}{UNSEEN} {LONG_WORD}"), marked(number)
        for hostile in (whole, short[:200], short[:100]):
            edited = with_texts(base, {place: hostile})
            if not (said_of := refusal(partial(negotiation.load, json.dumps(edited)))):
                marks[number], taken[place] = place, hostile
                break
        else:
            refused[place] = said_of
    return Walked(json.dumps(with_texts(base, taken)), marks, refused)
