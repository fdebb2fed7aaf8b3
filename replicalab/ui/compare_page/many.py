"""Many negotiations at once: the request, its progress, and how often each outcome came."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Final, NamedTuple, TypeVar, get_args

import streamlit as st

from replicalab import characters, limits, negotiation, planner, scenarios, server
from replicalab.facts import lab_facts, record_facts, score_facts
from replicalab.facts.negotiation_facts import LAB_MANAGERS, SCIENTISTS
from replicalab.lexicon import count_text
from replicalab.library import EntryKind, KeptBatch, batch_text
from replicalab.negotiation.batch import Rule, Summary, is_same, jobs_of, summaries
from replicalab.negotiation.case import Case
from replicalab.render import figures
from replicalab.ui import batches, controls, file_transfer, notices, own_studies, screen, state
from replicalab.ui.library_page.keeping import keep_new

_RULES: Final[tuple[Rule, ...]] = get_args(Rule)
_NOTICE: Final = "batch"
_REFRESH_SECONDS: Final = 1.0
_ROWS_SHOWN: Final = 1000
_T = TypeVar("_T")


class BatchRequest(NamedTuple):
    """Negotiations to play: every combination of these."""

    studies: dict[str, str]  # by id, each with its file if it is a visitor's own
    labs: Sequence[scenarios.Difficulty]
    seeds: range
    scientists: Sequence[Rule]
    managers: Sequence[negotiation.LabManagerKind]
    own: bool  # whether in the visitor's lab, and with the visitor's question

    @property
    def counts(self) -> dict[str, int]:
        lists = (self.studies, self.labs, self.seeds, self.scientists, self.managers)
        names = ("study", "lab", "seed", "Scientist", "Lab Manager")
        return {name: len(values) for name, values in zip(names, lists, strict=True)}

    def jobs(self) -> list[Case]:
        """Return every combination; raise ValueError if there are too many."""
        case, unasked = state.case(), scenarios.EvidenceAssumptions()
        studies = [
            Case(
                study=study,
                text=text,
                lab=case.lab,
                own_lab=case.own_lab if self.own else scenarios.LabOverrides(),
                question=case.question if self.own and study == case.study else unasked,
            )
            for study, text in self.studies.items()
        ]
        return jobs_of(
            studies,
            self.labs,
            self.seeds,
            scientists=self.scientists,
            lab_managers=self.managers,
            max_rounds=case.max_rounds,
        )


def draw(here: planner.PlanAnalysis) -> None:
    """Draw the fields or the running batch, and the results of the last one."""
    batch, texts = batches.BATCHES.of(server.visitor()), dict[str, str]()
    names = {scenario.scenario_id: scenario.paper.name for scenario in scenarios.list_scenarios()}
    for own in own_studies.readable_studies(state.case().own):
        names[own.study.scenario_id] = own.study.paper.name
        texts[own.study.scenario_id] = own.text
    if batch is None or batch.is_over:
        _draw_fields(here, names, texts)
    if notice := batches.BATCHES.notice_for(server.visitor()):
        st.info(controls.escape(notice), icon=":material/history:")
    if batch is not None:
        (_draw_results if batch.is_over else _draw_progress)(batch, names)


def _draw_fields(here: planner.PlanAnalysis, names: dict[str, str], texts: dict[str, str]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch_what"):
        chosen = st.multiselect(
            "Studies",
            list(names),
            default=[here.yours.pack.scenario_id],
            format_func=lambda name: characters.on_one_line(names[name]),
            key="batch_studies",
            persist_state="session",
            width=420,
        )
        labs = _several("Labs", list(scenarios.Difficulty), list(scenarios.Difficulty))
        first = _seed("First seed", 0)
        last = _seed("Last seed", 9)
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch_who"):
        scientists = _several("Scientist", _RULES, _RULES[:1], lambda kind: SCIENTISTS[kind].name)
        managers = _several(
            "Lab Manager",
            list(negotiation.RULED_LAB_MANAGERS),
            [negotiation.LabManagerKind.REFERENCE],
            lambda kind: LAB_MANAGERS[kind].name,
        )
        pack = here.yours.pack
        own = bool(pack.own_lab.changes or pack.own_lab.name or pack.asked) and st.toggle(
            f"Your lab: {controls.escape(lab_facts.lab_text(pack))}",
            key="batch_own",
            persist_state="session",
            help="With your changes to the lab and to the open study’s assumptions.",
        )
    studies = {study: texts.get(study, "") for study in chosen}
    request = BatchRequest(studies, labs, range(first, last + 1), scientists, managers, own)
    with st.container(horizontal=True, vertical_alignment="center", key="batch_run"):
        controls.button("Run", "play_arrow", partial(_begin, request), type="primary")
        factors = " × ".join(count_text(number, noun) for noun, number in request.counts.items())
        number = count_text(prod(request.counts.values()), "negotiation")
        st.markdown(controls.escape(f"{factors} = {number}"), width="content")
    notices.draw(_NOTICE)


def _several(
    label: str, offered: Sequence[_T], chosen: Sequence[_T], name: Callable[[_T], str] = str
) -> list[_T]:
    return st.pills(
        label,
        offered,
        selection_mode="multi",
        default=chosen,
        format_func=name,
        key=f"batch_{label}",
        persist_state="session",
    )


def _seed(label: str, value: int) -> int:
    key, last = f"batch_{label}", limits.LARGEST_SEED
    return st.number_input(label, 0, last, value, 1, key=key, persist_state="session", width=130)


def _begin(request: BatchRequest) -> None:
    try:
        jobs = request.jobs()
    except ValueError as error:
        refused = f"{error}; here at most {limits.MOST_PAGE_JOBS:,}. Choose fewer."
    else:
        refused = batches.BATCHES.begin(server.visitor(), jobs)
    notices.leave_problem(refused, _NOTICE, "block")


@st.fragment(run_every=_REFRESH_SECONDS)
def _draw_progress(batch: batches.VisitorBatch, names: dict[str, str]) -> None:
    batches.BATCHES.of(server.visitor())  # the server keeps a batch that its visitor looks at
    results, number = list(batch.results), batch.number  # a copy: its thread goes on adding
    if batch.is_over:
        st.rerun()
    st.progress(len(results) / number, f"{len(results):,} of {count_text(number, 'negotiation')}")
    controls.button("Stop", "stop", batch.stop, disabled=batch.is_stopping, key="batch_stop")
    if results:
        _draw_shares(batch, names)


def _draw_results(batch: batches.VisitorBatch, names: dict[str, str]) -> None:
    if batch.problem:
        st.error(f"The batch broke off: {controls.escape(batch.problem)}", icon=":material/error:")
    _draw_source(batch, names)
    if batch.results:
        _draw_agreement_heatmap(batch, names)
        _draw_shares(batch, names)
        results = list(batch.results)
        with st.container(horizontal=True, key="batch_files"):
            sheet = partial(record_facts.results_csv, results)
            file_transfer.download("Results as CSV", sheet, "batch.csv")
            workbook = partial(record_facts.batch_workbook, results, summaries(results))
            file_transfer.download("Results as Excel", workbook, "batch.xlsx")
        with controls.fold("Every result", "batch_results") as is_open:
            if is_open:
                if len(results) > _ROWS_SHOWN:
                    st.caption(f"The first {_ROWS_SHOWN:,} are shown; the files contain all.")
                frame = record_facts.results_frame(results[:_ROWS_SHOWN])
                st.dataframe(frame, hide_index=True, alt="Every result")


def _draw_source(batch: batches.VisitorBatch, names: dict[str, str]) -> None:
    results, number = batch.results, batch.number

    def save() -> None:
        name = characters.on_one_line(score_facts.kept_text(summaries(results), names))
        keep_new(EntryKind.BATCH, name, batch_text(KeptBatch.of(results, number)))

    stopped = score_facts.stopped_text(len(results), number) if len(results) < number else ""
    if batch.kept_as:
        again = controls.escape(score_facts.again_text(batch.again, len(results)))
        differs = not all(is_same(*pair) for pair in batch.again)
        name = f":material/bookmarks: **{controls.escape(batch.kept_as)}**, from the library."
        st.markdown(" ".join([name, stopped, *([] if differs else [again])]))
        if differs:
            st.warning(again, icon=":material/difference:")
    elif stopped:
        st.caption(stopped)
    with st.container(horizontal=True, key="batch_which"):
        if results and not batch.kept_as:
            controls.button("Save to the library", "bookmark_add", save)
        if batch.before is not None:
            back = partial(batches.BATCHES.back, server.visitor())
            controls.button("The batch before", "history", back, type="tertiary")


def _draw_shares(batch: batches.VisitorBatch, names: dict[str, str]) -> None:
    results = list(batch.results)
    shares = score_facts.shares_panel(summaries(results), names, results)
    screen.draw(shares, score_facts.regret_panel(results))


def _draw_agreement_heatmap(batch: batches.VisitorBatch, names: Mapping[str, str]) -> None:
    parts = summaries(batch.results)
    title = score_facts.agreed_text(parts)
    groups = map(characters.on_one_line, score_facts.group_names(parts, names))
    cells = {(row, str(part.lab)): part for row, part in zip(groups, parts, strict=True)}
    rows, labs = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    grid = [[cells.get((row, lab)) for lab in labs] for row in rows]
    shares = [[_agreed(part) for part in line] for line in grid]
    outcomes = [[score_facts.outcomes_text(part) if part else "" for part in line] for line in grid]
    chart = figures.outcomes_figure(rows, labs, shares, outcomes, title)
    alt = f"{title}, by study, players and lab. The table below has the same numbers."
    screen.draw_chart(chart, "batch_chart", alt)


def _agreed(summary: Summary | None) -> float | None:
    if summary is None or not summary.shares:
        return None
    agreed = summary.shares.get(negotiation.Outcome.AGREED)
    return agreed.value if agreed else 0.0
