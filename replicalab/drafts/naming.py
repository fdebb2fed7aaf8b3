"""The name of a study: one that no other has, and a study's file under another name."""

import json
from collections.abc import Iterable
from itertools import count

from replicalab.drafts.draft import Draft
from replicalab.errors import ScenarioError
from replicalab.lexicon import label_key
from replicalab.scenarios import LONGEST_SHORT_TITLE, Study, parse_study
from replicalab.scenarios.fields import LONGEST_TITLE
from replicalab.scenarios.reading import with_text_at


def free_name(name: str, taken: Iterable[str], longest: int = LONGEST_TITLE) -> str:
    """Return a name that is not taken: it, or with a number after it: ``My study (2)``."""
    keys = {label_key(each) for each in taken}
    ends = ("" if number == 1 else f" ({number})" for number in count(1))
    tried = (f"{name[: longest - len(end)].rstrip()}{end}" for end in ends)
    return next(each for each in tried if label_key(each) not in keys)


def longest_name(study: Study) -> int:
    """Return how many characters a study's name may have: its short title's, where it has one."""
    return LONGEST_TITLE if study.paper.short_title is None else LONGEST_SHORT_TITLE


def renamed(text: str, study: Study, name: str) -> str:
    """Return the file of a study under another name; all else of it stays, its notes too.

    Raises:
        ScenarioError: it cannot be called that.
    """
    field = "title" if study.paper.short_title is None else "short_title"
    wanted = {**study.model_dump(mode="json")["paper"], field: name}
    written = with_text_at(text, json.dumps(name, ensure_ascii=False), "paper", field)
    try:
        found = parse_study(written, "your study")
    except ScenarioError:
        found = None
    if found is not None and found.model_dump(mode="json")["paper"] == wanted:
        return written
    # Written in a way that cannot be changed in its place: the whole file is written anew.
    anew = Draft.of(study).put(name, "paper", field).text()
    parse_study(anew, "your study")
    return anew
