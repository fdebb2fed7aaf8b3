"""Known vulnerabilities of the pinned versions: `make audit`.

pip-audit asks the OSV database. Where that cannot be reached, nothing is found and nothing is
cleared, and the last line says so. An answer alone proves no database: one that finds nothing in a
version that is known to be broken counts as not reached.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Final, NamedTuple, TypedDict
from urllib.request import Request, urlopen

ROOT: Final = Path(__file__).resolve().parents[1]

LOCKS: Final = ("requirements-dev.txt", "requirements-tools.txt")
"""All that is ever installed: the first holds what requirements.txt holds too."""

DATABASE: Final = "https://api.osv.dev/v1/query"

BROKEN: Final = {"package": {"name": "pyyaml", "ecosystem": "PyPI"}, "version": "5.3"}
"""CVE-2020-1747: loading a file runs what it says."""

PATIENCE: Final = 15
"""Seconds to wait for one answer."""

LONGEST: Final = 300
"""Seconds to wait for all of them."""

CLEAN, FOUND, FAILED = 0, 1, 2
"""Exit statuses. A database that is not reached says nothing against what is pinned."""


class Verdict(NamedTuple):
    """An exit status and the lines that go with it."""

    status: int
    text: str


class _Advisory(TypedDict):
    id: str
    aliases: list[str]
    fix_versions: list[str]


class _Version(TypedDict):
    """A line of pip-audit's report; one that was not asked about has no `vulns`."""

    name: str
    version: str
    vulns: list[_Advisory]


class Accepted(NamedTuple):
    """An advisory that does not concern us, until the day on which it is looked at again."""

    id: str
    reason: str
    until: date


def accepted_in(path: Path) -> list[Accepted]:
    """Return the advisories that a file accepts; raises TypeError for an entry that is not one."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("accepted", [])
    return [Accepted(**entry) for entry in entries]


def audit(
    tool: Sequence[str],
    *,
    today: date,
    database: str = DATABASE,
    accepted: Sequence[Accepted] = (),
    longest: float = LONGEST,
) -> Verdict:
    """Return what the database knows of the pinned versions, asked through the command `tool`."""
    if why := _why_not_reached(database):
        return _not_reached(database, why)
    passed_over = [entry.id for entry in accepted if today < entry.until]
    try:
        asked = subprocess.run(  # noqa: S603 - our own command, no shell
            [*tool, *_arguments(database, passed_over)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=longest,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _not_reached(database, f"its answers took longer than {longest:g} seconds")
    return _verdict(asked, passed_over)


def _why_not_reached(database: str) -> str:
    """Return why a database cannot be relied on; empty where it knows what is broken."""
    headers = {"Content-Type": "application/json"}
    try:
        request = Request(database, json.dumps(BROKEN).encode(), headers)  # noqa: S310 - ours or typed
        with urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - as above
            answered = json.loads(answer.read())
    except (OSError, HTTPException, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(answered, dict) and answered.get("vulns"):
        return ""
    return "it knows nothing against PyYAML 5.3, which is known to be broken"


def _not_reached(database: str, why: str) -> Verdict:
    return Verdict(
        CLEAN,
        f"NOT AUDITED: {database} was not reached ({why}).\n"
        "Nothing was found, and nothing was cleared. Run `make audit` where it can be reached.",
    )


def _arguments(database: str, passed_over: Sequence[str]) -> list[str]:
    locks = [word for lock in LOCKS for word in ("--requirement", lock)]
    ignored = [word for name in passed_over for word in ("--ignore-vuln", name)]
    service = ["--vulnerability-service", "osv", "--osv-url", database, "--timeout", str(PATIENCE)]
    return [*locks, "--disable-pip", *service, *ignored, "--progress-spinner=off", "--format=json"]


def _verdict(asked: subprocess.CompletedProcess[str], passed_over: Sequence[str]) -> Verdict:
    """Return what pip-audit reports; its exit status is the same for a finding and a crash."""
    try:
        versions = json.loads(asked.stdout)["dependencies"]
        findings = [line for version in versions for line in _findings(version)]
    except (ValueError, KeyError):
        versions = []
    if not versions:
        return Verdict(FAILED, f"pip-audit broke off:\n{asked.stderr.strip()}")
    if findings:
        return Verdict(FOUND, "\n".join(findings))
    passed = f" {', '.join(passed_over)} passed over (supply/accepted.toml)." if passed_over else ""
    return Verdict(CLEAN, f"No known vulnerability in {len(versions)} pinned versions.{passed}")


def _findings(version: _Version) -> Iterator[str]:
    """Yield a line for each advisory of a version; KeyError for one that was not asked about."""
    for found in version["vulns"]:
        fixes = ", ".join(found["fix_versions"])
        names = ", ".join([found["id"], *found["aliases"]])
        remedy = f"fixed in {fixes}" if fixes else "no fix yet"
        yield f"{version['name']} {version['version']}: {names}; {remedy}"


def main(arguments: Sequence[str]) -> int:
    """Audit what is pinned, with the pip-audit beside this interpreter; return the exit status."""
    status, text = audit(
        [str(Path(sys.executable).with_name("pip-audit"))],
        today=datetime.now(UTC).date(),
        database=arguments[0] if arguments else DATABASE,
        accepted=accepted_in(ROOT / "supply" / "accepted.toml"),
    )
    sys.stdout.write(text + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
