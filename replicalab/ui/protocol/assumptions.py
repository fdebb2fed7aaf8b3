"""What the evidence assumes: a plan's question, and the curves of power analysis."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import streamlit as st

from replicalab.assessment import Assessment, effects_of
from replicalab.designs import KINDS, PARAMETERS
from replicalab.errors import ScenarioError
from replicalab.facts import curves
from replicalab.facts.blocks import plain_table, sentences_panel
from replicalab.facts.design import TITLE as DESIGN
from replicalab.facts.design import design_tables
from replicalab.facts.original import TITLE as THE_ORIGINAL
from replicalab.facts.original import original_blocks
from replicalab.facts.plan import assumption_text, effect_text
from replicalab.facts.success import TITLE as SUCCESS
from replicalab.facts.success import success_blocks
from replicalab.lexicon import capitalised
from replicalab.planner.curves import Curves
from replicalab.render import figures
from replicalab.scenarios import Design, EvidenceAssumptions
from replicalab.scenarios.own import QUESTION_FIELDS
from replicalab.ui import panel, state
from replicalab.ui.controls import NumberField, button, complain
from replicalab.ui.protocol import units
from replicalab.ui.words import escaped

if TYPE_CHECKING:
    import plotly.graph_objects as go

PLACE: Final = "assumptions"
PARTS: Final = "assumptions_part"
_NUMBERS: Final = "Numbers"
_PER_GROUP: Final = "per_group"
_LONGEST_REASON: Final = 300
_IN_PERCENT: Final = 100
_EXACT: Final = 12  # So many decimals a percentage is taken back to a share with


class Assumption(NamedTuple):
    """A number of a question, as it is typed.

    Attributes:
        own: the study's own; None where the kind of design has none.
        value: the one that is in force.
        factor: what a value is multiplied by to be typed: 100 for a percentage.
        why: the study's reason for its own.
    """

    name: str
    label: str
    own: float | None
    value: float | None
    factor: int
    step: float
    why: str

    @property
    def key(self) -> str:
        """The key of its widget."""
        renewed = st.session_state.get(self._renewals, 0)
        return f"ask_{self.name}_{state.current().version}_{renewed}"

    @property
    def _renewals(self) -> str:
        return f"asked_again_{self.name}"

    def renew(self) -> None:
        """Let its widget start again with the value that is in force."""
        st.session_state[self._renewals] = st.session_state.get(self._renewals, 0) + 1

    @property
    def is_yours(self) -> bool:
        """Whether it is the visitor's, and not the study's."""
        return self.value != self.own

    def shown(self, value: float | None) -> float | None:
        """Return a value as it is typed; None where there is none."""
        return None if value is None else round(value * self.factor, _EXACT)

    def text(self, value: float | None) -> str:
        """Return a value in words."""
        shown = self.shown(value)
        return "none" if shown is None else f"{shown:zg}{' %' * (self.factor == _IN_PERCENT)}"

    def typed(self) -> float | None:
        """Return what its widget holds, None before it was drawn."""
        typed = st.session_state.get(self.key)
        return None if typed is None else round(typed / self.factor, _EXACT + 2)


def assumptions(written: Design, asked: Design) -> list[Assumption]:
    """Return the numbers that a study's evidence depends on and that may be asked anew.

    The first is the effect, where it is among them.
    """
    row = KINDS[written.kind]
    factor, measure = row.scale.factor, row.measure
    share, step = (", %", 1.0) if factor == _IN_PERCENT else ("", 0.05)
    effect = capitalised(row.effect.name) if row.effect else ""
    # A tenth of the effect, in a round number.
    effect_step = float(f"{abs(written.effect_planning or 1.0) / 10:.0e}")
    alpha = row.label("alpha") if row.uses("alpha") else ""
    rows = (
        ("effect", effect, 1, effect_step),
        ("alpha", alpha, 1, PARAMETERS["alpha"].step),
        ("target", f"Target: {measure}{share}", factor, step),
        ("floor", f"Floor: {measure}{share}", factor, step),
        ("dropout", "Dropout, %", _IN_PERCENT, 1.0),
        *((name, row.label(name), 1, PARAMETERS[name].step) for name in row.extras),
    )
    return [
        Assumption(
            name,
            label,
            own=getattr(written, QUESTION_FIELDS[name]),
            value=getattr(asked, QUESTION_FIELDS[name]),
            factor=times,
            step=by,
            why=written.why.get(QUESTION_FIELDS[name], ""),
        )
        for name, label, times, by in rows
        if label
    ]


def draw(yours: Assessment) -> None:
    """Draw the place; what is closed in it is neither worked out nor sent."""
    written, asked = state.written().design, yours.pack.design
    place = st.expander("Assumptions: effect, alpha, target, dropout", key=PLACE, on_change="rerun")
    if not place.open:
        return
    with place:
        lines = Curves(yours, written)
        parts: dict[str, Chart | More] = {**CHARTS, **MORE}
        names = [_NUMBERS, *(name for name, each in parts.items() if each.fits(lines))]
        part = st.radio(
            "Numbers or a curve",
            names,
            horizontal=True,
            label_visibility="collapsed",
            key=PARTS,
            persist_state="session",
        )
        if part in parts:
            parts[part].draw(lines)
        else:
            _draw_numbers(assumptions(written, asked), written, asked)


def groups_typed(design: Design) -> int:
    """Return of how many groups the sample size is typed for one; 1 where it is typed in all."""
    per_group = st.session_state.get(_PER_GROUP) and not design.uneven
    return KINDS[design.kind].groups_of(design) if per_group else 1


# --- the numbers ----------------------------------------------------------------------------


def _draw_numbers(numbers: list[Assumption], written: Design, asked: Design) -> None:
    if numbers[0].name == "effect":
        _draw_effects(numbers[0], written)
    fields = [_field(number, numbers, written) for number in numbers]
    with st.container(horizontal=True, vertical_alignment="bottom", key="asked_numbers"):
        for number, field in zip(numbers, fields, strict=True):
            hint = f"The study’s: {number.text(number.own)}. {number.why}".strip()
            field.draw(format="%g", help=escaped(hint))
    if KINDS[written.kind].groups_of(written) > 1 and not asked.uneven:
        label = "Type the sample size per group"
        st.toggle(label, key=_PER_GROUP, persist_state="session")
    complain(*(field.problem for field in fields))
    yours = [number for number in numbers if number.is_yours]
    for number in yours:
        _draw_reason(number, written)
    if len(yours) > 1:
        button("All as the study has it", "restart_alt", partial(_back, yours, written))


def _field(number: Assumption, numbers: list[Assumption], written: Design) -> NumberField:
    def why_not(_: float | None) -> str:
        if number.typed() in (None, number.value):
            return ""
        try:
            _asked(number, numbers, written)
        except ScenarioError as error:
            fault, kept = error.faults[0], number.text(number.value)
            return f"{number.label}: {fault.problem}; {fault.remedy}. It stays {kept}."
        return ""

    return NumberField(
        f"{number.label} (yours)" if number.is_yours else number.label,
        number.key,
        number.shown(number.value),
        take=lambda _: state.ask(_asked(number, numbers, written)),
        why_not=why_not,
        step=number.step,
    )


def _asked(touched: Assumption, numbers: list[Assumption], written: Design) -> EvidenceAssumptions:
    """Return the question with all that the fields hold, or with what was touched alone.

    A target that lies beyond its floor is refused, stays in its field, and is asked together with
    the floor once that makes room for it.

    Raises:
        ScenarioError: the study cannot be asked what was touched.
    """
    typed = {number.name: value for number in numbers if (value := number.typed()) is not None}
    with suppress(ScenarioError):
        return _asking({**typed}, written)
    return _asking({touched.name: touched.typed()}, written)


def _draw_effects(number: Assumption, written: Design) -> None:
    """Draw the effects that are one click away, where there are any."""
    choices = effects_of(written)
    if not choices or number.value is None:
        return
    sizes = [choice.effect for choice in choices]
    names = [f"{choice.label} ({effect_text(choice.effect)})" for choice in choices]
    key = f"asked_effect_{state.current().version}_{number.value!r}"

    def take() -> None:
        state.ask(_asking({number.name: sizes[st.session_state[key]]}, written))
        number.renew()

    st.radio(
        "Effect to plan with",
        range(len(names)),
        index=sizes.index(number.value) if number.value in sizes else None,
        format_func=names.__getitem__,
        horizontal=True,
        key=key,
        on_change=take,
    )


def _draw_reason(number: Assumption, written: Design) -> None:
    key, question = f"why_{number.key}", state.case().question
    reason = next((text for name, text in question.why.items() if name == number.name), "")

    def take() -> None:
        state.ask(question.because(number.name, st.session_state[key].strip()))

    with st.container(horizontal=True, vertical_alignment="bottom", key=f"row_{number.key}"):
        st.text_input(
            f"Your reason for {number.name} {number.text(number.value)}",
            reason,
            max_chars=_LONGEST_REASON,
            placeholder="If you like",
            key=key,
            on_change=take,
        )
        back = partial(_back, [number], written)
        button(
            f"Back to the study’s {number.text(number.own)}", "undo", back, key=f"back_{number.key}"
        )


def _asking(typed: dict[str, float | None], written: Design) -> EvidenceAssumptions:
    """Return the question with these numbers.

    Raises:
        ScenarioError: the study cannot be asked that.
    """
    question = state.case().question
    for number, value in typed.items():
        question = question.asking(number, value, written)
    question.over(written)
    return question


def _back(some: list[Assumption], written: Design) -> None:
    """Take numbers back: the study's own are asked again."""
    state.ask(_asking({number.name: None for number in some}, written))
    for number in some:
        number.renew()


# --- the curves -----------------------------------------------------------------------------


class Chart(NamedTuple):
    """A curve to look at: its title, the name of what draws its figure, and its numbers."""

    title: Callable[[Curves], str]
    drawn_by: str
    rows: Callable[[Curves], list[tuple[str, ...]]]
    names: tuple[str, ...]
    over_effect: bool = True

    def fits(self, lines: Curves) -> bool:
        """Return whether there is such a curve: without an effect only the one over n."""
        return bool(lines.effects) or not self.over_effect

    def figure(self, lines: Curves, titles: tuple[str, str]) -> go.Figure:
        """Return the curve as a figure."""
        return getattr(figures, self.drawn_by)(lines, titles)

    def draw(self, lines: Curves) -> None:
        """Draw the curve, and its table."""
        title, assumed = self.title(lines), curves.assumed_text(lines)
        st.plotly_chart(
            self.figure(lines, (title, assumed)),
            key="power_chart",
            config=figures.CONFIG,
            alt=f"{title}; {assumed}. The same stands in the table below.",
        )
        assumption = f"{assumption_text(lines.plan)} {curves.level_text(lines)}".strip()
        outside = curves.outside_text(lines) if self.over_effect else ""
        panel.draw(sentences_panel([assumption, curves.bound_text(lines), outside], quiet=True))
        panel.draw_tables(lambda: [plain_table(title, self.names, self.rows(lines))])


_BY_EFFECT: Final = ("Effect", "Evidence of your samples", "Samples for the target", "Which")
CHARTS: Final = {
    "Evidence over n": Chart(
        curves.samples_title, "evidence_by_samples", curves.samples_rows,
        ("Samples planned", "Analysed", "Evidence", "Which"), over_effect=False,
    ),
    "Evidence over effect": Chart(
        curves.effect_title, "evidence_by_effect", curves.effect_rows, _BY_EFFECT,
    ),
    "n over effect": Chart(
        curves.needed_title, "samples_by_effect", curves.effect_rows, _BY_EFFECT,
    ),
}  # fmt: skip
"""The curves, by what they are called."""


class More(NamedTuple):
    """A further part: whether there is one for a study, and how it is drawn."""

    fits: Callable[[Curves], bool]
    draw: Callable[[Curves], None]


def _has_original(lines: Curves) -> bool:
    """Return whether the original of the study is known in numbers."""
    return bool(lines.written and lines.written.original)


def _draw_original(lines: Curves) -> None:
    """Draw the original's numbers, and one row for each effect to plan with."""
    panel.draw(*original_blocks(lines))


MORE: Final = {
    THE_ORIGINAL: More(_has_original, _draw_original),
    units.TITLE: More(units.fits, units.draw),
    SUCCESS: More(
        lambda lines: bool(success_blocks(lines.plan)),
        lambda lines: panel.draw(*success_blocks(lines.plan)),
    ),
    DESIGN: More(lambda _: True, lambda found: panel.draw(*design_tables(found.plan))),
}
"""The other parts, by what they are called."""
