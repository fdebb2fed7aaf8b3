"""The optional features: a row and a folder for each, and how the rest of the program asks them.

A folder implements the hooks of its row. `facts(plan)` and `section(report)` are functions of its
`__init__.py`, `panel(place, subject)` of `<name>_page.py`, `command(app)` of `<name>_command.py`.
It is imported when it is first asked.

What `panel` does at a place depends on the subject of the place:

    place        page          subject                 panel
    protocol     Protocol      PlanAnalysis            draws
    folds        Protocol      Assessment              draws
    assumptions  Protocol      Assessment              returns functions by title, which draw
    negotiation  Negotiation   None                    returns the model's `ModelSeat` as "seat"
    survey       Scenarios     `ListedStudy` by name   draws
    lab          Your lab      PlanAnalysis            draws
    share        Share         None                    returns functions by title, which draw
    report       Share         PlanAnalysis            draws
    files        Share         DocumentFiles           draws
    slides       Present       Assessment              returns slides by title
    more         menu More     None                    returns an icon and a function by title
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Literal, NamedTuple

from replicalab.errors import FeatureError

Hook = Literal["facts", "panel", "section", "command"]
MODULES: Final[Mapping[Hook, str]] = {"panel": ".{0}_page", "command": ".{0}_command"}
"""Module of a hook if not ``__init__``; ``{0}`` is the feature's name."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Feature:
    """For each hook, the keys by which it is asked.

    Keys are ``plan``; a place on a page; a kind of document or a file extension; a command, option
    or value. ``name`` is its folder, ``names`` are its functions in ``import replicalab``.
    """

    name: str
    title: str
    facts: tuple[str, ...] = ()
    panel: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def load(self, hook: Hook) -> Any:
        """Import the function of a hook."""
        module = f"{__name__}.{self.name}{MODULES.get(hook, '')}"
        return getattr(import_module(module.format(self.name)), hook)


class FeatureReply(NamedTuple):
    """The answer of a feature; a note in place of the value if it failed."""

    feature: Feature
    value: Any = None
    note: str = ""


FEATURES: Final = (
    Feature("success", "Probability of success", facts=("plan",), panel=("assumptions",)),
    Feature(
        "critique",
        "Reviewer’s questions",
        panel=("report",),
        section=("report",),
        command=("critique",),
    ),
    Feature(
        "break_even",
        "How wrong may we be",
        panel=("folds", "slides"),
        section=("report", "brief"),
        command=("break-even",),
        names=("break_evens", "robust_plan"),
    ),
    Feature("challenge", "Challenge", panel=("more", "protocol")),
    Feature(
        "registration",
        "Registration forms",
        panel=("share",),
        section=("brandt-prereg-2", "osf-preregistration-3", "stage-1", "replication", "funder"),
    ),
    Feature("show_code", "Code", panel=("share",)),
    Feature("one_file", "One file", panel=("share",)),
    Feature(
        "portfolio",
        "One budget for several studies",
        panel=("survey",),
        command=("portfolio",),
        names=("portfolio",),
    ),
    Feature("office", "Word and PDF", panel=("files",), section=("pdf", "docx")),
    Feature("language_model", "Language model", panel=("negotiation",), command=("model",)),
    Feature("sheets", "List of items", panel=("lab",), command=("--lab",)),
)
"""All features, in the order in which they are shown."""


def ask(hook: Hook, *arguments: Any, key: str = "") -> Iterator[FeatureReply]:
    """Yield the reply of every feature that has a hook, for the key if one is given."""
    for feature in FEATURES:
        keys = getattr(feature, hook)
        if not keys or key not in ("", *keys):
            continue
        try:
            reply = FeatureReply(feature, feature.load(hook)(*arguments))
        except Exception:  # noqa: BLE001 - whatever fails in a feature stops nothing else
            _LOG.debug("%s of %s failed", hook, feature.name, exc_info=True)
            reply = FeatureReply(feature, note=f"{feature.title} is not available: it failed.")
        yield reply


def require(hook: Hook, *arguments: Any, key: str) -> Any:
    """Return a reply without which a caller cannot go on; raises FeatureError without a feature."""
    for feature in FEATURES:
        if key in getattr(feature, hook):
            try:
                function = feature.load(hook)
            except ImportError as error:
                raise FeatureError(f"{feature.title} is not available: {error}") from error
            return function(*arguments)
    raise FeatureError(f"no feature handles '{key}'; see FEATURES")
