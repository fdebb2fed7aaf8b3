"""The forms: which items each has, in its own order and under its own ids.

The ids of a registry's form are the registry's own, so that a file keyed by them can be filled in
there. Sources: the public schemas of the Open Science Framework, ``brandt-prereg-2`` (Brandt et
al., 2013) and ``osf-preregistration-3``; the study-design table of Registered Reports.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from replicalab.registration.questions import QUESTIONS, Question

_OSF_FORMS: Final = "https://osf.io/registries/osf/new"


class FormItem(NamedTuple):
    """An item of a form: its id there, what it asks, and whether the form insists on it."""

    id: str
    question: Question
    required: bool = False


class Section(NamedTuple):
    """A part of a form under its title."""

    title: str
    items: tuple[FormItem, ...]


class Profile(NamedTuple):
    """A form.

    Attributes:
        key: its name in files, where a registry has one the registry's.
        title: its name for people.
        link: where the form stands; empty where it is nobody's.
        sections: its items, in its order.
    """

    key: str
    title: str
    link: str
    sections: tuple[Section, ...]

    @property
    def items(self) -> Iterator[FormItem]:
        """All items, in their order."""
        for section in self.sections:
            yield from section.items


def _numbered(prefix: str, sections: Mapping[str, Sequence[str]], first: int = 1) -> list[Section]:
    """Return sections whose items are numbered through; one that ends in * is required."""
    number, found = first, []
    for title, keys in sections.items():
        items = []
        for key in keys:
            question = QUESTIONS[key.removesuffix("*")]
            items.append(FormItem(f"{prefix}{number}", question, key.endswith("*")))
            number += 1
        found.append(Section(title, tuple(items)))
    return found


def _named(sections: Mapping[str, Sequence[str]]) -> list[Section]:
    """Return sections whose items are called after their questions."""
    return [
        Section(title, tuple(FormItem(key, QUESTIONS[key]) for key in keys))
        for title, keys in sections.items()
    ]


_RECIPE: Final = {
    "The nature of the effect": (
        *("effect", "importance", "original_effect", "original_interval", "original_n"),
        *("original_setting", "original_country", "original_sample", "original_administration"),
    ),
    "Designing the replication": (
        *("original_materials", "assumptions", "experimenter_place", "experimenter_condition"),
        *("experimenter_hypotheses", "sample_size", "sample_rationale"),
    ),
    "Differences between original and replication": (
        *("same_instructions", "same_measures", "same_stimuli", "same_procedure", "same_location"),
        *("same_pay", "same_population", "differences", "difference_tests"),
    ),
    "Analysis and evaluation": ("exclusions", "analysis", "success"),
}
_OSF: Final = {
    "Study information": ("hypotheses*",),
    "Design plan": ("study_type*", "blinding*", "more_blinding", "design*", "randomisation"),
    "Sampling plan": (
        *("existing_data*", "existing_data_details", "collection*", "sample_size*"),
        *("sample_rationale", "stopping"),
    ),
    "Variables": ("manipulated", "outcomes*", "indices"),
    "Analysis plan": (
        *("analysis*", "transformations", "inference", "exclusions", "missing_data"),
        "exploratory",
    ),
    "Other": ("other",),
}
_STAGE_1: Final = {
    "Study design": (
        *("question", "hypotheses", "sample_rationale", "analysis", "sensitivity", "meanings"),
        "theory",
    ),
    "The study": (
        *("sample_size", "design", "randomisation", "blinding", "controls", "outcomes"),
        *("exclusions", "missing_data", "stopping", "existing_data", "ethics", "sharing", "dates"),
    ),
    "What the outcomes are": ("success", "inconclusive", "failed"),
}
SIDE_BY_SIDE: Final = "Original and replication"
"""The section that asks the same of both, and how alike they are."""
SIDES: Final = {
    "Population": (("original_sample",), "here_population", "same_population"),
    "Setting and location": (
        ("original_setting", "original_country"),
        "here_location",
        "same_location",
    ),
    "Stimuli and materials": (("original_stimuli",), "here_stimuli", "same_stimuli"),
    "Measures": (("original_measures",), "here_measures", "same_measures"),
    "Instructions": (("original_instructions",), "here_instructions", "same_instructions"),
    "Procedure": (("original_administration",), "here_procedure", "same_procedure"),
    "Pay and rewards": (("original_pay",), "here_pay", "same_pay"),
}
"""Of each part the questions for the original, for the replication, and how alike they are."""
_REPLICATION: Final = {
    "The original": (
        *("effect", "importance", "original_effect", "original_interval", "original_n"),
        *("original_materials", "contact"),
    ),
    SIDE_BY_SIDE: (
        *(key for of, here, alike in SIDES.values() for key in (*of, here, alike)),
        *("differences", "difference_tests", "assumptions"),
    ),
    "Hypotheses and variables": (
        *("question", "hypotheses", "manipulated", "outcomes", "indices"),
    ),
    "Design": (
        *("study_type", "design", "randomisation", "concealment"),
        *("blinding", "more_blinding", "controls"),
        *("experimenter_place", "experimenter_condition", "experimenter_hypotheses"),
    ),
    "Sample": (
        *("existing_data", "existing_data_details", "collection", "sample_size"),
        *("sample_rationale", "stopping"),
    ),
    "Analysis": (
        *("analysis", "transformations", "inference", "exclusions", "missing_data", "exploratory"),
        *("success", "inconclusive", "failed", "sensitivity", "meanings", "theory"),
    ),
    "Around it": ("ethics", "sharing", "dates", "deviations", "decision", "refused", "other"),
}
_FUNDER: Final = {
    "What is asked for": ("question", "importance", "sample_size", "sample_rationale"),
    "What it costs": ("budget", "staff_time", "resources", "dates"),
    "What less, and more, would mean": ("cuts", "shortfall", "sensitivity"),
}
_ROWS: Final = (
    Profile(
        "brandt-prereg-2",
        "Replication Recipe (Brandt et al., 2013)",
        _OSF_FORMS,
        tuple(_numbered("item", _RECIPE)),
    ),
    Profile(
        "osf-preregistration-3",
        "OSF Preregistration",
        _OSF_FORMS,
        tuple(_numbered("q", _OSF, 2)),
    ),
    Profile(
        "stage-1",
        "Registered Report, Stage 1",
        "https://rr.peercommunityin.org/help/guide_for_authors",
        tuple(_named(_STAGE_1)),
    ),
    Profile("replication", "All that a replication is asked", "", tuple(_named(_REPLICATION))),
    Profile("funder", "Resource justification for a funder", "", tuple(_named(_FUNDER))),
)
PROFILES: Final = {row.key: row for row in _ROWS}  # By key
