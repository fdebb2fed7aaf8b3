"""Wordings pinned once: golden files, rewritten by one command and read in the diff."""

import fcntl
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).with_name("golden")
REWRITE: Final = "REPLICALAB_REWRITE_GOLDEN"
"""Set by ``make golden``: golden files are rewritten instead of compared."""

_ONE_OF_MANY: Final = re.compile(
    r"(?<![\d.,])1 (?:(?:more|fewer) )?"
    r"(?:items|days|samples|(?:staff )?units|controls|rounds|credits|errors|findings|faults)\b"
)
"""A plural after the number one, in any golden file."""
_NO_NUMBERS: Final = str.maketrans("", "", "0123456789,.+−±")
_SECTION: Final = re.compile(r"^##### (\S+) #####\n", re.MULTILINE)


def assert_golden(name: str, text: str) -> None:
    _assert_plurals(name, text)
    path, _, section = name.partition("#")
    file = FOLDER / f"{path}.txt"
    if os.environ.get(REWRITE):
        _rewrite(file, section, f"{text}\n")
    assert file.exists(), f"{file.name} is missing; make golden writes it"
    assert _read(file).get(section) == f"{text}\n", f"{name} has changed; if it should, make golden"


def new_lines(texts: Mapping[str, str]) -> str:
    """Keep of each text, under its name, the lines that say more than earlier ones do.

    Two lines that differ only in their numbers say the same.
    """
    seen, result = {""}, list[str]()
    for name, text in texts.items():
        _assert_plurals(name, text)
        new = []
        for line in text.splitlines():
            if (wording := line.translate(_NO_NUMBERS)) not in seen:
                new.append(line)
            seen.add(wording)
        result += [f"=== {name}", *new] if new else []
    return "\n".join(result)


def _assert_plurals(name: str, text: str) -> None:
    assert not (wrong := _ONE_OF_MANY.findall(text)), f"{name}: {', '.join(wrong)}"


def _read(file: Path) -> dict[str, str]:
    first, *rest = _SECTION.split(file.read_text(encoding="utf-8"))
    return dict(zip(rest[::2], rest[1::2], strict=True)) if rest else {"": first}


def _rewrite(file: Path, section: str, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with Path(__file__).open(encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests in other processes rewrite other sections
        sections = _read(file) if section and file.exists() else {}
        sections[section] = text
        heads = {name: f"##### {name} #####\n" if name else "" for name in sections}
        parts = (heads[name] + sections[name] for name in sorted(sections))
        file.write_text("".join(parts), encoding="utf-8")
