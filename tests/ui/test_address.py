"""Links: a workspace there and back, and one sentence for each link that cannot be read."""

import base64
import json
import random
import tracemalloc
import zlib
from itertools import product
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import limits, negotiation, scenarios
from replicalab.errors import LinkError, NegotiationError, TraceError
from replicalab.models import ScientistActionType, plan_action, revise
from replicalab.negotiation.case import Case
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import KEYS, TrayCase, Workspace, from_query, to_query
from tests.factories import make_protocol, make_setup
from tests.strategies import itemised_protocols, own_labs, protocols, questions

STUDIES: Final = [study.scenario_id for study in scenarios.list_scenarios()]
SEATS: Final = [
    (scientist, manager)
    for scientist, manager in product(negotiation.ScientistKind, negotiation.LabManagerKind)
    if scientist in negotiation.AUTOMATIC or manager is not negotiation.LabManagerKind.PERSON
]
PLAN: Final = make_protocol()
MOVES: Final = (
    negotiation.Move(number=0, action=negotiation.ask_lab("Which days?", "Since when?")),
    negotiation.Move(
        number=1,
        by=negotiation.TurnAuthor.FORK,
        action=plan_action(ScientistActionType.PROPOSE_PROTOCOL, PLAN),
    ),
    negotiation.Move(number=2),
    negotiation.Move(
        number=3, by=negotiation.TurnAuthor.RULE, reply=negotiation.Reply(counter=PLAN)
    ),
)
LAB: Final = scenarios.LabOverrides(
    name="Ours",
    start_day=4,
    rates={"per_day": 20.5},
    items=(
        scenarios.OwnItem(
            label="flume", category="equipment", state=scenarios.ItemState.BOOKED, until=9, price=4
        ),
    ),
)
QUESTION: Final = scenarios.EvidenceAssumptions(
    effect=0.3,
    target=0.9,
    units=scenarios.Units(name="tank", samples=16.0, icc=0.1),
    why={"target": "A reviewer asks for it."},
)
HAN: Final = [chr(0x4E00 + at) for at in range(20_000)]
LONG: Final = revise(
    PLAN, controls=["".join(random.Random(at).choices(HAN, k=100)) for at in range(64)]
)
"""A plan within the limits, and too long for a link."""
FULL: Final = Workspace().replace(plan=PLAN, own_lab=LAB, question=QUESTION, presenting=2)


@st.composite
def workspaces(draw: st.DrawFn) -> Workspace:
    work = Workspace().replace(
        study=draw(st.sampled_from(STUDIES)),
        lab=draw(st.sampled_from(scenarios.Difficulty)),
        seed=draw(st.integers(0, limits.LARGEST_SEED)),
        plan=draw(st.none() | protocols() | itemised_protocols()),
        max_rounds=draw(st.integers(1, limits.MOST_PAGE_ROUNDS)),
        round_number=draw(st.integers(0, limits.MOST_PAGE_ROUNDS - 1)),
        own_lab=draw(own_labs()),
        **dict(zip(("scientist", "lab_manager"), draw(st.sampled_from(SEATS)), strict=True)),
        recording=draw(st.none() | st.from_regex(r"\A[a-z][a-z0-9_]{0,63}\Z")),
        presenting=draw(st.integers(0, limits.MOST_SLIDES)),
        survey=draw(st.booleans()),
    )
    playable = (
        work.case.recording is None and work.case.scientist is not negotiation.ScientistKind.MODEL
    )
    work = work.replace(moves=draw(st.sampled_from([(), MOVES])) if playable else ())
    names = draw(
        st.lists(st.text(min_size=1, max_size=limits.LONGEST_NAME), max_size=limits.MOST_SIDES)
    )
    work = work.replace(question=draw(questions(scenarios.load_scenario(work.case.study).design)))
    return work.replace(tray=tuple(TrayCase(name=name, case=work.case) for name in names))


@given(workspaces(), st.sampled_from(negotiation.RULED_LAB_MANAGERS))
def test_lab_and_question_survive_a_saved_negotiation(
    work: Workspace, lab_manager: negotiation.LabManagerKind
) -> None:
    pack, scientist = work.case.pack(find), negotiation.ScientistKind.DIRECT
    setup = make_setup(pack, work.case.protocol(find), scientist=scientist, lab_manager=lab_manager)
    try:
        played = negotiation.negotiate(setup, pack)
    except NegotiationError:  # a plan without samples opens nothing
        return
    transcript = negotiation.load(negotiation.save(played))
    assert (transcript.setup.own_lab, transcript.setup.question) == (
        work.case.own_lab,
        work.case.question,
    )
    assert negotiation.replay(transcript, pack) == played
    if pack != work.case.author_pack(find):
        with pytest.raises(TraceError):
            negotiation.replay(transcript, work.case.author_pack(find))


def packed(raw: str | bytes) -> str:
    data = raw.encode() if isinstance(raw, str) else raw
    return base64.urlsafe_b64encode(zlib.compress(data, 9)).decode().rstrip("=")


def more(**values: object) -> dict[str, str]:
    return {"more": packed(json.dumps(values))}


@given(workspaces())
def test_workspace_survives_its_link_without_escaping(workspace: Workspace) -> None:
    query = to_query(workspace)
    assert from_query(query, find) == (workspace, [])
    assert urlencode(query) == "&".join(f"{key}={value}" for key, value in query.items())


@pytest.mark.parametrize(
    ("query", "changes"),
    [
        ("", {}),
        ("study=psy_stroop&lab=hard&seed=3", {"study": "psy_stroop", "lab": "hard", "seed": 3}),
        (
            "budget=2700&days=9&staff=5",
            {"own_lab": scenarios.LabOverrides(budget=2700, days=9, staff=5)},
        ),
        ("round=3&rounds=6&survey=1", {"round_number": 2, "max_rounds": 6, "survey": True}),
        ("target=0.9", {"question": scenarios.EvidenceAssumptions(target=0.9)}),
        ("utm_source=mail&embed=true", {}),
    ],
)
def test_short_keys_can_be_typed_by_hand(query: str, changes: dict[str, Any]) -> None:
    assert from_query(dict(parse_qsl(query)), find) == (Workspace().replace(**changes), [])


def test_samples_alone_change_the_reference_protocol() -> None:
    work, problems = from_query({"study": "psy_stroop", "samples": "40"}, find)
    assert not problems
    assert work.case.plan == revise(
        scenarios.load_scenario("psy_stroop").reference_protocol, sample_size=40
    )


def test_link_is_short_and_readable() -> None:
    assert urlencode(to_query(Workspace())) == "study=fin_momentum&lab=medium"
    query = to_query(FULL)
    assert list(query) == ["study", "lab", "effect", "target", "present", "samples", "more"]
    for study in STUDIES:
        plan = scenarios.load_scenario(study).reference_protocol
        assert len(urlencode(to_query(Workspace().replace(study=study, plan=plan)))) < 1900


def test_workspace_too_long_for_a_link_is_refused() -> None:
    with pytest.raises(LinkError, match="too long for a link"):
        to_query(Workspace().replace(plan=LONG))
    case = Case(
        study="psy_stroop", lab=scenarios.Difficulty.EASY, plan=revise(PLAN, rationale="a" * 60_000)
    )
    tray = tuple(TrayCase(name=name, case=case) for name in "ABCD")
    with pytest.raises(LinkError, match="too long for a link"):
        to_query(Workspace(case=case.replace(seed=1), tray=(*tray, *tray)[: limits.MOST_SIDES]))


def test_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = {"more": packed(b"[" + b" " * 50_000_000)}
    tracemalloc.start()
    try:
        assert from_query(bomb, find).problems
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"study": "zebra"}, "zebra"),
        ({"study": "../../etc/passwd"}, "study '../../etc/passwd'"),
        ({"study": "mine", "own": "0" * 32}, "'mine' is not on this server"),
        ({"lab": "Hard"}, "lab 'Hard': Input should be 'easy', 'medium' or 'hard'"),
        *(({"seed": text}, "seed ") for text in ("-1", "1000000", "1e3", "\u0663", "", "9" * 9999)),
        ({"round": "0"}, "round '0': use 1 to 12"),
        ({"budget": "-5"}, "budget '-5'"),
        ({"target": "0.2", "floor": "0.9"}, "out of order"),
        ({"study": "math_four_colour", "alpha": "0.01"}, "plays no part in a coverage design"),
        ({"samples": "-1"}, "samples '-1'"),
        ({"samples": str(limits.LARGEST_PLANNED + 1)}, "at most 1,000,000 can be planned"),
        (more(zebra=1), "zebra '1'"),
        (more(case=[1]), "case is no record"),
        (more(case={"plan": {}}), "samples 'None'"),
        (
            more(case={"text": scenarios.template_text(), "study": "seedling_music"}),
            "the file of a study",
        ),
        (more(tray=[{"name": "A", "case": {"study": "gone", "lab": "easy"}}]), "gone"),
        ({"more": packed("[" * 5000)}, "cut or changed"),
        ({"more": packed("7")}, "cut or changed"),
        ({"more": to_query(FULL)["more"][:-9]}, "it was cut or changed; copy it again in full"),
        ({"v": "12345678", "study": "psy_stroop"}, "ReplicaLab 1 wrote it; ask for a new one"),
    ],
)
def test_link_that_cannot_be_read_gives_one_sentence(query: dict[str, str], problem: str) -> None:
    work, [message] = from_query(query, find)
    assert work == Workspace()
    assert problem in message
    assert message.startswith("The link cannot be read: ")
    assert len(message) < 500


@given(
    st.dictionaries(
        st.sampled_from([*KEYS, "samples", "more", "other"]),
        st.text() | st.sampled_from([*STUDIES, "hard", "3", "0.5", "eNqrVkrOSCzKUbJSqAUAJYcGbg"]),
    )
)
def test_any_link_opens_a_workspace(query: dict[str, str]) -> None:
    workspace, problems = from_query(query, find)
    assert workspace.case.pack(find).scenario_id == workspace.case.study
    assert all(problem.endswith(".") for problem in problems)
    assert from_query(to_query(workspace), find) == (workspace, [])
