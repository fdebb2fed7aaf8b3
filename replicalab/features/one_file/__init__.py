"""The argument as one HTML file: slides to step through, and sliders of the lab.

Every state of the sliders is computed when the file is written. The file needs no server, network
or library; without scripts it shows all slides, one below the other.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import product
from pathlib import Path
from string import Template
from typing import Any, Final, NamedTuple

from markupsafe import escape

from replicalab import __version__
from replicalab.assessment import Assessment
from replicalab.errors import PrintError
from replicalab.facts.blocks import Panel, Status
from replicalab.facts.change_facts import adapted_text
from replicalab.facts.document_facts import command_line, day_text, origin_lines
from replicalab.facts.lab_facts import lab_text
from replicalab.facts.plan_facts import listed, with_cautions
from replicalab.facts.verdicts import agreed_status, plan_verdict
from replicalab.lexicon import amount_text
from replicalab.negotiation.case import Case, record_text
from replicalab.planner import PlanAnalysis
from replicalab.render.html import STAGE_STYLE, html
from replicalab.scenarios import AMOUNTS, ItemStatus, Lab

TITLE: Final = "One file"
_FOLDER: Final = Path(__file__).parent
_BUDGETS: Final = 13
_DAYS: Final = 12
_STAFF: Final = 6
_SPREAD: Final = (0.4, 1.6)  # of the lab's budget
_VERBS: Final = {ItemStatus.BOOKED: "free", ItemStatus.OUT_OF_STOCK: "supply"}
_SIGNS: Final = {Status.PASS: "✓", Status.CAUTION: "!", Status.FAIL: "✕"}


class SliderValues(NamedTuple):
    """The values of each slider, in order; the lab's own and the plan's needs are among them."""

    budget: tuple[float, ...]
    days: tuple[int, ...]
    staff: tuple[int, ...]


class LabState(NamedTuple):
    """The verdict on the plan and the least-loss plan in one lab, each with its sign."""

    plan: tuple[str, str]
    least: tuple[str, str]


def slider_values(plan: Assessment) -> SliderValues:
    """Return the values of the sliders around a lab and a plan."""
    lab = plan.pack.lab
    low, high = (lab.budget * share for share in _SPREAD)
    first, last = lab.start_day, lab.start_day - 1 + plan.counts.days
    most = max(lab.staff, plan.staff) + 1
    budgets = map(float, _spaced(low, max(high, plan.cost), _BUDGETS))
    days = _spaced(first, max(lab.days, last) + 2, _DAYS)
    return SliderValues(
        tuple(sorted({*budgets, lab.budget, plan.cost})),
        tuple(sorted({*days, lab.days, last})),
        tuple(sorted({*_spaced(1, most, _STAFF), lab.staff, plan.staff})),
    )


def _spaced(low: float, high: float, number: int) -> Iterable[int]:
    return (round(low + (high - low) * step / (number - 1)) or 1 for step in range(number))


def state_of(plan: Assessment, budget: float, days: int, staff: int) -> LabState:
    """Return the state of a plan in its lab with other means."""
    pack = plan.pack
    here = plan.in_lab(pack.in_lab(pack.lab.with_means(budget=budget, days=days, staff=staff)))
    verdict, least = plan_verdict(here), PlanAnalysis(here).least.after
    size, cost = adapted_text(least, here), pack.lab.money(least.cost)
    text = f"{size} for {cost}: {least.evidence.placed_text}."
    text, status = with_cautions(text, least), agreed_status(least)
    if not least.feasible:
        text, status = "No plan passes every dimension.", Status.FAIL
    return LabState((_SIGNS[verdict.status], verdict.text), (_SIGNS[status], text))


def file_html(
    plan: Assessment,
    slides: Sequence[Panel],
    on: date,
    case: Case,
    sliders: SliderValues | None = None,
) -> str:
    """Return the file; ``case`` is the plan to save in it, with the file of an own study."""
    sliders = sliders or slider_values(plan)
    texts: dict[tuple[str, str], int] = {}
    places = [
        [texts.setdefault(pair, len(texts)) for pair in state_of(plan, *means)]
        for means in product(*sliders)
    ]
    pack, lab = plan.pack, plan.pack.lab
    data = {"sliders": sliders._asdict(), "texts": [*texts], "states": places}
    now = state_of(plan, lab.budget, lab.days, lab.staff)
    script = (_FOLDER / "steps.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    deck = len(slides) + 1
    command = command_line("check", pack.scenario_id, pack, case.plan)
    origin = f"ReplicaLab {__version__}, {day_text(on)}."
    return Template((_FOLDER / "page.html").read_text("utf-8")).substitute(
        title=escape(f"{pack.paper.name} · {lab_text(pack)}"),
        style=f"{STAGE_STYLE}<style>{(_FOLDER / 'page.css').read_text('utf-8')}</style>",
        digest=digest,
        slides="".join(
            f'<section class="page" aria-label="Slide {number} of {deck}">{html(slide)}</section>'
            for number, slide in enumerate(slides, 1)
        ),
        sliders="".join(_slider(name, values, lab) for name, values in sliders._asdict().items()),
        unmoved=escape(_unmoved_text(plan)),
        size=escape(plan.size_text),
        **{name: escape(" ".join(pair)) for name, pair in now._asdict().items()},
        foot="".join(f"<p>{escape(line)}</p>" for line in (origin, *origin_lines(plan)[1:])),
        inputs=escape(record_text(case)),
        command="" if case.text else f"<p>Or run <code>{escape(command)}</code></p>",
        data=json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        script=script,
    )


def _slider(name: str, values: Sequence[float], lab: Lab) -> str:
    label, now = escape(AMOUNTS[name].label_in(lab.currency)), getattr(lab, name)
    return (
        f'<label for="{name}">{label} <output id="{name}_shown">{amount_text(now)}</output>'
        f'<input type="range" id="{name}" max="{len(values) - 1}" value="{values.index(now)}">'
        "</label>"
    )


def _unmoved_text(plan: Assessment) -> str:
    missing = (
        listed(
            f"The sliders cannot {verb} ",
            [item.label for item in plan.items if item.status is status],
        )
        for status, verb in _VERBS.items()
    )
    return " ".join(f"{text}." for text in missing if text)


def pdf(page: str) -> bytes:
    """Return the slides of a file as PDF; raises PrintError without the extra ``pdf``."""
    try:
        import weasyprint  # noqa: PLC0415 - slow, and an extra
    except (ImportError, OSError) as error:
        raise PrintError("PDF needs the extra pdf and Pango; install both") from error
    data: Any = weasyprint.HTML(string=page).write_pdf()
    return bytes(data)
