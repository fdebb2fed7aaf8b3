"""What is asked of the newest Streamlit: which one it is, and what it lacks."""

from __future__ import annotations

import logging

import pytest
from streamlit import file_util

from replicalab.server import internals
from supply.newest import ROOT, missing, newest, pinned


def test_pinned_version_is_read_from_the_list() -> None:
    assert pinned((ROOT / "requirements.in").read_text()).count(".") == 2
    with pytest.raises(ValueError, match="pins no Streamlit"):
        pinned("# streamlit==1.0\npydantic==2.0\n")


def test_newest_version_is_the_first_that_pip_names() -> None:
    assert newest("streamlit (1.68.0)\nAvailable versions: 1.68.0, 1.67.0\n") == "1.68.0"
    assert newest("ERROR: No matching distribution found for streamlit") == ""


def test_name_that_a_release_lacks_is_read_from_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delattr(file_util, "get_static_dir")
    internals._inside.cache_clear()  # noqa: SLF001 - as a new process has looked for nothing
    with caplog.at_level(logging.WARNING):
        internals.index_page()
    monkeypatch.undo()
    internals._inside.cache_clear()  # noqa: SLF001
    assert missing("\n".join(caplog.messages)) == ["streamlit.file_util.get_static_dir"]
    assert missing("Streamlit is served") == []
