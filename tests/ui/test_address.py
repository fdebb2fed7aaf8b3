"""The workspace as an address: there and back, and every way an address can be wrong."""

from __future__ import annotations

import base64
import json
import random
import re
import tracemalloc
import zlib
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.case import MOST_SIDES
from replicalab.errors import LinkError
from replicalab.models import (
    FIELD_LABELS,
    LARGEST_PLANNED,
    Protocol,
    ScientistActionType,
    plan_action,
    revise,
)
from replicalab.negotiation import LabManagerKind, Move, ScientistKind, TurnAuthor, question
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    ItemState,
    LabOverrides,
    OwnItem,
    list_scenarios,
    load_scenario,
)
from replicalab.ui import address
from replicalab.ui.address import (
    PARTS,
    at,
    decode_moves,
    decode_plan,
    encode_moves,
    encode_plan,
    fitted,
    from_query,
    left_out,
    put,
    to_query,
)
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import (
    LARGEST_SEED,
    LONGEST_NAME,
    MOST_ROUNDS,
    MOST_SLIDES,
    TrayCase,
    Workspace,
)
from tests.factories import make_protocol
from tests.golden import assert_golden
from tests.strategies import own_labs, protocols

SAVED: Final = Path(__file__).with_name("saved")
EARLIER: Final[list[dict[str, str]]] = json.loads((SAVED / "links.json").read_text())
"""Links whose plans are read by position."""
NAMED: Final[list[dict[str, str]]] = json.loads((SAVED / "links_by_name.json").read_text())
"""The same workspaces in links whose plans are read by field names."""
STUDIES: Final = [study.scenario_id for study in list_scenarios()]
HARD: Final = Difficulty.HARD
SIMPLE: Final = Workspace().changed(scientist=ScientistKind.BASELINE)
"""Whom an address seats that names no Scientist, but has a checksum."""
PLAN: Final = make_protocol()
TEXT: Final = encode_plan(PLAN)
MOVES: Final = (
    Move(number=0, action=question("Which days?", "Since when?")),
    Move(
        number=1, by=TurnAuthor.FORK, action=plan_action(ScientistActionType.PROPOSE_PROTOCOL, PLAN)
    ),
    Move(number=2),
)
PLAYED: Final = encode_moves(MOVES)
LAB: Final = LabOverrides(
    name="Ours",
    start_day=4,
    rates={"per_day": 20.5},
    steps={"base": 2},
    items=(OwnItem(label="flume", category="equipment", state=ItemState.BOOKED, until=9, price=4),),
)
QUESTION: Final = EvidenceAssumptions(
    effect=0.3, target=0.9, why={"target": "A reviewer asks for it."}
)
BROKEN: Final = "the link is incomplete or was changed on its way; copy it again in full."


@st.composite
def workspaces(draw: st.DrawFn) -> Workspace:
    """Return any workspace of a study on the shelf."""
    work = Workspace().changed(
        study=draw(st.sampled_from(STUDIES)),
        lab=draw(st.sampled_from(Difficulty)),
        seed=draw(st.integers(0, LARGEST_SEED)),
        plan=draw(st.none() | protocols()),
        max_rounds=draw(st.integers(1, MOST_ROUNDS)),
        round_number=draw(st.integers(0, MOST_ROUNDS - 1)),
        own_lab=draw(own_labs()),
        scientist=draw(st.sampled_from(ScientistKind)),
        lab_manager=draw(st.sampled_from(LabManagerKind)),
        recording=draw(st.none() | st.from_regex(r"\A[a-z][a-z0-9_]{0,63}\Z")),
        presenting=draw(st.integers(0, MOST_SLIDES)),
        survey=draw(st.booleans()),
    )
    playable = work.case.recording is None and work.case.scientist is not ScientistKind.MODEL
    work = work.changed(moves=draw(st.sampled_from([(), MOVES])) if playable else ())
    names = draw(st.lists(st.text(min_size=1, max_size=LONGEST_NAME), max_size=MOST_SIDES))
    return work.changed(tray=tuple(TrayCase(name=name, case=work.case) for name in names))


def packed(raw: str | bytes) -> str:
    """Return what a link carries for this text; the checksum is right."""
    data = raw.encode() if isinstance(raw, str) else raw
    return base64.urlsafe_b64encode(zlib.compress(data, 9)).decode().rstrip("=")


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.urlsafe_b64decode(f"{text}{'=' * (-len(text) % 4)}"))


def refused(text: str) -> str:
    with pytest.raises(LinkError) as caught:
        decode_plan(text)
    return str(caught.value)


# --- there and back -------------------------------------------------------------------------


@given(workspaces())
def test_workspace_survives_its_address_and_needs_no_escaping(workspace: Workspace) -> None:
    query = to_query(workspace)
    assert from_query(query, find) == (workspace, [])
    assert urlencode(query) == "&".join(f"{key}={value}" for key, value in query.items())


BY_HAND: Final = "study=fin_momentum&lab=medium&seed=7&rounds=6&round=3"


def test_query_of_a_workspace_counts_rounds_from_1_and_has_a_checksum() -> None:
    query = to_query(SIMPLE.changed(seed=7, max_rounds=6, round_number=2))
    assert query.pop("v") == f"{zlib.crc32(f'{BY_HAND}&plan='.encode()):08x}"
    assert query == dict(parse_qsl(BY_HAND))


@pytest.mark.parametrize(
    "full",
    [
        Workspace().changed(seed=42, plan=PLAN, max_rounds=12, round_number=10),
        Workspace().changed(own_lab=LabOverrides(budget=2700, days=9, staff=5)),
        Workspace().changed(own_lab=LAB, question=QUESTION),
        Workspace().changed(
            scientist=ScientistKind.PERSON,
            lab_manager=LabManagerKind.LEAST_LOSS,
            recording="one_run",
            presenting=3,
        ),
        Workspace().changed(scientist=ScientistKind.PERSON, moves=MOVES[:1]),
        Workspace().changed(tray=(TrayCase(name="A", case=SIMPLE.case),)),
    ],
    ids=["plan", "levers", "own", "players", "moves", "beside"],
)
def test_address_cut_anywhere_is_noticed(full: Workspace) -> None:
    whole = urlencode(to_query(full))
    assert from_query(dict(parse_qsl(whole)), find) == (full, [])
    for length in range(len("v="), len(whole)):
        cut = dict(parse_qsl(whole[:length], keep_blank_values=True))
        assert from_query(cut, find).problems, whole[:length]


@pytest.mark.parametrize(("saved", "now"), list(zip(EARLIER, NAMED, strict=True)))
def test_saved_link_of_any_version_opens_and_is_written_by_field_names(
    saved: dict[str, str], now: dict[str, str]
) -> None:
    for link in (saved, now):
        reading = from_query(link, find)
        assert reading.problems == []
        assert to_query(reading.workspace) == now
    assert {"plan", "beside"} & saved.keys() or now == saved


@pytest.mark.parametrize(
    ("changes", "added"),
    [
        ({"own_lab": LabOverrides(budget=2700, staff=5)}, {"budget": "2700", "staff": "5"}),
        (
            {
                "own_lab": LabOverrides(start_day=4),
                "question": EvidenceAssumptions(effect=0.3, dropout=0.1),
            },
            {"start": "4", "effect": "0.3", "dropout": "0.1"},
        ),
        (
            {"scientist": ScientistKind.EVIDENCE_AWARE, "presenting": 3},
            {"scientist": "evidence_aware", "present": "3"},
        ),
        (
            {"scientist": ScientistKind.PERSON, "moves": MOVES},
            {"scientist": "person", "moves": encode_moves(MOVES)},
        ),
        ({"plan": PLAN}, {"plan": TEXT}),
    ],
    ids=["levers", "own", "players", "moves", "plan"],
)
def test_query_carries_only_what_is_not_as_usual(
    changes: dict[str, object], added: dict[str, str]
) -> None:
    usual = to_query(SIMPLE)
    query = to_query(SIMPLE.changed(**changes))
    assert {key: query[key] for key in query.keys() - usual.keys()} == added


@pytest.mark.parametrize(
    ("query", "workspace"),
    [
        ({}, Workspace().changed(study="fin_momentum", lab=Difficulty.MEDIUM)),
        ({"study": "psy_stroop", "seed": "3"}, Workspace().changed(study="psy_stroop", seed=3)),
        ({"present": "0"}, Workspace()),
        ({"survey": "1"}, Workspace().changed(survey=True)),
        ({"survey": "0"}, Workspace()),
        ({"utm_source": "mail", "embed": "true"}, Workspace()),
        ({"plan": TEXT}, Workspace().changed(plan=PLAN)),
    ],
    ids=["empty", "by hand", "off by hand", "survey", "no survey", "foreign keys", "plan"],
)
def test_address_needs_no_checksum_and_no_more_than_it_has(
    query: dict[str, str], workspace: Workspace
) -> None:
    assert from_query(query, find) == (workspace, [])


def test_address_with_the_reference_plan_stays_under_2000_characters() -> None:
    for study in STUDIES:
        plan = load_scenario(study).reference_protocol
        query = to_query(Workspace().changed(study=study, seed=LARGEST_SEED, plan=plan))
        assert len(f"https://example.org/Protocol?{urlencode(query)}") < 2000, study


def test_link_in_circulation_still_opens() -> None:
    # Written once by this code and kept: another format would break the links that people have.
    text = (
        "eNqLNjHQiVZKSSzKVkjOzyspys9RitVRSs4vzSvJzEtX0jEFyuYk5hYARaOVEtMTi0DSTqnJiaXFqQqHV-opxQIA"
        "zIEVtw"
    )
    assert decode_plan(text) == Protocol(
        sample_size=40,
        controls=["dark control"],
        technique="counting",
        duration_days=5,
        required_equipment=["lamp"],
        required_reagents=["agar"],
        rationale="Because é.",
    )


class LongerProtocol(Protocol):
    """A plan as a later version may have it, with one more field, which need not be given."""

    notes: str = ""


BY_POSITION: Final = packed(json.dumps(list(PLAN.model_dump().values())))


def test_plan_in_a_link_is_read_by_field_names_and_keeps_no_order() -> None:
    values = PLAN.model_dump()
    assert json.loads(unpacked(TEXT)) == values
    assert decode_plan(packed(json.dumps(dict(reversed(values.items()))))) == PLAN


@pytest.mark.parametrize("text", [BY_POSITION, TEXT], ids=["by position", "by name"])
def test_link_opens_when_a_plan_has_one_more_field(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address, "Protocol", LongerProtocol)
    monkeypatch.setitem(FIELD_LABELS, "notes", "Notes")
    longer = LongerProtocol(**PLAN.model_dump())
    assert decode_plan(text) == longer
    assert encode_plan(longer) == TEXT
    noted = revise(longer, notes="new")
    assert decode_plan(encode_plan(noted)) == noted


# --- the plan, damaged ----------------------------------------------------------------------


def test_plan_cut_at_any_length_or_with_more_after_it_is_refused() -> None:
    for length in range(len(TEXT)):
        assert refused(TEXT[:length]) == BROKEN, length
    data = base64.urlsafe_b64decode(f"{TEXT}{'=' * (-len(TEXT) % 4)}")
    assert refused(base64.urlsafe_b64encode(data + b"x").decode()) == BROKEN


def test_plan_with_a_bit_flipped_is_refused_or_reads_the_same() -> None:
    data = base64.urlsafe_b64decode(f"{TEXT}{'=' * (-len(TEXT) % 4)}")
    unnoticed = 0
    for position in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[position // 8] ^= 1 << position % 8
        try:
            plan = decode_plan(base64.urlsafe_b64encode(bytes(flipped)).decode())
        except LinkError:
            continue
        assert plan == PLAN
        unnoticed += 1
    assert unnoticed < 8, "only the padding of the last byte of data may change unnoticed"


@given(st.text() | st.text("ABCDEFabcdef0123456789-_="))
def test_text_that_no_link_carried_is_refused(text: str) -> None:
    assert refused(text)


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=3), inner),
)


@given(
    st.binary()
    | st.lists(JSON, min_size=7, max_size=7).map(json.dumps)
    | st.fixed_dictionaries(dict.fromkeys(PLAN.model_dump(), JSON)).map(json.dumps)
)
def test_anything_that_is_packed_is_a_plan_or_refused(raw: str | bytes) -> None:
    try:
        plan = decode_plan(packed(raw))
    except LinkError:
        return
    assert decode_plan(encode_plan(plan)) == plan


def test_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = packed(b"[" + b" " * 50_000_000)
    tracemalloc.start()
    try:
        assert refused(bomb) == BROKEN
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def values(**changes: object) -> str:
    """Return a link's plan with some values replaced by ones that no plan has."""
    return packed(json.dumps({**PLAN.model_dump(), **changes}))


NO_PLANS: Final[dict[str, str]] = {
    "object": packed("{}"),
    "empty": packed("[]"),
    "number": packed("7"),
    "too short": packed('[1, [], "t", 1, [], []]'),
    "a field is missing": packed(json.dumps(PLAN.model_dump(exclude={"controls"}))),
    "a field is unknown": values(zebra=1),
    "by position, negative": packed('[-1, [], "t", 1, [], [], "r"]'),
    "deep": packed("[" * 5000),
    "half": packed("[NaN"),
    "no text": packed(b"\xff\xfe"),
    "huge": packed(f'[1{"0" * 5000}, [], "t", 1, [], [], "r"]'),
    "negative": values(sample_size=-1),
    "text": values(sample_size="40"),
    "half a day": values(duration_days=2.5),
    "blank": values(controls=["fine", " "]),
    "nothing": values(technique=None),
    "long": values(required_reagents="x" * 100),
    "too many": values(sample_size=LARGEST_PLANNED + 1),
    "too many days": values(duration_days=LARGEST_PLANNED + 1),
}


def test_plan_that_is_none_is_refused_by_name() -> None:
    told = [f"{name}: {refused(text)}" for name, text in NO_PLANS.items()]
    assert_golden("link_plans", "\n".join(told))


def test_plan_holds_up_to_a_million_and_no_huge_number() -> None:
    largest = revise(PLAN, sample_size=LARGEST_PLANNED, duration_days=LARGEST_PLANNED)
    assert decode_plan(encode_plan(largest)) == largest
    for digits in (16, 400, 4200):
        assert refused(values(sample_size=10**digits)).startswith("sample_size is ")


# --- what was played by hand ----------------------------------------------------------------


def test_link_without_a_player_means_what_it_meant_and_new_links_name_theirs() -> None:
    without = to_query(SIMPLE)
    assert "scientist" not in without
    assert from_query(without, find) == (SIMPLE, [])
    assert to_query(Workspace())["scientist"] == "evidence_aware"
    assert from_query({}, find).workspace.case.scientist is ScientistKind.EVIDENCE_AWARE


def test_moves_are_left_out_where_they_are_more_than_fit() -> None:
    texts = ["".join(random.Random(n).choices("abcdefghijkl", k=480)) for n in range(19)]
    moves = [Move(number=at, action=question(*texts)) for at in range(12)]
    assert encode_moves(moves[:1])
    assert decode_moves(encode_moves(moves[:1])) == tuple(moves[:1])
    assert encode_moves(moves) == ""
    work = Workspace().changed(scientist=ScientistKind.PERSON, moves=tuple(moves))
    assert from_query(to_query(work), find) == (work.changed(moves=()), [])


@pytest.mark.parametrize("others", [{"scientist": "model"}, {"recording": "momentum_revised"}])
def test_moves_beside_players_that_have_none_are_said_and_left_out(others: dict[str, str]) -> None:
    reading = from_query({**others, "moves": encode_moves(MOVES)}, find)
    assert reading.problems == [
        "moves: these players have none. Showing the negotiation as they play it."
    ]
    assert not reading.workspace.case.moves


# --- what an address has no room for ----------------------------------------------------------

ITEMS: Final = tuple(
    OwnItem(label="".join(random.Random(at).choices("abcdefghijkl", k=40)), category="reagent")
    for at in range(90)
)
LONG, OTHER = (
    revise(PLAN, rationale="".join(random.Random(k).choices("abcdefghijkl", k=k)))
    for k in (4_000, 3_900)
)
TRAY: Final = (
    TrayCase(name="A", case=Workspace().changed(plan=LONG).case),
    TrayCase(name="B", case=Workspace().changed(plan=OTHER).case),
)


@pytest.mark.parametrize(
    ("changes", "room", "lost"),
    [
        ({"plan": PLAN}, 4_000, ""),
        ({"plan": LONG}, 2_000, "p"),
        ({"own_lab": LabOverrides(name="Ours", items=ITEMS)}, 1_500, "i"),
        ({"scientist": ScientistKind.PERSON, "moves": MOVES}, 300, "m"),
        ({"tray": TRAY}, 6_000, "b"),
        ({"plan": LONG, "tray": TRAY}, 2_000, "pb"),
    ],
    ids=["nothing", "plan", "items", "moves", "beside", "plan and beside"],
)
def test_address_with_too_little_room_says_what_it_lacks(
    changes: dict[str, Any], room: int, lost: str
) -> None:
    work = Workspace().changed(**changes)
    carried, query = fitted(work, room)
    assert len(urlencode(query)) <= room
    assert "".join(left_out(work, carried)) == lost
    assert from_query(query, find) == (carried, [])
    for letter in lost:
        carried = put(carried, PARTS[letter].path, at(work, PARTS[letter].path))
    assert carried == work
    assert fitted(Workspace().changed(tray=TRAY), 6_000)[0].tray == TRAY[:1], "the first that fits"


# --- the address, damaged -------------------------------------------------------------------


UNUSABLE: Final = [
    *(("study", text) for text in ("zebra", "fin_momentun", "../../etc/passwd")),
    ("lab", "Hard"),
    *(("seed", text) for text in ("-1", "1000000", "1e3", "\u0663", "", "9" * 9999)),
    *((key, text) for key in ("rounds", "round") for text in ("0", "13")),
    *(("budget", "0"), ("days", "-3"), ("staff", "1000000001")),
    *(("scientist", "Baseline"), ("scientist", ""), ("manager", "reference ")),
    *(("recording", "../../etc/passwd"), ("recording", "x" * 65)),
    *(("present", "yes"), ("present", "100")),
    *(("plan", text) for text in ("", TEXT[:-9], values(sample_size=-1))),
    *(("moves", text) for text in ("", encode_moves(MOVES)[:-9], packed("[{}]"), packed("[1"))),
    ("moves", packed('[{"number": 0, "by": "rule"}]')),
    ("moves", packed('[{"number": 50}]')),
]


def test_part_that_cannot_be_read_is_said_and_keeps_its_default() -> None:
    told = []
    for key, text in UNUSABLE:
        workspace, [problem] = from_query({key: text}, find)
        assert workspace == Workspace()
        told.append(problem)
    assert_golden("link_problems", "\n".join(told))


def test_part_that_cannot_be_read_takes_with_it_what_belongs_to_it_alone() -> None:
    workspace = Workspace().changed(study="math_four_colour", lab=HARD, plan=PLAN)
    reading = from_query({**to_query(workspace), "seed": "x", "round": "y"}, find)
    assert reading.workspace == workspace
    assert len(reading.problems) == 2
    for other in ({"study": "zebra", "plan": TEXT}, {"plan": TEXT[:-9]}):
        reading = from_query({"lab": "hard", "moves": PLAYED, **other}, find)
        assert reading.workspace == Workspace().changed(lab=HARD)
        assert len(reading.problems) == 1


def test_huge_address_gives_short_problems() -> None:
    keys = ("study", "lab", "seed", "rounds", "round", "plan", "budget", "moves")
    for reading in (from_query({key: "x" * 1_000_000}, find) for key in keys):
        assert reading.workspace == Workspace()
        [problem] = reading.problems
        assert len(problem) < 400


KEYS: Final = st.sampled_from(
    "study lab seed rounds round plan budget days staff scientist manager recording present "
    "moves other".split()
)


@given(st.dictionaries(KEYS, st.text() | st.sampled_from([*STUDIES, "hard", "3", TEXT, PLAYED])))
def test_any_address_gives_a_workspace_that_can_be_opened(query: dict[str, str]) -> None:
    workspace, problems = from_query(query, find)
    assert workspace.case.pack(find).scenario_id == workspace.case.study
    assert workspace.case.protocol(find) == (
        workspace.case.plan or workspace.case.pack(find).reference_protocol
    )
    assert all(problem.endswith(".") for problem in problems)
    assert from_query(to_query(workspace), find) == (workspace, [])


# --- a lab and a question of one's own ------------------------------------------------------

ITEM: Final[dict[str, Any]] = {"label": "flume", "category": "equipment", "price": 4.0}


@pytest.mark.parametrize(
    ("said", "kept", "problem"),
    [
        ({"rates": {"per_day": -1, "per_sample": 3}}, LabOverrides(rates={"per_sample": 3}), "-1"),
        ({"steps": {"base": 2, "zebra": 3}}, LabOverrides(steps={"base": 2}), "zebra"),
        ({"items": [ITEM, {"label": ""}]}, LabOverrides(items=(OwnItem(**ITEM),)), '{"label": ""}'),
        ({"items": [ITEM, ITEM]}, LabOverrides(items=(OwnItem(**ITEM),)), "flume"),
        ({"name": "x" * 99}, LabOverrides(), "xxx"),
        ({"zebra": 1}, LabOverrides(), "zebra"),
    ],
    ids=["rate", "step", "item", "item twice", "name", "unknown"],
)
def test_own_lab_of_a_damaged_link_is_taken_value_by_value(
    said: dict[str, object], kept: LabOverrides, problem: str
) -> None:
    query = {"own_lab": packed(json.dumps(said)), "budget": "2700", "start": "0"}
    reading = from_query(query, find)
    assert reading.workspace.case.own_lab == kept.model_copy(update={"budget": 2700})
    assert reading.problems[0] == "start '0' is not usable; showing the lab's own."
    assert len(reading.problems) == 2
    assert problem in reading.problems[1]


def test_own_lab_of_a_hostile_link_is_left_out_and_says_few_of_its_faults() -> None:
    for text in ("zebra", packed("[1]"), packed("{")):
        reading = from_query({"own_lab": text, "days": "9"}, find)
        assert reading.workspace.case.own_lab == LabOverrides(days=9)
        assert "showing the lab's own rates, steps and items" in reading.problems[0]
    said = {"items": [{"label": "x"}] * 2000}
    reading = from_query({"own_lab": packed(json.dumps(said))}, find)
    assert reading.workspace == Workspace()
    assert len(reading.problems) == 9
    assert reading.problems[-1] == "own_lab: 242 values more cannot be used."


def test_question_of_a_link_is_taken_number_by_number() -> None:
    together = from_query({"target": "0.3", "floor": "0.2"}, find)
    assert together == (
        Workspace().changed(question=EvidenceAssumptions(target=0.3, floor=0.2)),
        [],
    )
    reading = from_query({"target": "0.3", "alpha": "0.01", "dropout": "2", "effect": "x"}, find)
    assert reading.workspace.case.question == EvidenceAssumptions(alpha=0.01)
    assert [text.split(" ")[0] for text in reading.problems] == ["effect", "dropout", "target"]
    assert "out of order" in reading.problems[-1]


def test_each_number_of_a_question_that_cannot_be_asked_has_its_own_reason() -> None:
    told = from_query({"effect": "0", "target": "0.2", "floor": "0.9"}, find).problems
    assert ["of 0.2" in text for text in told] == [False, True, False]
    assert ["of 0.9" in text for text in told] == [False, False, True]
    assert "effect is 0" in told[0]


def test_alpha_of_a_study_without_a_test_is_left_out_with_a_word() -> None:
    why = packed(json.dumps({"alpha": "Because.", "target": "So."}))
    reading = from_query({"study": "math_four_colour", "alpha": "0.01", "why": why}, find)
    assert reading.workspace.case.question == EvidenceAssumptions(why={"target": "So."})
    [told] = reading.problems
    assert re.fullmatch(r"alpha '0\.01' plays no part in an? \w+ design; it is left out\.", told)


def test_question_of_a_study_that_is_not_here_waits_for_it() -> None:
    reading = from_query({"study": "not_here", "own": "0" * 32, "target": "0.01"}, find)
    assert reading.workspace.case.question == EvidenceAssumptions(target=0.01)


# --- what is kept beside ----------------------------------------------------------------------


def tray_of(said: object) -> tuple[list[str], list[str]]:
    """Return the names of what a link says is beside, and what of it could not be used."""
    found = from_query({"beside": packed(json.dumps(said))}, find)
    return [each.name for each in found.workspace.tray], found.problems


NO_TRAYS: Final[tuple[object, ...]] = (
    {},
    [["A"]],
    [["A", {"seed": 7}]],
    [["", {}]],
    [["A" * (LONGEST_NAME + 1), {}]],
    [["A", {}]] * (MOST_SIDES + 1),
    "[" * 5000,
)


def test_beside_that_is_none_is_named_and_left_out() -> None:
    for said in NO_TRAYS:
        found = [], ["beside: the link carries nothing that can be compared."]
        assert tray_of(said) == found, str(said)[:40]
    assert from_query({"beside": packed("[]")[:-4]}, find).problems == [f"beside: {BROKEN}"]


def test_beside_tells_of_each_what_of_it_cannot_be_used() -> None:
    names, problems = tray_of([["A", {"seed": "x"}], ["B", {"study": "not_there"}]])
    assert names == ["A", "B"]
    assert problems[0] == "beside, A: seed 'x' is not usable; showing seed 0."
    assert problems[1].startswith("beside, B: study 'not_there' cannot be opened")


def test_beside_has_nothing_beside_itself_and_shows_no_round() -> None:
    inner = to_query(Workspace().changed(round_number=3, presenting=2, survey=True))
    nested = {**inner, "beside": packed(json.dumps([["B", {}]]))}
    [found] = from_query({"beside": packed(json.dumps([["A", nested]]))}, find).workspace.tray
    assert found.case == Workspace().case
