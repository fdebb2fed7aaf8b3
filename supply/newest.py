"""The app with the newest Streamlit that the index offers: `make newest`.

Says which of Streamlit's inner names it lacks, and walks every page with it, in an environment of
its own. Nothing that is pinned changes; a finding is news, no failure of what is pinned.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PLACE: Final = ROOT / ".venv-newest"

# What makes the inner names be looked for, each with a line in the log where it is not there.
_LOOK: Final = """
from replicalab.server import internals
internals.require_messages()
internals.index_page()
internals.read_sent(b"")
internals.read_asked(b"")
internals.signed_in_claims({})
internals.load_for_first_run()
if not internals.can_drop_files():
    print("files that are handed over cannot be let go of, so none are taken")
"""
_WALK: Final = (
    *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not bench and not long and not wheel"),
    *("tests/server", "tests/browser/test_every_page.py", "tests/browser/test_wall.py"),
)


def pinned(requirements: str) -> str:
    """Return the version of Streamlit that a list of requirements pins."""
    found = re.search(r"^streamlit==(\S+)", requirements, re.MULTILINE)
    if not found:
        raise ValueError("requirements.in pins no Streamlit")
    return found[1]


def newest(answer: str) -> str:
    """Return the newest version that `pip index versions` names; empty where it names none."""
    found = re.match(r"streamlit \((\S+)\)", answer)
    return found[1] if found else ""


def missing(log: str) -> list[str]:
    """Return the inner names that a log says are lacking, in its order."""
    return re.findall(r"^.*has no (\S+\.\S+)$", log, re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Walk the app with the newest version, or the named one; return 1 where that fails."""
    ours = pinned((ROOT / "requirements.in").read_text(encoding="utf-8"))
    asked = [sys.executable, "-m", "pip", "index", "versions", "streamlit"]
    version = arguments[0] if arguments else newest(_run(*asked).stdout)
    if not version:
        sys.stdout.write("The index was not reached: nothing is known of a newer Streamlit.\n")
        return 0
    if version == ours:
        sys.stdout.write(f"Streamlit {ours}, which is pinned, is the newest that there is.\n")
        return 0
    python = str(PLACE / "bin" / "python")
    install = [python, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for step in (
        [sys.executable, "-m", "venv", "--clear", str(PLACE)],
        [*install, "--require-hashes", "-r", "requirements-dev.txt"],
        [*install, f"streamlit=={version}"],
    ):
        done = _run(*step)
        if done.returncode:
            sys.stdout.write(f"Streamlit {version} cannot be installed: {done.stderr.strip()}\n")
            return 1
    looked = _run(python, "-c", _LOOK)
    lacks = missing(looked.stderr)
    lines = [f"Streamlit {version} in place of {ours}."]
    lines += [f"It lacks {name}: see server/internals.py for what goes with it." for name in lacks]
    if looked.returncode:
        lines.append(looked.stderr.strip().splitlines()[-1])
    else:
        lines += looked.stdout.splitlines() or ([] if lacks else ["Every inner name is there."])
    sys.stdout.write("\n".join(lines) + "\n")
    walked = subprocess.run([python, *_WALK], cwd=ROOT, check=False)  # noqa: S603 - our own command
    return int(bool(looked.returncode or walked.returncode))


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - ours


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
