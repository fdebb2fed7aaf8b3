"""The optional features: a row and a folder for each, and how the rest of the program asks them.

A folder implements the hooks of its row. `facts(plan)` and `section(report)` are functions of its
`__init__.py`, `panel(place, subject)` of `<name>_page.py`, `command(app)` of `<name>_command.py`.
It is imported when it is first asked.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, Literal, NamedTuple

from replicalab.errors import FeatureError

Hook = Literal["facts", "panel", "section", "command"]
MODULES: Final[Mapping[Hook, str]] = {"panel": ".{0}_page", "command": ".{0}_command"}
"""The module of a hook in the folder of a feature by its name, if it is not its ``__init__``."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Feature:
    """A feature: its folder, and its hooks.

    Attributes:
        judges: whether it has facts about a plan.
        panels: places of pages that it draws.
        sections: documents that it adds a part to.
        documents: its own documents, with their titles.
        forms: names of its forms of a document, by the ending of a file.
    """

    name: str
    title: str
    judges: bool = False
    panels: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    documents: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    forms: Mapping[str, str] = field(default_factory=dict)

    def answers(self, hook: Hook, subject: Any) -> bool:
        """Return whether it has something for a hook of a plan, place, report or program."""
        match hook:
            case "panel":
                return subject in self.panels
            case "section":
                return subject.kind in self.sections or subject.kind in self.documents
            case "command":
                return bool(self.commands)
            case _:
                return self.judges


class FeatureReply(NamedTuple):
    """The answer of a feature; a note in place of the value if it failed."""

    feature: Feature
    value: Any = None
    note: str = ""


FEATURES: Final[tuple[Feature, ...]] = (
    Feature("success", "Probability of success", judges=True, panels=("assumptions",)),
    Feature(
        "critique",
        "Reviewer’s questions",
        panels=("report",),
        sections=("report",),
        commands=("critique",),
    ),
    Feature(
        "break_even",
        "How wrong may we be",
        panels=("folds", "slides"),
        sections=("report", "brief"),
        commands=("break-even",),
    ),
    Feature("challenge", "Challenge", panels=("more", "protocol")),
    Feature(
        "registration",
        "Registration forms",
        panels=("share",),
        documents={
            "brandt-prereg-2": "Replication Recipe (Brandt et al., 2013)",
            "osf-preregistration-3": "OSF Preregistration",
            "stage-1": "Registered Report, Stage 1",
            "replication": "Every question about a replication",
            "funder": "Resource justification for a funder",
        },
    ),
    Feature("show_code", "Code", panels=("share",)),
    Feature("one_file", "One file", panels=("share",)),
    Feature(
        "portfolio", "One budget for several studies", panels=("survey",), commands=("portfolio",)
    ),
    Feature("office", "Word and PDF", panels=("files",), forms={"pdf": "PDF", "docx": "Word"}),
    Feature("language_model", "Language model", panels=("negotiation",)),
    Feature("sheets", "List of items", panels=("lab",), commands=("--lab",)),
)
"""All features, in the order in which they are shown."""


def load(name: str) -> Any:
    """Import a feature, or raise FeatureError, for a caller that cannot go on without it."""
    try:
        return import_module(f"{__name__}.{name}")
    except ImportError as error:
        raise FeatureError(f"the feature {name} is not available: {error}") from error


def ask(hook: Hook, *arguments: Any) -> Iterator[FeatureReply]:
    """Yield the reply of every feature that has something for a hook called with these."""
    for feature in FEATURES:
        if not feature.answers(hook, arguments[0]):
            continue
        try:
            module_name = MODULES.get(hook, "").format(feature.name)
            module = import_module(f"{__name__}.{feature.name}{module_name}")
            reply = FeatureReply(feature, getattr(module, hook)(*arguments))
        except Exception:  # noqa: BLE001 - whatever fails in a feature stops nothing else
            _LOG.debug("%s of %s failed", hook, feature.name, exc_info=True)
            reply = FeatureReply(feature, note=f"{feature.title} is not available: it failed.")
        yield reply
