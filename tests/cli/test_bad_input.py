"""Bad input: the value, the place and the remedy on standard error, exit code 2, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from replicalab.cli import COMMANDS
from replicalab.cli.files import MOST_BYTES
from replicalab.scenarios import load_scenario, plan_json
from tests.cli.asking import ROOT, Asking, started
from tests.golden import assert_golden

STUDY: Final = "psy_stroop"
BAD: Final = (
    "",
    "chek psy_stroop",
    "check",
    "check psy_strop",
    "check psy_stroop --bud 3",
    "check psy_stroop --samp 3",
    "check psy_stroop --st 3",
    "check psy_stroop --bugdet=3",
    "check psy_stroop fin_momentum",
    "check psy_stroop --budget 0",
    "check psy_stroop --budget 12.5",
    *(f"check psy_stroop --staff-price {n}" for n in ("-1", "nan", "inf", "1e10", "x", "''")),
    *(f"check psy_stroop --overhead {n}" for n in ("-1", "nan", "1000.1", "15%")),
    *(f"check psy_stroop --currency {name}" for name in ("US$", "'a b'", "''", "<b>", "ninechars")),
    *(f"check psy_stroop --start-date {day}" for day in ("7.12.2026", "2026-02-30", "1969-12-31")),
    "check psy_stroop --weekends maybe",
    "check psy_stroop --lab moderate",
    "check psy_stroop --lab meduim",
    "negotiate psy_stroop --scientist evidence-aware",
    "check psy_stroop --rate per_smple=4",
    "check psy_stroop --step base=1.5",
    "check psy_stroop --item 'voice key boot: booked'",
    "check psy_stroop --seed -1",
    "check psy_stroop --samples 2000000",
    "check psy_stroop --alpha x",
    "check psy_stroop --alpha nan",
    "check psy_stroop --dropout 1",
    "check psy_stroop --target 0.1",
    "check math_four_colour --effect 2",
    "check math_four_colour --effect as-published",
    "check math_four_colour --alpha 0.01",
    "check math_pythagorean --alpha 0.01",
    "batch psy_stroop math_pythagorean --seeds 0 --alpha 0.01",
    "check psy_stroop --without 'no such control'",
    "check psy_stroop --swap pipette other",
    "check psy_stroop --swap 'voice-key booth' ' '",
    "check psy_stroop --plan missing.json",
    "check psy_stroop --plan .",
    "check psy_stroop --plan broken.json",
    "check psy_stroop --plan wrong.json",
    "check psy_stroop --plan huge.json",
    *(f"{name} fin_momentum --plan talk.json" for name in ("check", "plan", "negotiate", "report")),
    "compare fin_momentum --plan study --plan talk.json",
    "check psy_stroop --lab-file broken.json",
    "check psy_stroop --lab-file talk.json",
    "check missing.yaml",
    "check missing.json",
    "check ./missing",
    "check /",
    "check psy_stroop --target 1",
    "check - --lab-file -",
    "compare psy_stroop --plan - --plan -",
    "check broken.yaml",
    "check wrong.json",
    "check 'a\x00b.yaml'",
    "plan psy_stroop --save missing/plan.json",
    "plan psy_stroop --reach moon",
    "plan psy_stroop --reach floor --price-day -1",
    "plan psy_stroop --reach floor --price-item nan",
    "plan psy_stroop --reach floor --price-staff 1e10",
    "plan psy_stroop --price-staff 5",
    "report psy_stroop --brief --reach floor",
    "report psy_stroop --brief --funding",
    "report psy_stroop --funding --registration stage-1",
    "report psy_stroop --funding --save bundle.json",
    "report psy_stroop --reach floor --save bundle.json",
    "negotiate",
    "negotiate psy_stroop --samples 0",
    "negotiate psy_stroop --rounds 51",
    "negotiate --replay broken.json",
    "negotiate --replay missing.json",
    "negotiate --replay talk.json --scientist baseline",
    "negotiate --replay talk.json --rate per_day=1",
    "negotiate fin_momentum --replay talk.json --swap a b",
    "negotiate --replay talk.json --save other.json",
    "compare psy_stroop",
    "compare psy_stroop --plan study --plan offer --lab easy --lab medium --lab hard",
    "compare psy_stroop --plan study --plan missing.json",
    "compare psy_stroop --plan study --plan ofer",
    "report psy_stroop --save report.doc",
    "report psy_stroop --brief --save bundle.json",
    "report psy_stroop --date 31.1.2026",
    "report psy_stroop --negotiated --samples 0",
    "batch",
    "batch psy_strop",
    "batch psy_stroop --seeds 9-3",
    "batch psy_stroop --seeds 0-200000",
    "batch psy_stroop --seeds x",
    "batch all --seeds 0-99999",
    "batch psy_stroop --workers 0",
    "batch psy_stroop --workers 2 --dask tcp://127.0.0.1:1",
    "studies --domain psychologie",
)


def _prepare(ask: Asking) -> None:
    plan = load_scenario(STUDY, "medium").reference_protocol
    saved = plan_json(plan, STUDY)
    texts = {
        "broken.json": '{"sample_size": 3,\n',
        "wrong.json": saved.replace("100", '"many"').replace("technique", "technic"),
        "huge.json": plan_json(plan.model_copy(update={"sample_size": 10**7}), STUDY),
        "broken.yaml": "scenario_id: [\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    ask(f"negotiate {STUDY} --save talk.json")


def test_bad_input_names_value_place_and_remedy(ask: Asking) -> None:
    _prepare(ask)
    told = []
    for line in BAD:
        said = ask(line)
        assert (said.code, said.out) == (2, ""), line
        assert said.err.strip(), line
        assert "Traceback" not in said.err
        told.append(f"$ {line}\n{said.err}")
    assert_golden("commands/bad_input", "\n".join(told).replace("\x00", "<NUL>").rstrip())


@pytest.mark.skipif(os.name != "posix", reason="a pipe with a name is of POSIX")
@pytest.mark.parametrize("held_open", [False, True])
def test_named_pipe_is_not_waited_for(ask: Asking, held_open: bool) -> None:
    os.mkfifo("pipe.yaml")
    silent = os.open("pipe.yaml", os.O_RDWR) if held_open else None
    for line in (
        "check pipe.yaml",
        *(f"check {STUDY} {option} pipe.yaml" for option in ("--plan", "--lab-file")),
        f"compare {STUDY} --plan study --plan pipe.yaml",
        "negotiate --replay pipe.yaml",
    ):
        said = ask(line)
        assert said.code == 2
        assert said.err == (
            "'pipe.yaml' cannot be read (a named pipe is not waited for); name a file that exists "
            "and may be read\n"
        )
    if silent is not None:
        os.close(silent)
        return
    said = ask(f"plan {STUDY} --save pipe.yaml")
    assert said.code == 2
    assert "'pipe.yaml' cannot be written (No such device or address)" in said.err


@pytest.mark.skipif(os.name != "posix", reason="a pipe with a name is of POSIX")
def test_pipe_that_the_shell_hands_over_is_read_to_its_end(ask: Asking) -> None:
    plan = load_scenario(STUDY, "medium").reference_protocol
    text = plan_json(plan.model_copy(update={"rationale": "x" * 3000}), STUDY)
    write = "import sys, time; time.sleep(0.3); sys.stdout.write(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", write, text], stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        given = writer.stdout.fileno()
        said = ask(f"check {STUDY} --lab medium --plan /dev/fd/{given} --json")
    assert said.data["plan"]["rationale"] == "x" * 3000
    reading, writing = os.pipe()
    os.close(writing)
    said = ask(f"check {STUDY} --plan /dev/fd/{reading}")
    os.close(reading)
    assert said.code == 2
    assert "the file is empty" in said.err, "nobody wrote a word"


def test_file_larger_than_any_is_refused_for_that(ask: Asking) -> None:
    talk = Path("talk.json")
    ask(f"negotiate {STUDY} --save talk.json")
    talk.write_bytes(talk.read_bytes() + b" " * MOST_BYTES)
    said = ask(f"check {STUDY} --plan talk.json")
    assert said.code == 2
    assert said.err == (
        "'talk.json' has more than 6,291,456 bytes, which no file that is read here has; name "
        "another\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="/dev/full is of Linux")
def test_answer_that_cannot_be_written_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        process = started("studies", stdout=full)
        _, told = process.communicate()
    assert process.returncode == 2
    assert told == (
        "the answer cannot be written (No space left on device); free some space, or write "
        "elsewhere\n"
    )


def test_closed_stream_ends_it_with_a_message_or_in_silence() -> None:
    command = [sys.executable, "-m", "replicalab", "batch", STUDY, "--lab", "hard"]
    shell = 'exec "$@" {}'
    for closed, code, told in (
        (">&-", 2, b"the answer cannot be written (standard output is closed); write elsewhere\n"),
        ("2>&-", 0, b""),
        (">&- 2>&-", 2, b""),
    ):
        line = ["/bin/sh", "-c", shell.format(closed), "sh", *command]
        done = subprocess.run(line, capture_output=True, check=False, cwd=ROOT)
        assert (done.returncode, done.stderr) == (code, told)


def test_reader_that_goes_away_ends_it_in_silence() -> None:
    with started(f"plan {STUDY} --json") as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.parametrize("coding", ["ascii", "cp1252", "utf-8"])
def test_answer_and_message_are_told_in_any_encoding(coding: str) -> None:
    given = {**os.environ, "PYTHONIOENCODING": coding}
    process = started(f"check {STUDY}", env=given, encoding=coding)
    told, faults = process.communicate()
    assert (process.returncode, faults) == (1, "")
    assert ("−600" if coding == "utf-8" else "-600") in told.replace("\u2013", "-")
    assert "\\u" not in told
    if coding == "ascii":
        process = started("check 'schön→'", env=given, encoding=coding)
        _, faults = process.communicate()
        assert process.returncode == 2
        assert "'sch\\xf6n->' is unknown" in faults


def test_help_is_plain_and_ends_with_0(ask: Asking) -> None:
    for name in ("", *(command.__name__.rpartition(".")[2] for command in COMMANDS)):
        said = ask(f"{name} --help")
        assert (said.code, said.err) == (0, "")
        assert said.out.isascii()
        assert said.out.startswith(f"usage: python -m replicalab {name}")


@pytest.mark.parametrize(
    ("held", "problem"),
    [
        ('{"texts": {"zebra": "x"}}', "'zebra' is no question for a text"),
        ('{"choices": {"same_pay": ["Same"]}}', "'Same' is no option; use 'Exact', 'Close' or"),
        (
            '{"choices": {"blinding": ["Subjects", "Nobody"]}}',
            "choices: blinding: 'Nobody' stands beside 'Subjects'; leave it or them out",
        ),
        ('{"titel": "x"}', "titel: unknown key; did you mean 'title'?"),
        ("[]", "the file holds no answers"),
        ("{", "the file breaks off"),
    ],
)
def test_answers_to_a_registration_are_refused_with_place_and_remedy(
    ask: Asking, held: str, problem: str
) -> None:
    Path("answers.json").write_text(held)  # in the test's own folder
    done = ask("report psy_stroop --registration brandt-prereg-2 --answers answers.json")
    assert done.code == 2
    assert problem in done.err
    assert "answers.json" in done.err
