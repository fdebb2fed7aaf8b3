"""The workspace as an address: there and back, and every way an address can be wrong."""

from __future__ import annotations

import base64
import json
import random
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
from replicalab.lexicon import shortened
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
    Arms,
    Difficulty,
    EvidenceAssumptions,
    ItemState,
    LabOverrides,
    OwnItem,
    SheetMapping,
    Units,
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
    effect=0.3,
    target=0.9,
    units=Units(name="tank", samples=16.0, icc=0.1),
    why={"target": "A reviewer asks for it."},
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


def test_units_and_arms_stand_in_the_address_and_go_where_a_study_has_none() -> None:
    units, arms = Units(name="tank", samples=16.0, icc=0.1), Arms(share=0.25)
    asked = Workspace().changed(
        study="eco_reef_fish", question=EvidenceAssumptions(units=units, arms=arms)
    )
    query = to_query(asked)
    assert {"units", "arms"} <= query.keys()
    assert from_query(query, find) == (asked, [])
    left = from_query({**query, "study": "fin_momentum"}, find)
    assert left.workspace.case.question == EvidenceAssumptions(units=units)
    [problem] = left.problems
    assert "arms cannot be asked of this study (arms are given, but a one-sample" in problem
    damaged = from_query({"study": "eco_reef_fish", "units": packed('{"name": "x"}')}, find)
    assert damaged.workspace.case.question == EvidenceAssumptions()
    assert damaged.problems == ['units {"name": "x"} is not usable; showing the study\'s own.']


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


class LongerProtocol(Protocol):
    """A plan as a later version may have it, with one more field, which need not be given."""

    notes: str = ""


BY_POSITION: Final = packed(json.dumps(list(PLAN.model_dump().values())))


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


def changed(**values: object) -> str:
    """Return a link's plan with some values replaced by ones that no plan has."""
    return packed(json.dumps({**PLAN.model_dump(), **values}))


def own_lab(**said: object) -> dict[str, str]:
    return {"own_lab": packed(json.dumps(said)), "budget": "2700"}


NO_TRAYS: Final[tuple[object, ...]] = (
    {},
    [["A"]],
    [["A", {"seed": 7}]],
    [["", {}]],
    [["A" * (LONGEST_NAME + 1), {}]],
    [["A", {}]] * (MOST_SIDES + 1),
    "[" * 5000,
)
ELSEWHERE: Final = {
    **to_query(Workspace().changed(round_number=3, presenting=2, survey=True)),
    "beside": packed('[["B", {}]]'),
}
"""What the address of a case in the tray may say of a page: it has nothing beside and no round."""


def test_plan_holds_up_to_a_million_and_no_huge_number() -> None:
    largest = revise(PLAN, sample_size=LARGEST_PLANNED, duration_days=LARGEST_PLANNED)
    assert decode_plan(encode_plan(largest)) == largest
    for digits in (16, 400, 4200):
        assert refused(changed(sample_size=10**digits)).startswith("sample_size is ")


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


# --- what an address has no room for ----------------------------------------------------------

ITEMS: Final = tuple(
    OwnItem(label="".join(random.Random(at).choices("abcdefghijkl", k=40)), category="reagent")
    for at in range(90)
)
MAPPING: Final = SheetMapping(
    columns={"name": "Item", "state": "Qty"},
    kind="reagent",
    states={"available": tuple(item.label for item in ITEMS[:20])},
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
        ({"own_lab": LabOverrides(items=ITEMS[:9], sheet=MAPPING)}, 400, "ti"),
        ({"scientist": ScientistKind.PERSON, "moves": MOVES}, 300, "m"),
        ({"tray": TRAY}, 6_000, "b"),
        ({"plan": LONG, "tray": TRAY}, 2_000, "pb"),
    ],
    ids=["nothing", "plan", "items", "sheet", "moves", "beside", "plan and beside"],
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

ITEM: Final[dict[str, Any]] = {"label": "flume", "category": "equipment", "price": 4.0}
MINE: Final = {"study": "not_here", "own": "0" * 32}
"""A study of one's own that is not here."""
DAMAGED: Final[list[dict[str, str]]] = [
    # one part that cannot be read, and the rest that can
    *({"study": text} for text in ("zebra", "fin_momentun", "../../etc/passwd")),
    {"study": "zebra", "lab": "hard", "plan": TEXT, "moves": PLAYED},
    {"study": "math_four_colour", "lab": "hard", "plan": TEXT, "seed": "x", "round": "y"},
    {"lab": "Hard"},
    *({"seed": text} for text in ("-1", "1000000", "1e3", "\u0663", "", "9" * 9999)),
    *({key: text} for key in ("rounds", "round") for text in ("0", "13")),
    {"budget": "0", "days": "-3", "staff": "1000000001", "start": "0"},
    *({"scientist": text, "manager": "reference "} for text in ("Baseline", "")),
    *({"recording": text} for text in ("../../etc/passwd", "x" * 65)),
    *({"present": text} for text in ("yes", "100")),
    # a plan that is none
    {"plan": "", "moves": PLAYED},
    *({"plan": packed(text)} for text in ("{}", "7", '[1, [], "t", 1, [], []]', "[" * 5000)),
    *({"plan": packed(text)} for text in ("[NaN", b"\xff\xfe", '[-1, [], "t", 1, [], [], "r"]')),
    {"plan": packed(f'[1{"0" * 5000}, [], "t", 1, [], [], "r"]')},
    {"plan": packed(json.dumps(PLAN.model_dump(exclude={"controls"})))},
    *({"plan": changed(sample_size=size)} for size in (-1, "40", LARGEST_PLANNED + 1)),
    *({"plan": changed(duration_days=days)} for days in (2.5, LARGEST_PLANNED + 1)),
    {"plan": changed(controls=["fine", " "])},
    {"plan": changed(technique=None)},
    {"plan": changed(required_reagents="x" * 100)},
    {"plan": changed(zebra=1)},
    # moves that cannot be played, and players that have none
    *({"moves": text} for text in ("", PLAYED[:-9], packed("[{}]"), packed("[1"))),
    *({"moves": packed(f"[{{{text}}}]")} for text in ('"number": 0, "by": "rule"', '"number": 50')),
    {"moves": PLAYED, "scientist": "model"},
    {"moves": PLAYED, "recording": "momentum_revised"},
    # a lab of one's own, value by value
    *({"own_lab": text, "days": "9"} for text in ("zebra", packed("[1]"), packed("{"))),
    own_lab(rates={"per_day": -1, "per_sample": 3}),
    own_lab(steps={"base": 2, "zebra": 3}),
    own_lab(items=[ITEM, {"label": ""}]),
    own_lab(items=[ITEM, ITEM]),
    own_lab(items=[{"label": "x"}] * 2000),
    own_lab(name="x" * 99, zebra=1),
    own_lab(currency="US$", start_date="7.12.2026", weekends="no", rates={"per_staff_day": 40}),
    own_lab(rates={"overhead_percent": 1001, "per_staff_day": -1}),
    own_lab(name="Ours", sheet={"columns": {"state": "Qty"}, "kind": "reagent"}),
    # a question, number by number: two may fit only together
    {"target": "0.3", "floor": "0.2"},
    {"target": "0.3", "alpha": "0.01", "dropout": "2", "effect": "x"},
    {"effect": "0", "target": "0.2", "floor": "0.9"},
    {**MINE, "target": "0.01"},
    {
        "study": "math_four_colour",
        "alpha": "0.01",
        "why": packed('{"alpha": "A.", "target": "B."}'),
    },
    # what is beside
    *({"beside": packed(json.dumps(said))} for said in NO_TRAYS),
    {"beside": packed("[]")[:-4]},
    {"beside": packed('[["A", {"seed": "x"}], ["B", {"study": "not_there"}]]')},
    {"beside": packed(json.dumps([["A", ELSEWHERE]]))},
]


def test_damaged_address_keeps_what_can_be_read_and_says_what_cannot() -> None:
    told = []
    for query in DAMAGED:
        workspace, problems = from_query(query, find)
        kept = workspace.model_dump_json(exclude_defaults=True)
        # What is packed differs from one zlib to another, and begins alike.
        shown = {key: shortened(text) for key, text in query.items() if not text.startswith("eN")}
        told += [", ".join(f"{key} {shown.get(key, '(packed)')}" for key in query), f"  {kept}"]
        told += [f"  {problem}" for problem in problems]
    assert_golden("link_problems", "\n".join(told))


def test_huge_address_gives_short_problems() -> None:
    keys = ("study", "lab", "seed", "rounds", "round", "plan", "budget", "moves")
    for reading in (from_query({key: "x" * 1_000_000}, find) for key in keys):
        assert reading.workspace == Workspace()
        [problem] = reading.problems
        assert len(problem) < 400


KEYS: Final = st.sampled_from(
    "study lab seed rounds round plan budget days staff scientist manager recording present "
    "moves looks other".split()
)


@given(
    st.dictionaries(
        KEYS, st.text() | st.sampled_from([*STUDIES, "hard", "3", "pocock:2", TEXT, PLAYED])
    )
)
def test_any_address_gives_a_workspace_that_can_be_opened(query: dict[str, str]) -> None:
    workspace, problems = from_query(query, find)
    assert workspace.case.pack(find).scenario_id == workspace.case.study
    assert workspace.case.protocol(find) == (
        workspace.case.plan or workspace.case.pack(find).reference_protocol
    )
    assert all(problem.endswith(".") for problem in problems)
    assert from_query(to_query(workspace), find) == (workspace, [])
