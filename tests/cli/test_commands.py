"""The answers, exit codes and messages of every command."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from typer.testing import CliRunner

import replicalab
from replicalab import negotiation, scenarios
from replicalab.assessment import assess
from replicalab.cli import COMPLETE, DEBUG, commands, main
from replicalab.cli.commands import CODES, EXAMPLES, SCHEMA, app
from replicalab.documents import open_bundle
from replicalab.models import revise
from replicalab.negotiation.batch import jobs_of, run_job
from replicalab.negotiation.case import Case, play_case
from replicalab.planner import PlanAnalysis
from tests.cli.asking import ROOT, Asking, started
from tests.golden import assert_golden, new_lines
from tests.tiers import one_in

STUDY: Final = "psy_stroop"
ANSWERED: Final = [name for name in CODES if name != "serve"]
_, _, SCHEMA_TEXT = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8").partition("## JSON")
DOCUMENTED: Final = {*re.findall(r"`(\w+)`(?=[^|]*\|[^|]*\|[^|]*\|$)", SCHEMA_TEXT, re.MULTILINE)}


def test_answers_in_words(ask: Asking) -> None:
    texts = {}
    for command in ANSWERED:
        line = f"{command} {EXAMPLES[command]}".removesuffix(" --json")
        answer = ask(line)
        assert answer.code in (0, 1)
        texts[f"{command}, exit code {answer.code}"] = "\n".join(
            map(str.rstrip, answer.out.splitlines())
        )
        data = ask(f"{line} --json")
        assert (data.code, data.data["schema"]) == (answer.code, SCHEMA), command
        assert command == "report" or data.data.keys() <= DOCUMENTED
    assert_golden("commands#answers", new_lines(texts))


@pytest.mark.parametrize("command", CODES)
def test_help_has_exit_code_and_example(command: str) -> None:
    text = " ".join(CliRunner().invoke(app, [command, "--help"]).output.split())
    assert f"Exit code: {CODES[command]}." in text
    assert f"Example: replicalab {command} {EXAMPLES[command]}" in text


def test_help_loads_no_heavy_package() -> None:
    code = (
        "import sys; from replicalab.cli import main; main(['check', '--help']); "
        "main(['studies']); sys.exit(any(name in sys.modules for name in "
        "('pandas', 'scipy', 'plotly', 'streamlit', 'openai')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("check psy_", "psy_ego_depletion psy_stroop"),
        ("batch psy_stroop fin_m", "fin_momentum"),
        ("check psy_stroop --lab ", "easy medium hard"),
        ("compare psy_stroop --lab easy --lab h", "hard"),
        ("por", "portfolio"),
    ],
)
def test_shell_completes_commands_studies_and_labs(
    ask: Asking, monkeypatch: pytest.MonkeyPatch, typed: str, completed: str
) -> None:
    words = f"replicalab {typed}"
    assert "--install-completion" in ask("--help").out
    monkeypatch.setenv(COMPLETE, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    answer = ask("")
    assert (answer.code, answer.out.split()) == (0, completed.split())


def test_check_has_the_values_of_the_assessment(ask: Asking) -> None:
    answer = ask("check bio_jq1_myeloma --lab easy --seed 3 --json")
    pack = scenarios.load_scenario("bio_jq1_myeloma", "easy", 3)
    plan = assess(pack.reference_protocol, pack)
    assert answer.code == (0 if plan.feasible else 1)
    assert answer.data["cost"] == plan.cost == sum(t["credits"] for t in answer.data["cost_terms"])
    assert answer.data["evidence"]["value"] == plan.evidence.value
    numbers = [(d["dimension"], d["used"], d["limit"]) for d in answer.data["dimensions"]]
    assert numbers == [(str(d), s.used, s.limit) for d, s in plan.slack.items()]


def test_settings_reach_lab_question_and_plan(ask: Asking) -> None:
    overrides = scenarios.LabOverrides(name="Ours", budget=5000, days=9)
    Path("lab.json").write_text(scenarios.lab_json(overrides))
    question = "--set question.effect=0.4 --set question.dropout=0.25 --set question.target=0.9"
    plan = "--set plan.controls=[] --set plan.technique=another --days 2"
    line = f"check {STUDY} --lab lab.json --set own_lab.budget=7000 {question}"
    data = ask(f"{line} --json").data
    assert data["own_lab"] == {"name": "Ours", "budget": 7000, "days": 9}
    assert data["question"] == {"effect": 0.4, "dropout": 0.25, "target": 0.9}
    pack = scenarios.load_scenario(STUDY, "medium")
    assumptions = scenarios.EvidenceAssumptions(effect=0.4, dropout=0.25, target=0.9)
    evidence = assess(pack.reference_protocol, pack.with_own(overrides, assumptions)).evidence
    assert (data["evidence"]["value"], data["evidence"]["analysed"]) == (evidence.value, 75)
    changed = ask(f"{line} {plan} --json").data["plan"]
    assert (changed["controls"], changed["technique"]) == ([], "another")
    assert changed["duration_days"] == 2


def test_setting_of_a_record_keeps_its_other_fields(ask: Asking) -> None:
    data = ask("check psy_stroop --set question.effect=halved --json").data
    assert data["evidence"]["effect"] == 0.5
    items = '[{"label": "voice-key booth", "category": "equipment", "state": "available"}]'
    data = ask(f"check {STUDY} --set own_lab.items='{items}' --json").data
    assert "equipment" not in data["failing"]


def test_plan_has_the_least_loss_and_saves_it(ask: Asking) -> None:
    data = ask(f"plan {STUDY} --save plan.json --json").data
    pack = scenarios.load_scenario(STUDY, "medium")
    loss = PlanAnalysis(assess(pack.reference_protocol, pack)).least
    assert data["least_loss"]["plan"] == loss.plan.model_dump(mode="json")
    assert ask(f"check {STUDY} --plan plan.json").code == 0
    elsewhere = ask("check fin_momentum --plan plan.json")
    assert elsewhere.err.startswith("plan.json: This plan was saved for another study")


def test_saved_negotiation_replays_and_gives_its_plan(ask: Asking) -> None:
    assert ask(f"negotiate {STUDY} --scientist direct --save talk.json").code == 0
    assert ask(f"negotiate {STUDY} --replay talk.json --json").data["outcome"] == "agreed"
    study, talk = ask(f"compare {STUDY} --plan study --plan talk.json --json").data["sides"]
    assert [side["plan"]["sample_size"] for side in (study, talk)] == [100, 25]
    assert ask(f"check {STUDY} --plan talk.json --json").data["plan"]["sample_size"] == 25
    line = f"negotiate {STUDY} --lab hard --seed 3 --scientist baseline --set max_rounds=1 --json"
    assert (ask(line).code, ask(line).data["outcome"]) == (1, "no_deal")


def test_report_has_the_form_of_its_name(ask: Asking) -> None:
    assert ask(f"report {STUDY} --kind brief --save a.docx").code == 0
    assert Path("a.docx").read_bytes().startswith(b"PK")
    line = f"report {STUDY} --samples 60 --set own_lab.budget=900 --negotiated"
    ask(f"{line} --save bundle.json")
    opened = open_bundle(Path("bundle.json").read_bytes())
    assert not opened.caution
    assert opened.options.yours.counts.samples == 60
    assert opened.options.yours.pack.lab.budget == 900
    answers = "--set registration.title=Ours --kind brandt-prereg-2 --save a.json"
    assert ask(f"report {STUDY} {answers}").code == 0


FAULTS: Final = [
    "check psy_strop",
    "check missing.yaml",
    f"check {STUDY} --lab har",
    f"check {STUDY} --samples x",
    f"check {STUDY} --set own_lab.budget",
    f"check {STUDY} --set budget=4",
    f"check {STUDY} --set own_lab.budget=abc",
    f"check {STUDY} --set own_lab.bugdet=5",
    f"check {STUDY} --set own_lab.budget.more=5",
    f"check {STUDY} --set registration.title=Ours",
    f"check {STUDY} --set own_lab.start_date=tomorrow",
    f"check {STUDY} --set question.baseline=0.5",
    f"check {STUDY} --set question.effect=safeguard",
    f"check {STUDY} --set plan.required_equipment.7=x",
    f"compare {STUDY} --plan study",
    f"compare {STUDY} --plan offers --plan study",
    "negotiate",
    f"negotiate {STUDY} --scientist person",
    f"negotiate {STUDY} --set max_rounds=10000",
    f"negotiate {STUDY} --replay talk.json --scientist baseline",
    f"portfolio {STUDY} ml_rl_seeds",
    f"portfolio {STUDY} --worth {STUDY}=many",
    f"report {STUDY} --kind brief --save a.json",
    f"report {STUDY} --kind mine",
    f"report {STUDY} --save a.doc",
    f"report {STUDY} --save missing/a.html",
    f"report {STUDY} --paper letter",
    f"report {STUDY} --save - --json",
    f"report {STUDY} --date tomorrow",
    f"break-even {STUDY} --hopeful nan",
    f"batch {STUDY} --scientist=",
    f"batch {STUDY} --seeds 9-1",
    f"batch {STUDY} --seeds 0-99999",
    *(f"serve --port {port}" for port in (0, -1, 65536)),
    "serve --host http://lab.example",
    "nothing",
    "",
]


def test_fault_is_one_message_with_exit_code_2(ask: Asking) -> None:
    texts = []
    for line in FAULTS:
        answer = ask(line)
        assert (answer.code, answer.out) == (2, ""), line
        assert len(answer.err.splitlines()) == 1, answer.err
        assert ";" in answer.err, answer.err
        texts += [f"$ {line}", answer.err.rstrip("\n")]
    assert_golden("commands#bad_input", "\n".join(texts))


LONG: Final = "x" * 300
OPTIONS: Final = ("seed", "samples", "lab", "plan", "set")
VALUES: Final = ("--", "1e99", "NaN", "nan", "-inf", "9" * 300, "x y " * 100, LONG, "٣")


def test_bad_value_is_one_line_with_code_2(ask: Asking) -> None:
    lines = [f"check {STUDY} '--{option}={value}'" for option in OPTIONS for value in VALUES]
    lines += [f"check {STUDY} --set 'own_lab.budget={value}'" for value in VALUES]
    lines += [f"check {STUDY} --set 'question.alpha={value}'" for value in VALUES]
    lines += [f"portfolio {STUDY} --worth '{STUDY}={value}'" for value in VALUES[:-1]]
    lines += [f"batch {STUDY} '--seeds={value}'" for value in VALUES]
    lines += [f"plan {STUDY} --most 1e99", f"check {LONG}", LONG, f"report {STUDY} --kind {LONG}"]
    lines += [f"check {STUDY} --set own_lab.{LONG}=1", f"plan {STUDY} --save {LONG}/plan.json"]
    for line in lines:
        answer = ask(line)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1), line
        assert max(map(len, answer.err.split())) <= 110, line
        assert len(answer.err) < 500, line


def test_hostile_text_reaches_no_terminal(ask: Asking) -> None:
    label = "pump \u202e\u200b"
    item = scenarios.OwnItem(label=label, category="equipment", price=3.0)
    overrides = scenarios.LabOverrides(items=(item,))
    Path("lab.json").write_text(scenarios.lab_json(overrides))
    pack = scenarios.load_scenario(STUDY, "medium")
    plan = revise(pack.reference_protocol, required_equipment=[f"{label}\x1b[31m[red]"])
    Path("plan.json").write_text(scenarios.plan_json(plan, STUDY))
    files = "--lab lab.json --plan plan.json"
    text = "".join(ask(f"{name} {STUDY} {files}").out for name in ("check", "plan", "negotiate"))
    assert "⟨U+202E⟩" in text
    assert "[red]" in text
    assert not {"\u202e", "\u200b", "\x1b"} & set(text)


def test_other_encodings_replace_what_they_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    out = TextIOWrapper(BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["check", STUDY]) == 1
    assert b"FAIL: Not feasible here" in out.buffer.getvalue()


def test_answer_as_json_is_finite(ask: Asking) -> None:
    answer = ask("check math_pythagorean --samples 0 --json")
    assert json.loads(answer.out, parse_constant=pytest.fail)


@pytest.mark.parametrize(("option", "variable"), [("", None), ("--debug", "0"), ("", "1")])
def test_failure_is_one_line_or_a_traceback(
    ask: Asking, option: str, variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError("a sum\nof \x1b[31mnothing")

    monkeypatch.setattr(commands, "analysis", fail)
    monkeypatch.delenv(DEBUG, raising=False)
    if variable:
        monkeypatch.setenv(DEBUG, variable)
    answer = ask(f"{option} check {STUDY}")
    assert (answer.code, answer.out) == (70, "")
    assert "\x1b" not in answer.err
    if variable:
        assert answer.err.startswith("Traceback (most recent call last):\n")
        assert "in fail" in answer.err
    else:
        assert answer.err == (
            "ReplicaLab itself failed (ZeroDivisionError: a sum of ⟨U+001B⟩[31mnothing), through "
            "no fault of the input; run it again with REPLICALAB_DEBUG=1 for the traceback\n"
        )


RULES: Final = sorted(negotiation.AUTOMATIC)
STUDIES: Final = [scenario.scenario_id for scenario in scenarios.list_scenarios()]

Came = tuple[str, int, int, int]  # the outcome, the rounds, and the last plan's samples and days


def came(played: negotiation.Negotiation | None) -> Came:
    assert played is not None
    assert played.outcome is not None
    assert played.final_plan is not None
    counts = played.final_plan.counts
    return played.outcome.value, len(played.rounds), counts.samples, counts.days


@pytest.mark.parametrize(
    ("study", "lab", "scientist", "manager"),
    one_in(
        10, [*product(STUDIES, scenarios.Difficulty, RULES, negotiation.RULED_LAB_MANAGERS)][::35]
    ),
)
def test_every_interface_plays_one_outcome(
    ask: Asking,
    study: str,
    lab: scenarios.Difficulty,
    scientist: negotiation.ScientistKind,
    manager: negotiation.LabManagerKind,
) -> None:
    pack = scenarios.load_scenario(study, lab)
    case = Case.of(pack, scientist=scientist, lab_manager=manager)
    page = came(play_case(assess(pack.reference_protocol, pack), case))
    line = f"{study} --lab {lab} --scientist {scientist} --lab-manager {manager}"
    result: Any = ask(f"negotiate {line} --json").data
    counts = result["final"]["plan"]
    ends = counts["sample_size"], counts["duration_days"]
    assert (result["outcome"], len(result["rounds"]), *ends) == page
    [row] = ask(f"batch {line} --workers 1 --json").data["results"]
    assert (row["outcome"], row["rounds"], row["samples"], row["days"]) == page
    assert came(replicalab.negotiate(replicalab.load(study, lab), scientist, manager)) == page
    # By default it opens with the study's own plan.
    first = result["rounds"][0]
    assert first["reason"] == "It opens with the study's own plan."
    assert first["plan"]["plan"]["sample_size"] == pack.reference_protocol.sample_size


REQUIRED: Final = "REPLICALAB_REQUIRE_DASK"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_batch_results_are_in_order(ask: Asking) -> None:
    options = "--seeds 2-11 --workers 1 --set own_lab.budget=500 --save out.csv --json"
    answer = ask(f"batch {STUDY} --lab hard --lab easy {options}")
    jobs = jobs_of([STUDY], ["hard", "easy"], range(2, 12))
    own = {"own_lab": scenarios.LabOverrides(budget=500)}
    ours = [run_job(job.model_copy(update=own)) for job in jobs]
    assert answer.code == 0
    keys = ("outcome", "credits", "samples", "evidence")
    result = [tuple(item[key] for key in keys) for item in answer.data["results"]]
    assert result == [tuple(our.model_dump(mode="json")[key] for key in keys) for our in ours]
    assert answer.data["results"][0]["job"]["own_lab"]["budget"] == 500
    assert [int(row["seed"]) for row in rows_of(Path("out.csv"))] == [*range(2, 12)] * 2
    assert answer.err.splitlines()[-1] == "20 of 20 negotiations"
    assert len(answer.err.splitlines()) <= 10


def test_batch_of_a_file_equals_its_study(ask: Asking) -> None:
    Path("mine.yaml").write_text(scenarios.study_text(STUDY), encoding="utf-8")
    mine, ours = ask(f"batch mine.yaml {STUDY} --lab easy --workers 1 --json").data["results"]
    assert mine == ours


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_batch_that_is_stopped_keeps_what_it_had(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    line = f"batch {STUDY} --lab hard --seeds 0-399 --workers 1 --save {path}"
    process = started(line, start_new_session=True)
    assert process.stderr
    assert process.stderr.readline() == "40 of 400 negotiations\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to its workers too
    text, faults = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in faults
    seeds = [int(row["seed"]) for row in rows_of(path)]
    assert 40 <= len(seeds) < 400
    assert len(set(seeds)) == len(seeds)
    assert text.strip().startswith(f"Stopped: {len(seeds):,} of 400 negotiations are played.")


def test_missing_dask_is_named(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    answer = ask(f"batch {STUDY} --dask tcp://127.0.0.1:1")
    assert answer.code == 2
    assert answer.err.startswith("--dask: the package distributed is not installed; pip install")


@pytest.fixture(scope="module")
def dask() -> None:
    if find_spec("distributed") is None and not os.environ.get(REQUIRED):
        pytest.skip(f"distributed is not installed; {REQUIRED}=1 makes that a failure")


@pytest.fixture(scope="module")
def cluster(dask: None) -> Iterator[Any]:
    from distributed import LocalCluster  # noqa: PLC0415 - it may not be installed

    with LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=":0") as result:
        yield result


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_cluster_that_loses_a_worker_keeps_results(tmp_path: Path, cluster: Any) -> None:
    path = tmp_path / "all.csv"
    pids = [worker.pid for worker in cluster.workers.values()]
    line = f"batch {STUDY} --seeds 0-29 --dask {cluster.scheduler_address} --save {path}"
    process = started(f"{line} --json")
    assert process.stderr
    assert process.stderr.readline() == "9 of 90 negotiations\n"
    os.kill(pids[0], signal.SIGKILL)
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert pids[0] not in [worker.pid for worker in cluster.workers.values()]
    times = Counter((row["lab"], int(row["seed"])) for row in rows_of(path))
    assert set(times.values()) == {1}
    assert len(times) == 90
    here = [run_job(job).model_dump(mode="json") for job in jobs_of([STUDY], seeds=range(30))]
    results = json.loads(text)["results"]
    for name in ("outcome", "credits"):
        assert [result[name] for result in results] == [result[name] for result in here]
