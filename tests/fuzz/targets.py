"""What takes foreign input: for each kind its valid seeds, and how far one is read, and then used.

A case is bytes. Where input is packed (a link, a workbook, fields that are typed), a case may also
be the JSON of what is packed, so that what is changed in it arrives behind the packing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch
from urllib.parse import parse_qsl, urlencode
from zipfile import ZipFile

import httpx2
import openai
from pydantic import ValidationError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from replicalab.agents import parse_scientist_output
from replicalab.assessment import Assessment, assess
from replicalab.case import Case, case_text, read_case
from replicalab.documents import detect_kind
from replicalab.drafts import Draft, TypedAnalysis, check
from replicalab.library import Decision, EntryKind, Option, read_decision
from replicalab.library.contents import decision_text, read_batch
from replicalab.lint import lint
from replicalab.llm import Endpoint, client
from replicalab.measures import DesignKind
from replicalab.measures.solving import Unknown
from replicalab.models import Protocol, ScientistAction
from replicalab.negotiation import Negotiation, Turn, load, play, replay
from replicalab.planner import PlanAnalysis
from replicalab.registration import PROFILES, Registration
from replicalab.reports import bundle
from replicalab.reports.bundle import open_bundle
from replicalab.scenarios import (
    Difficulty,
    LabOverrides,
    Pack,
    SheetMapping,
    by_meaning,
    lab_json,
    load_scenario,
    parse_study,
    read_lab,
    template_text,
)
from replicalab.scenarios.json_file import FileKind
from replicalab.scenarios.writing import plan_json
from replicalab.scenarios.writing import read_plan as read_plan_file
from replicalab.server.internals import read_sent
from replicalab.server.messages import weight
from replicalab.tables.inventory import open_inventory
from replicalab.tables.mapped import mapped_items
from replicalab.tables.proposal import proposed_columns, proposed_table, questions
from replicalab.ui import address
from replicalab.ui.own_studies import find
from replicalab.views.registration import Registered, registration
from tests.hostile_files import full_study, hostile_plan, hostile_run
from tests.library.making import CONTENTS
from tests.negotiation.playing import ACCEPT, OPEN, PLAN, ask, game, revise_to, said
from tests.scenarios.small_study import SMALL, STUDY_TEXT
from tests.tables.messy import MESSY

SAVED: Final = Path(__file__).resolve().parents[1] / "saved"
DAY: Final = date(2026, 11, 26)


class Target(NamedTuple):
    """A kind of input.

    Attributes:
        seeds: makes valid ones.
        use: reads one, and uses what is read; returns what kind of value came of it. Raises what
            is below `ReplicaLabError`, and nothing else.
        cases: how many of a whole run.
    """

    seeds: Callable[[], list[bytes]]
    use: Callable[[bytes], object]
    cases: int = 100_000


def text_in(data: bytes) -> str:
    """Return a case as a text, lone surrogates among them where it has any."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def json_in(data: bytes) -> Any:
    """Return the JSON that a case is; None where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


@cache
def stroop() -> Pack:
    return load_scenario("psy_stroop", "hard")


@cache
def begun() -> Negotiation:
    return Negotiation(game(OPEN, PLAN, 5), OPEN)


# --- a model ----------------------------------------------------------------------------------


def model_seeds() -> list[bytes]:
    spoken = [
        said(ACCEPT),
        said(ask("Why?")),
        said(revise_to(PLAN)),
        said(revise_to(hostile_plan(1))),
    ]
    fenced = [f"Thinking {{so}}.\n```json\n{text}\n```\nDone." for text in spoken]
    return [text.encode() for text in (*spoken, *fenced)]


def use_output(data: bytes) -> object:
    return parse_scientist_output(text_in(data)).action_type


def use_turn(data: bytes) -> object:
    """Play what a model says, for three rounds."""
    action: ScientistAction = parse_scientist_output(text_in(data))
    played = begun()
    for _ in range(3):
        if played.ending is None:
            played = play(played, Turn(action=action))
    return played.ending


ENDPOINT: Final = Endpoint(base_url="http://model.test/v1", model="m", max_retries=0)
CHUNKS: Final = (
    {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [
        {"index": 0, "delta": {"role": "assistant", "content": "so"}, "finish_reason": None}]},
    {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [
        {"index": 0, "delta": {"content": " it is"}, "finish_reason": "stop"}]},
    {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
     "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}},
)  # fmt: skip
SPOKEN: Final = {"role": "assistant", "content": "so"}
WHOLE: Final = {
    **CHUNKS[0], "object": "chat.completion", "usage": CHUNKS[2]["usage"],
    "choices": [{"index": 0, "message": SPOKEN, "finish_reason": "stop"}],
}  # fmt: skip
REFUSED: Final = {"error": {"message": "use max_completion_tokens", "type": "t", "code": "c"}}


def answer_seeds() -> list[bytes]:
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS) + "data: [DONE]\n\n"
    return [stream.encode(), json.dumps(WHOLE).encode(), json.dumps(REFUSED).encode()]


class _Server(httpx2.AsyncBaseTransport):
    """Answers with what it holds: one connection, and one client, for all cases."""

    def __init__(self) -> None:
        self.answer = b""
        self.status = 200
        self.kind = ""
        http = httpx2.AsyncClient(transport=self, trust_env=False)
        self.client = openai.AsyncOpenAI(
            base_url=ENDPOINT.base_url, api_key="k", max_retries=0, http_client=http
        )
        self.runner = asyncio.Runner()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        kind = {"content-type": self.kind}
        return httpx2.Response(self.status, content=self.answer, headers=kind, request=request)

    @asynccontextmanager
    async def connected(self, *_: object) -> AsyncIterator[openai.AsyncOpenAI]:
        yield self.client


@cache
def _server() -> _Server:
    return _Server()


def use_answer(data: bytes) -> object:
    """Take a server's answer through the openai package: as a stream, a whole, or a refusal."""
    server = _server()
    server.status = 400 if b"error" in data[:20] else 200
    server.kind = "application/json" if data[:1] == b"{" else "text/event-stream"
    server.answer = data
    call = client.ModelCall(ENDPOINT, [{"role": "user", "content": "?"}])
    with patch.object(client, "_client", server.connected):
        failure = server.runner.run(call.outcome())
    if failure is not None:
        raise failure
    return len(call.texts), call.finish_reason is None, call.prompt_tokens is None


# --- files ------------------------------------------------------------------------------------


def study_seeds() -> list[bytes]:
    texts = [STUDY_TEXT, template_text(), json.dumps(SMALL), json.dumps(full_study())]
    return [text.encode() for text in texts]


def use_study(data: bytes) -> object:
    study = parse_study(data, "your study")
    lint(study)
    return study.design.kind


def lab_seeds() -> list[bytes]:
    lab = (SAVED / "lab.json").read_bytes()
    texts = [
        lab_json(LabOverrides(name="Ours", budget=900, currency="EUR")),
        CONTENTS[EntryKind.LAB],
    ]
    return [lab, *(text.encode() for text in texts), json_lab()]


def json_lab() -> bytes:
    setup = load(hostile_run()).setup
    return lab_json(setup.own_lab).encode()


def use_lab(data: bytes) -> object:
    lab = read_lab(data)
    judged(stroop().reference_protocol, stroop().with_own(lab, stroop().question))
    return "lab"


def judged(plan: Protocol, pack: Pack) -> Assessment:
    """Judge a plan whole: every dimension, its cost, its evidence."""
    found = assess(plan, pack)
    assert found.cost >= 0
    assert found.evidence.text
    assert found.failing is not None
    return found


def plan_seeds() -> list[bytes]:
    texts = [plan_json(stroop().reference_protocol, "psy_stroop"), plan_json(hostile_plan(1), "x")]
    return [(SAVED / "plan.json").read_bytes(), *(text.encode() for text in texts)]


def use_plan(data: bytes) -> object:
    judged(read_plan_file(data).plan, stroop())
    return "plan"


def bundle_seeds() -> list[bytes]:
    found = stroop()
    options = PlanAnalysis(assess(found.reference_protocol, found))
    saved = [path.read_bytes() for path in sorted(SAVED.glob("bundle_*.json"))]
    return [*saved, bundle(options, found).encode()]


def use_bundle(data: bytes) -> object:
    return len(open_bundle(data).differences)


def entry_seeds() -> list[bytes]:
    option = Option(name="Ours", kind=EntryKind.PLAN, content=CONTENTS[EntryKind.PLAN])
    decision = decision_text(Decision(options=(option, option), chosen=1, why="Cheaper."))
    case = Case(study="psy_stroop", lab=Difficulty.HARD, registration=registered())
    kinds = (EntryKind.PLAN, EntryKind.RUN, EntryKind.BATCH)
    texts = [decision, case_text(case), *(CONTENTS[kind] for kind in kinds)]
    return [text.encode() for text in texts]


def use_entry(data: bytes) -> object:
    """Read what the library keeps, as the page that opens it does."""
    found = detect_kind(data, "entry.json")
    match found.kind:
        case FileKind.DECISION:
            assert read_decision(found.text).name
        case FileKind.BATCH:
            assert read_batch(found.text).came()
        case FileKind.RUN:
            transcript = load(found.text)
            setup = transcript.setup
            replay(transcript, load_scenario(setup.scenario_id, setup.difficulty, setup.seed))
        case FileKind.KEPT_PLAN:
            kept = read_case(found.text)
            kept.assessed()
    return found.kind


# --- a sheet ----------------------------------------------------------------------------------


def sheet_seeds() -> list[bytes]:
    found = [make().data for make in MESSY.values()]
    books = [data for data in found if data.startswith(b"PK")]
    texts = [b"name,kind,state,until,price\nflume,equipment,booked,12,12.5\nagar,reagent,,,0\n"]
    return [*texts, *(data for data in found if data not in books), *map(_unzipped, books[:2])]


def _unzipped(book: bytes) -> bytes:
    with ZipFile(BytesIO(book)) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    return json.dumps(parts).encode()


def _zipped(parts: dict[str, object]) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name or "/", str(part).encode("utf-8", "replace"))
    return file.getvalue()


def use_sheet(data: bytes) -> object:
    parts = json_in(data) if data.startswith(b"{") else None
    name = "ours.csv"
    if isinstance(parts, dict) and "\x00" not in "".join(parts):
        data, name = _zipped(parts), "ours.xlsx"
    found = open_inventory(data, name)
    if found.file is None:
        return "items"
    table = proposed_table(found.file, None)
    columns = proposed_columns(table)
    asked = questions(table, columns, None)
    try:
        mapping = SheetMapping(
            columns=columns,
            kind=None if "kind" in columns else asked.kind or "equipment",
            kinds=by_meaning(asked.kinds.begun),
            states=by_meaning(asked.states.begun),
            first_day=DAY,
            day_first=asked.day_first.begun,
            comma=asked.comma.begun,
            currency=asked.currencies[0] if asked.currencies else "",  # type: ignore[arg-type]
        )
    except ValidationError:  # nothing names the items: the page says so
        return "asked"
    return len(mapped_items(table, mapping, name))


# --- an address -------------------------------------------------------------------------------


def registered() -> Registration:
    return Registration(title="Stroop again", authors="Us", reasons={"controls": "Fewer."})


def link_seeds() -> list[bytes]:
    links = json.loads((SAVED / "links.json").read_text())
    plain = [urlencode(link["query"]) for link in links if isinstance(link.get("query"), dict)]
    packed = {
        "study": "psy_stroop", "lab": "hard", "seed": "3", "budget": "700", "round": "2",
        "plan": json.loads(stroop().reference_protocol.model_dump_json()),
        "moves": [], "own_lab": {"name": "Ours", "items": [{"label": "x", "category": "reagent"}]},
        "why": {"alpha": "So."}, "units": {"name": "tank", "samples": 2.0},
        "looks": {"family": "pocock", "interim": 2}, "arms": {"share": 0.4},
        "registration": registered().model_dump(mode="json"),
    }  # fmt: skip
    return [*(text.encode() for text in plain), json.dumps(packed).encode()]


def use_link(data: bytes) -> object:
    said_of = json_in(data)
    if isinstance(said_of, dict):
        pack = address._packed_json  # noqa: SLF001 - what is packed is what is changed
        query = {key: v if isinstance(v, str) else pack(v) for key, v in said_of.items()}
    else:
        query = dict(parse_qsl(text_in(data)))
    reading = address.from_query(query, find)
    case = reading.workspace.case
    found = find(case.study, case.lab.value, case.seed, case.own)
    judged(case.plan or found.reference_protocol, case.pack())
    again = address.from_query(address.to_query(reading.workspace), find)
    assert again.problems == [] or reading.problems
    return " ".join(reading.problems)


# --- a web socket -----------------------------------------------------------------------------


def message_seeds() -> list[bytes]:
    rerun = BackMsg()
    rerun.rerun_script.page_name, rerun.rerun_script.query_string = "Protocol", "study=psy_stroop"
    for name, field in (("a", "double_value"), ("b", "string_value"), ("c", "trigger_value")):
        state = rerun.rerun_script.widget_states.widgets.add()
        state.id = f"$$ID-{name}"
        setattr(state, field, {"a": 3.0, "b": "x", "c": True}[name])
    files, operation = BackMsg(), BackMsg()
    files.file_urls_request.file_names.append("a.json")
    operation.backend_operation_request.request_id = "1"
    operation.backend_operation_request.deferred_file.file_id = "f"
    sent = ForwardMsg()
    sent.new_session.name = "x"
    return [each.SerializeToString() for each in (rerun, files, operation, sent)]


def use_message(data: bytes) -> object:
    read_sent(data)
    return weight(data) > 0


# --- forms ------------------------------------------------------------------------------------

NUMBERS: Final = {"alpha": 0.05, "effect_planning": 0.5, "target": 0.9, "dropout": 0.1}


def form_seeds() -> list[bytes]:
    edits = [
        {"draft": {"design.alpha": 0.01, "paper.title": "Hot or not", "labs.medium.budget": 90}},
        {"draft": {"reference_protocol.sample_size": 40, "design.kind": "survival"}},
        {
            "kind": "two_group",
            "unknown": "sample_size",
            "numbers": NUMBERS,
            "samples": 9,
            "days": 2,
        },
        {"kind": "correlation", "unknown": "target", "numbers": NUMBERS, "samples": 90, "days": 2},
        {"registration": registered().model_dump(mode="json"), "form": next(iter(PROFILES))},
    ]
    return [json.dumps(edit).encode() for edit in edits]


@cache
def _draft() -> Draft:
    return Draft.of(parse_study(template_text(), "template.yaml"))


def use_form(data: bytes) -> object:
    """Type into the form of a study, into a power analysis, or into a registration."""
    typed = json_in(data)
    if not isinstance(typed, dict):
        return "nothing"
    if isinstance(edits := typed.get("draft"), dict):
        draft = _draft()
        for path, value in edits.items():
            if draft.at(*path.split(".")) is not None:  # a field of the form
                draft = draft.put(value, *path.split("."))
        return " ".join(str(fault) for found in check(draft).faults.values() for fault in found)
    if "registration" in typed:
        try:
            answers = Registration.model_validate(typed["registration"])
        except ValidationError:
            return "refused"
        plan = PlanAnalysis(assess(stroop().reference_protocol, stroop()))
        for profile in PROFILES.values():
            registration(profile, Registered(plan, answers), on=DAY)
        return "registration"
    try:
        kind, unknown = DesignKind(typed["kind"]), Unknown(typed["unknown"])
    except (KeyError, ValueError):
        return "nothing"
    numbers = typed.get("numbers")
    typed_numbers = numbers if isinstance(numbers, dict) else {}
    analysis = TypedAnalysis(kind, unknown, typed_numbers, typed.get("samples"), typed.get("days"))
    return analysis.worked_out is None, [str(each) for each in analysis.faults.values()]


TARGETS: Final = {
    "output": Target(model_seeds, use_output, 1_000_000),
    "turn": Target(model_seeds, use_turn),
    "answer": Target(answer_seeds, use_answer),
    "study": Target(study_seeds, use_study),
    "lab": Target(lab_seeds, use_lab),
    "plan": Target(plan_seeds, use_plan),
    "bundle": Target(bundle_seeds, use_bundle),
    "entry": Target(entry_seeds, use_entry),
    "sheet": Target(sheet_seeds, use_sheet),
    "link": Target(link_seeds, use_link),
    "message": Target(message_seeds, use_message),
    "form": Target(form_seeds, use_form),
}
