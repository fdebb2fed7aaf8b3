"""What registration forms ask: a row for each question, whichever forms ask it.

A question that two forms ask is one question, answered once.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

SAMENESS: Final = ("Exact", "Close", "Different")
"""How a part of a replication stands to the original's."""
_YES_NO: Final = ("Yes", "No")
_STUDY_TYPES: Final = ("Experiment", "Observational study", "Meta-analysis", "Other")
_NOBODY: Final = "Nobody"
_BLINDING: Final = (_NOBODY, "Subjects", "Personnel", "Analysts")
_EXISTING_DATA: Final = (
    "Before creation",
    "Before observation",
    "Before access",
    "Before analysis",
    "After analysis",
)


class Question(NamedTuple):
    """A question of a form.

    Attributes:
        key: its name in files.
        label: what is asked, in words.
        options: the answers to choose from; a text is asked for where there are none.
        several: whether more than one of them may be chosen.
        alone: of several, the one that says that none of the others holds; empty for none.
    """

    key: str
    label: str
    options: tuple[str, ...] = ()
    several: bool = False
    alone: str = ""

    def excluded(self, chosen: Sequence[str]) -> list[str]:
        """Return which chosen options cannot stand beside the one that stands alone."""
        if not self.alone or self.alone not in chosen:
            return []
        return [each for each in chosen if each != self.alone]

    def settled(self, before: Sequence[str], chosen: Sequence[str]) -> tuple[str, ...]:
        """Return a choice without what the option that was chosen last excludes."""
        if not self.excluded(chosen):
            return tuple(chosen)
        if self.alone in before:
            return tuple(self.excluded(chosen))
        return (self.alone,)


_ROWS: Final = (
    # the original
    Question("effect", "The effect that is to be replicated"),
    Question("importance", "Why it is important to replicate it"),
    Question("original_effect", "The original effect’s size"),
    Question("original_interval", "The original effect’s confidence interval"),
    Question("original_n", "The original’s sample size"),
    Question("original_setting", "Where the original was run: lab, field or online"),
    Question("original_country", "In which country or region the original was run"),
    Question("original_sample", "Which kind of sample the original had"),
    Question("original_stimuli", "The original’s stimuli and materials"),
    Question("original_measures", "The original’s measures"),
    Question("original_instructions", "The original’s instructions"),
    Question("original_administration", "How the original was administered"),
    Question("original_pay", "The original’s pay and rewards"),
    Question("original_materials", "Original materials are available from the authors", _YES_NO),
    Question("assumptions", "Why what the original rests on holds here too"),
    Question("contact", "Contact with the original’s authors, and what came of it"),
    # who runs it
    Question("experimenter_place", "Where the experimenter is during the study"),
    Question("experimenter_condition", "What the experimenter knows of the condition"),
    Question("experimenter_hypotheses", "What the experimenter knows of the hypotheses"),
    # original and replication side by side
    Question("here_population", "The population here"),
    Question("here_location", "The setting and location here"),
    Question("here_stimuli", "The stimuli and materials here"),
    Question("here_measures", "The measures here"),
    Question("here_instructions", "The instructions here"),
    Question("here_procedure", "The procedure here"),
    Question("here_pay", "The pay and rewards here"),
    Question("same_instructions", "How alike are the instructions", SAMENESS),
    Question("same_measures", "How alike are the measures", SAMENESS),
    Question("same_stimuli", "How alike are stimuli and materials", SAMENESS),
    Question("same_procedure", "How alike is the procedure", SAMENESS),
    Question("same_location", "How alike is the location", SAMENESS),
    Question("same_pay", "How alike are pay and rewards", SAMENESS),
    Question("same_population", "How alike is the population", SAMENESS),
    Question("differences", "Which differences may change the effect"),
    Question("difference_tests", "What tests whether they do"),
    # the design
    Question("question", "The research question"),
    Question("hypotheses", "Hypotheses, each with its direction"),
    Question("study_type", "Type of study", _STUDY_TYPES),
    Question("blinding", "Who is blinded", _BLINDING, several=True, alone=_NOBODY),
    Question("more_blinding", "Further blinding"),
    Question("design", "The design"),
    Question("randomisation", "How units are randomised and allocated"),
    Question("concealment", "How the allocation is concealed"),
    Question("controls", "Controls, positive ones too, and what each rules out"),
    # the sample
    Question("existing_data", "What exists of the data at registration", _EXISTING_DATA),
    Question("existing_data_details", "If data exist: how they were kept from the analysis"),
    Question("collection", "How data are collected: who takes part, from when to when"),
    Question("sample_size", "The sample size"),
    Question("sample_rationale", "Why that many"),
    Question("stopping", "When data collection stops"),
    # variables and analysis
    Question("manipulated", "Manipulated variables"),
    Question("outcomes", "Measured variables: primary and secondary outcomes"),
    Question("indices", "Indices made of several measures"),
    Question("analysis", "Analysis: model, covariates, sidedness, multiplicity"),
    Question("transformations", "Transformations"),
    Question("inference", "What the inference rests on: test, level, sides"),
    Question("exclusions", "What is excluded, outliers included"),
    Question("missing_data", "What is done about missing data"),
    Question("exploratory", "Exploratory analyses"),
    Question("success", "What counts as replicated"),
    Question("inconclusive", "What counts as inconclusive"),
    Question("failed", "What counts as failed"),
    Question("sensitivity", "Why the test is sensitive enough"),
    Question("meanings", "What each outcome will mean"),
    Question("theory", "Which theory could be shown wrong"),
    # around it
    Question("ethics", "Ethics approval"),
    Question("sharing", "What is shared: data, materials, code"),
    Question("dates", "When it begins and ends"),
    Question("deviations", "Contingencies, and how deviations are reported"),
    Question("decision", "The decision about this plan, and its reason"),
    Question("refused", "The plans that were refused, and why"),
    Question("other", "Anything else"),
    # money
    Question("budget", "What it costs"),
    Question("staff_time", "Who works on it, for how long"),
    Question("resources", "Instruments and materials"),
    Question("cuts", "What each cut would save and lose in evidence"),
    Question("shortfall", "What it would take to do it properly"),
)
QUESTIONS: Final = {row.key: row for row in _ROWS}  # By key
