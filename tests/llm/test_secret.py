"""A key is masked in whichever usual way a server repeats it, and nothing else is."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from replicalab.llm.endpoint import masked
from tests.llm.serving import CANARY

WAYS: Final[dict[str, Callable[[str], str]]] = {
    "itself": str,
    "upper": str.upper,
    "dashed": "-".join,
    "spaced": " ".join,
    "in lines": "\n".join,
    "in lines of JSON": lambda key: json.dumps("\n".join(key))[1:-1],
    "percent": lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    "every other percent": lambda key: "".join(
        char if at % 2 else f"%{ord(char):02x}" for at, char in enumerate(key)
    ),
    "address": lambda key: quote(key, safe=""),
    "JSON": lambda key: "".join(f"\\u{ord(char):04x}" for char in key),
    "half JSON": lambda key: f"\\u{ord(key[0]):04X}{key[1:]}",
    "HTML": lambda key: "".join(f"&#x{ord(char):x};" for char in key),
    "HTML, decimal": lambda key: "".join(f"&#{ord(char)};" for char in key),
    "HTML, padded": lambda key: "".join(f"&#x{ord(char):06X};" for char in key),
    "HTML, of Python": html.escape,
    "HTML, of templates": lambda key: html.escape(key).replace("+", "&#43;").replace("/", "&sol;"),
    "quoted": lambda key: f"{key[:7]}\n> {key[7:]}",
    "Python": lambda key: "".join(f"\\x{ord(char):02x}" for char in key),
}
KEYS: Final = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16, max_size=80)
AROUND: Final = st.text(max_size=30) | st.sampled_from(["%", "\\", "\\u00", "&#x", "[key]", "=="])


def bare(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(filter(str.isalnum, text.lower()))


@given(KEYS, st.sampled_from(list(WAYS)), AROUND, AROUND)
def test_key_survives_in_no_usual_way(key: str, way: str, before: str, after: str) -> None:
    assume(len(bare(key)) >= 8)
    assume("%" not in key or way not in ("dashed", "spaced"))
    written = WAYS[way](key)
    found = masked(f"{before}\n{written}\n{after}", key)
    assert "[key]" in found
    assert bare(written) not in bare(found)


@given(st.text(max_size=200), KEYS)
def test_text_without_the_key_is_left_alone(text: str, key: str) -> None:
    assume(bare(key) not in bare(text))
    assert masked(text, key) == text


@pytest.mark.parametrize("way", WAYS)
def test_text_around_the_key_stays(way: str) -> None:
    before, after = "It said: 100% of «it» is \\u00e9 & [", "] (50%), so: no."
    found = masked(before + WAYS[way](CANARY) + after, CANARY)
    assert found == f"{before}[key]{after}"


@pytest.mark.parametrize(
    ("key", "echo", "told"),
    [
        ("shortkey12345", "s-h-o-r-t-k-e-y-1-2-3-4-5", "[key]"),
        ("sk-abc_def-0123456789", "SKabcdef0123456789", "[key]"),
        ("shortkey12345", "shortkey12345shortkey12345", "[key][key]"),
        ("shortkey12345", "shortshortkey12345key12345", "short[key]key12345"),
        ("shortkey12345", "%73%68ortkey%31shortkey12345", "%73%68ortkey%31[key]"),
        ("ab12cd34", "%ab12cd34", "%[key]"),
        ("<000000000000%00", "\\u003c000000000000%00", "[key]"),
        ("%00" * 6, "\0" * 6, "\0" * 6),
        ("1234-----_____..", "1234-----_____..", "[key]"),
        ("1234-----_____..", "1234", "1234"),
        ("AbCd+efGh/ijKl9mn==", "AbCd&plus;efGh&#47ijKl9mn==", "[key]=="),
        ("p'ssword9<xyz12345", "p&#39;ssword9&LT;xyz12345", "[key]"),
        ("AbCd&lt;efGhijKl9mn", "AbCd&lt;efGhijKl9mn &lt; &nokey;", "[key] &lt; &nokey;"),
        # Placeholders of local servers are plain words.
        *((word, word, word) for word in ("ollama", "lm-studio", "not-needed", "no1")),
    ],
)
def test_key_is_told_from_what_only_looks_like_it(key: str, echo: str, told: str) -> None:
    assert masked(f"a {echo} b", key) == f"a {told} b"
