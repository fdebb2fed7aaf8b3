"""An audit finds, clears, or says that it did neither; a crash is taken for none of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Final

import pytest

from supply.audit import CLEAN, FAILED, FOUND, LOCKS, ROOT, Accepted, Verdict, accepted_in, audit
from tests.llm.serving import JSON, Exchange, Reply, sending, serve

TODAY: Final = date(2026, 11, 22)
NOWHERE: Final = "http://127.0.0.1:1/v1/query"
KNOWING: Final = sending(200, JSON, b'{"vulns": [{"id": "PYSEC-2020-96"}]}')
ADVISORY: Final = {"id": "CVE-2026-1", "aliases": ["GHSA-x"], "fix_versions": ["3.1.7"]}
SOUND: Final = {"name": "h11", "version": "0.16.0", "vulns": []}
FAULTY: Final = {"name": "jinja2", "version": "3.1.6", "vulns": [ADVISORY]}
LEFT_OUT: Final = {"name": "jinja2", "skip_reason": "not found"}
PIP_AUDIT: Final = ROOT / ".venv-tools" / "bin" / "pip-audit"


def report(*versions: Mapping[str, object]) -> str:
    return json.dumps({"dependencies": versions, "fixes": []})


def tool(folder: Path, says: str = "", status: int = 0, waits: float = 0) -> list[str]:
    """Return a command in the place of pip-audit, which notes in a folder what it was asked."""
    script = (
        "import json, pathlib, sys, time\n"
        f"pathlib.Path({str(folder / 'asked')!r}).write_text(json.dumps(sys.argv[1:]))\n"
        f"time.sleep({waits}); print({says!r}); print('Traceback', file=sys.stderr)\n"
        f"sys.exit({status})"
    )
    return [sys.executable, "-c", script]


def audited(command: list[str], *accepted: Accepted, longest: float = 60) -> Verdict:
    """Return the verdict where the database is there."""
    with serve(KNOWING) as server:
        return audit(command, today=TODAY, database=server.url, accepted=accepted, longest=longest)


def test_audit_clears_or_names_version_advisory_and_remedy(tmp_path: Path) -> None:
    cleared = audited(tool(tmp_path, report(SOUND, SOUND)))
    assert cleared == (CLEAN, "No known vulnerability in 2 pinned versions.")
    found = audited(tool(tmp_path, report(SOUND, FAULTY), status=1))
    assert found == (FOUND, "jinja2 3.1.6: CVE-2026-1, GHSA-x; fixed in 3.1.7")


@pytest.mark.parametrize("said", ["", "{}", report(), report(SOUND, LEFT_OUT), "<html>"])
@pytest.mark.parametrize("status", [0, 1])
def test_audit_fails_without_a_word_on_every_version(
    tmp_path: Path, said: str, status: int
) -> None:
    verdict = audited(tool(tmp_path, said, status))
    assert verdict == (FAILED, "pip-audit broke off:\nTraceback")


def hang_up(_: Exchange) -> None:
    raise ConnectionResetError


@pytest.mark.parametrize(
    "answer",
    [
        sending(200, JSON, b"{}"),
        sending(200, JSON, b'{"vulns": []}'),
        sending(200, JSON, b"[]"),
        sending(200, "text/html", b"<p>Sign in to this network"),
        sending(403, "text/html", b"<p>Blocked"),
        sending(404, JSON, b'{"vulns": [1]}'),
        hang_up,
    ],
    ids=["empty", "knows-nothing", "other-json", "portal", "blocked", "not-found", "hang-up"],
)
def test_audit_says_that_the_database_was_not_reached(tmp_path: Path, answer: Reply) -> None:
    with serve(answer) as server:
        status, text = audit(tool(tmp_path, report(SOUND)), today=TODAY, database=server.url)
    assert status == CLEAN
    assert text.startswith(f"NOT AUDITED: {server.url} was not reached (")
    assert not (tmp_path / "asked").exists()


def test_audit_that_takes_too_long_is_not_reached(tmp_path: Path) -> None:
    status, text = audited(tool(tmp_path, report(SOUND), waits=60), longest=0.5)
    assert status == CLEAN
    assert text.startswith("NOT AUDITED: ")


def test_audit_asks_about_every_lock(tmp_path: Path) -> None:
    audited(tool(tmp_path, report(SOUND)))
    asked = json.loads((tmp_path / "asked").read_text())
    assert {lock for lock in LOCKS if lock in asked} == set(LOCKS)
    names = {
        lock.name: set(re.findall(r"^[\w.-]+(?===)", lock.read_text(), re.MULTILINE))
        for lock in ROOT.glob("requirements*.txt")
    }
    assert set().union(*names.values()) == set().union(*(names[lock] for lock in LOCKS))


@pytest.mark.parametrize(("until", "counts"), [(date(2026, 11, 23), False), (TODAY, True)])
def test_accepted_advisory_counts_again_from_its_day(
    tmp_path: Path, until: date, counts: bool
) -> None:
    _, text = audited(tool(tmp_path, report(SOUND)), Accepted("CVE-2026-1", "no archives", until))
    asked = json.loads((tmp_path / "asked").read_text())
    assert ("CVE-2026-1" not in asked) is counts
    assert ("CVE-2026-1 passed over" not in text) is counts


def test_accepted_advisories_have_a_reason_and_a_day(tmp_path: Path) -> None:
    accepted_in(ROOT / "supply" / "accepted.toml")
    entry = tmp_path / "accepted.toml"
    entry.write_text(
        '[[accepted]]\nid = "CVE-2026-1"\nreason = "no archives"\nuntil = 2027-01-01\n'
    )
    assert accepted_in(entry) == [Accepted("CVE-2026-1", "no archives", date(2027, 1, 1))]
    entry.write_text('[[accepted]]\nid = "CVE-2026-1"\nuntil = 2027-01-01\n')
    with pytest.raises(TypeError, match="reason"):
        accepted_in(entry)


def test_audit_command_passes_where_the_database_is_not_reached() -> None:
    command = [sys.executable, "-m", "supply.audit", NOWHERE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (CLEAN, "")
    assert done.stdout.startswith(f"NOT AUDITED: {NOWHERE}")


@pytest.mark.skipif(not PIP_AUDIT.exists(), reason="`make audit` installs pip-audit")
def test_pip_audit_finds_what_the_database_names() -> None:
    def answer(exchange: Exchange) -> None:
        package = exchange.received.body["package"]
        assert isinstance(package, dict)
        fixed = [{"introduced": "0"}, {"fixed": "999"}]
        affected = {"package": package, "ranges": [{"type": "ECOSYSTEM", "events": fixed}]}
        found = {"id": "CVE-2026-1", "aliases": [], "affected": [affected]}
        known = {"vulns": [found]} if package["name"] in {"pyyaml", "uv"} else {}
        sending(200, JSON, json.dumps(known).encode())(exchange)

    with serve(answer) as server:
        status, text = audit([str(PIP_AUDIT)], today=TODAY, database=server.url)
    assert status == FOUND
    assert [line.split()[0] for line in text.splitlines()] == ["pyyaml", "uv"]
