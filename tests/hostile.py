"""Hostile text for every text field of every format, with marks and harmless twins."""

import copy
import re
from collections.abc import Callable, Iterator
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, Protocol, get_args, get_origin

from pydantic import BaseModel

from replicalab.errors import ReplicaLabError
from replicalab.scenarios.reading import FieldPath

HOST: Final = "x.test"
ATTACK: Final = (
    f"![i](//{HOST}/a.png)[l](http://{HOST})<img src=//{HOST}/b>http://{HOST} www.{HOST} a@{HOST} "
    ":green-badge[b]:material/home:$x^2$:smile:`c`**e**\n# h\n- l\n|a|b|\n|-|-|\n"
    f"[r]: http://{HOST}\n[^1] \u05d0"
)
"""What Markdown, Streamlit and a browser make something of, and a letter from right to left."""
WITHOUT_SPACES: Final = (
    f"10.1234/![i](//{HOST}/a.png)<img/src=//{HOST}>:green-badge[b]$x^2$`c`www.{HOST}"
)
SHORT: Final = "<b>[l](//x.test)`c`"
UNSEEN: Final = "\u202e\u2066\x00\x1b"
LONG_WORD: Final = "W" * 600
PIECES: Final = (
    *("![i", "[l](", "<img", "badge[b", "material/home", "$x^2", ":smile:", "`c`", "**e**"),
    *("\n# h", "- l\n|", "|a|", "[r]:", "[^1", f"//{HOST}", f"www.{HOST}", f"a@{HOST}"),
)
"""Remainders of the attack if something was not escaped."""
_MARK: Final = re.compile(r"Zq(\d+)z")
_TO_THE_PUBLISHER: Final = re.compile(r"\]\(https://doi\.org/[\w%/.-]*\)")
_ESCAPED: Final = re.compile(r"\\[!-/:-@\[-`{-~]")

Place = tuple[str, ...]
"""The place of a text in a format: ``*`` is a place in a list, or a key."""


def marked(number: int, text: str = ATTACK) -> str:
    return f"{text}Zq{number}z" if text.startswith("10.") else f"Zq{number}z{text}"


def marks(text: str) -> set[int]:
    return {int(number) for number in _MARK.findall(text)}


def harmless(text: str) -> str:
    seen = re.sub(rf"[!-/:-@\[-`{{-~{UNSEEN}]", "\xb7", text.replace("\n", " "))
    return seen.replace("\u05d0", "a")


def tame(number: int, text: str = ATTACK) -> str:
    return harmless(marked(number, text))


class Write(Protocol):
    def __call__(self, number: int, text: str = ATTACK) -> str:
        """Return the text."""


def tamed(data: Any) -> Any:
    if isinstance(data, dict):
        return {tamed(key): tamed(value) for key, value in data.items()}
    if isinstance(data, list):
        return [tamed(value) for value in data]
    if not isinstance(data, str) or not marks(data):
        return data
    doi = data.startswith("10.1234/")
    return f"10.1234/{harmless(data[8:])}" if doi else harmless(data)


def read_as_markup(markdown: str) -> list[str]:
    text = _ESCAPED.sub("", _TO_THE_PUBLISHER.sub("", markdown))
    return [piece for piece in PIECES if piece in text]


def text_places(annotation: object, here: Place = ()) -> Iterator[Place]:
    origin = get_origin(annotation)
    if annotation is str:
        yield here
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            yield from text_places(field.annotation, (*here, name))
    elif origin is not Literal and annotation is not NoneType:
        inside = (*here, "*") if origin in (list, tuple, dict) else here
        for part in get_args(annotation):
            yield from text_places(part, inside)


class Leaf(NamedTuple):
    """A text of a file: its path here, its place in the format, and whether it is a key."""

    path: FieldPath
    place: Place
    text: str
    is_key: bool = False


def leaves(data: Any, path: FieldPath = (), place: Place = ()) -> Iterator[Leaf]:
    if isinstance(data, str):
        yield Leaf(path, place, data)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from leaves(value, (*path, number), (*place, "*"))
    elif isinstance(data, dict):
        free = place[-1:] in (("booked",), ("prices",), ("why",), ("numbers",))
        for key, value in data.items():
            inside = (*place, "*" if free else key)
            if free:
                yield Leaf((*path, key), inside, key, is_key=True)
            yield from leaves(value, (*path, key), inside)


def with_text(data: Any, old: str, new: str) -> Any:
    if isinstance(data, dict):
        return {
            (new if _same(key, old) else key): with_text(value, old, new)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [with_text(value, old, new) for value in data]
    return new if isinstance(data, str) and _same(data, old) else data


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def with_texts(data: Any, texts: dict[Place, str]) -> Any:
    changed = copy.deepcopy(data)
    for leaf in leaves(data):
        if leaf.place in texts and leaf.text and not leaf.is_key:
            part = changed
            for step in leaf.path[:-1]:
                part = part[step]
            part[leaf.path[-1]] = texts[leaf.place]
    return changed


def refusal(read: Callable[[], object]) -> str:
    try:
        read()
    except ReplicaLabError as error:
        return str(error) or "refused without a word"
    return ""
