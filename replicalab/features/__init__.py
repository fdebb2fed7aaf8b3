"""The optional features: a row and a folder for each, and how the rest of the program asks them.

A folder implements the hooks of its row. `facts(plan)` and `section(report)` are functions of its
`__init__.py`, `panel(place, subject)` of `<name>_page.py`, `command(app)` of `<name>_command.py`.
It is imported when it is first asked.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Literal, NamedTuple

from replicalab.errors import FeatureError

Hook = Literal["facts", "panel", "section", "command"]
MODULES: Final[Mapping[Hook, str]] = {"panel": ".{0}_page", "command": ".{0}_command"}
"""The module of a hook in the folder of a feature by its name, if it is not its ``__init__``."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Feature:
    """A feature: its folder, its title, and the subjects to which each of its hooks replies.

    Subjects are ``plan``; places of pages; kinds of documents and endings of files; commands,
    and the options or values that it reads. ``names`` are its functions in ``import replicalab``.
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


def ask(hook: Hook, *arguments: Any, about: str = "") -> Iterator[FeatureReply]:
    """Yield the reply of every feature that has a hook, for the subject if one is named."""
    for feature in FEATURES:
        subjects = getattr(feature, hook)
        if not subjects or about not in ("", *subjects):
            continue
        try:
            reply = FeatureReply(feature, feature.load(hook)(*arguments))
        except Exception:  # noqa: BLE001 - whatever fails in a feature stops nothing else
            _LOG.debug("%s of %s failed", hook, feature.name, exc_info=True)
            reply = FeatureReply(feature, note=f"{feature.title} is not available: it failed.")
        yield reply


def require(hook: Hook, *arguments: Any, about: str) -> Any:
    """Return a reply without which a caller cannot go on; raises FeatureError without a feature."""
    for feature in FEATURES:
        if about in getattr(feature, hook):
            try:
                function = feature.load(hook)
            except ImportError as error:
                raise FeatureError(f"{feature.title} is not available: {error}") from error
            return function(*arguments)
    raise FeatureError(f"no feature has {about}")
