"""A study as the text of its file: what `reading` reads back is the same study.

Only what is set is written, in the order of the fields. Comments are not kept: they are the
author's, and stand in the author's own file.
"""

from __future__ import annotations

from typing import Any, Final

import yaml

from replicalab.scenarios.reading import Data, is_read_as_text
from replicalab.scenarios.study import Study

_WIDTH: Final = 96  # Where a long text goes on in the next line, two columns for quotes left
_MOST_EXACT: Final = 1e15
_TEXT: Final = "tag:yaml.org,2002:str"
_NO_TEXT: Final = "tag:yaml.org,2002:null"


def study_yaml(study: Study) -> str:
    """Return a study as the text of a file."""
    return data_yaml(study_data(study))


def study_data(study: Study) -> dict[str, Data]:
    """Return what a study's file holds: all that must stand there, and what is set beside."""
    data: dict[str, Data] = study.model_dump(mode="json", exclude_defaults=True)
    return {key: _plain(value) for key, value in data.items()}


def data_yaml(data: dict[str, Data]) -> str:
    """Return what a file holds as its text, right or wrong: a blank line around each block."""
    text, was_block = "", False
    for key, value in data.items():
        is_block = isinstance(value, dict | list) and bool(value)
        text += "\n" * (bool(text) and (is_block or was_block))
        text += yaml.dump(
            {key: value}, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH
        )
        was_block = is_block
    return text


def _plain(value: Data) -> Data:
    """Return a value as a person writes it: a whole number without a point."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _MOST_EXACT
    return int(value) if whole and isinstance(value, float) else value


class _Dumper(yaml.SafeDumper):
    """Writes a text in quotes wherever it would be read as something else, by us or by others."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent the entries of a list below its key."""
        del indentless
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        """Write a value out wherever it stands: the reader refuses aliases."""
        return True

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        """Return as what a plain scalar is read."""
        tag = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        is_plain = kind is yaml.ScalarNode and implicit[0]
        return _NO_TEXT if is_plain and tag == _TEXT and not is_read_as_text(value) else tag


def _written_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text and text == text.strip() else None
    return dumper.represent_scalar(_TEXT, text, style=style)


_Dumper.add_representer(str, _written_text)
