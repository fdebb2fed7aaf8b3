"""Many negotiations at once: what is asked for, how far it is, and how often each outcome came."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar, get_args

import streamlit as st

from replicalab import server
from replicalab.batch import Rule, Summary, is_same, jobs_of, summaries
from replicalab.case import Case
from replicalab.characters import on_one_line
from replicalab.facts.batch import (
    again_text,
    agreed_text,
    counted_text,
    faults_text,
    group_names,
    kept_text,
    outcomes_text,
    regret_panel,
    shares_panel,
    stopped_text,
)
from replicalab.facts.lab import lab_text
from replicalab.facts.negotiation import LAB_MANAGERS, SCIENTISTS
from replicalab.facts.records import batch_workbook, results_csv, results_frame
from replicalab.lexicon import count_text
from replicalab.library import EntryKind, KeptBatch, batch_text
from replicalab.limits import MOST_PAGE_JOBS
from replicalab.negotiation import RULED_LAB_MANAGERS, LabManagerKind, Outcome
from replicalab.planner import PlanAnalysis
from replicalab.render import figures
from replicalab.scenarios import Difficulty, EvidenceAssumptions, LabOverrides, list_scenarios
from replicalab.ui import notices, own_studies, panel, state
from replicalab.ui.batches import BATCHES, VisitorBatch
from replicalab.ui.controls import button
from replicalab.ui.files import download
from replicalab.ui.library.keeping import keep_new
from replicalab.ui.own_studies import OwnStudy
from replicalab.ui.words import escaped
from replicalab.ui.workspace import LARGEST_SEED

_RULES: Final[tuple[Rule, ...]] = get_args(Rule)
_NOTICE: Final = "batch"
_EACH_SECOND: Final = 1.0
_ROWS_SHOWN: Final = 1000
_T = TypeVar("_T")


class BatchRequest(NamedTuple):
    """What the fields ask for.

    Attributes:
        studies: by id, each with its file where it is a visitor's own.
        labs, seeds, scientists, managers: of which every combination is played.
        own: whether in the lab, and with the question, of one's own.
    """

    studies: dict[str, str]
    labs: Sequence[Difficulty]
    seeds: range
    scientists: Sequence[Rule]
    managers: Sequence[LabManagerKind]
    own: bool

    @property
    def counted(self) -> dict[str, int]:
        """How many of each there are."""
        many = (self.studies, self.labs, self.seeds, self.scientists, self.managers)
        names = ("study", "lab", "seed", "Scientist", "Lab Manager")
        return {name: len(values) for name, values in zip(names, many, strict=True)}

    def jobs(self) -> list[Case]:
        """Return every combination.

        Raises:
            ValueError: there are too many.
        """
        case, unasked = state.case(), EvidenceAssumptions()
        studies = [
            Case(
                study=study,
                text=text,
                lab=case.lab,
                own_lab=case.own_lab if self.own else LabOverrides(),
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


def is_under_way() -> bool:
    """Return whether this visitor's batch is being played."""
    batch = BATCHES.of(server.visitor())
    return batch is not None and not batch.is_over


def draw(here: PlanAnalysis) -> None:
    """Draw the fields, and the batch that is under way or that was run last."""
    batch, names = BATCHES.of(server.visitor()), _names()
    if batch is None or batch.is_over:
        _draw_fields(here, names)
    if notice := BATCHES.dropped(server.visitor()):
        st.info(escaped(notice), icon=":material/history:")
    if batch is None:
        return
    if batch.is_over:
        _draw_over(batch, names)
    else:
        _draw_under_way(batch, names)


def _names() -> dict[str, str]:
    """Return the studies' names by id, the open one's first, those of visitors too."""
    record = {study.study.scenario_id: study.study.paper.name for study in _own()}
    return {scenario.scenario_id: scenario.paper.name for scenario in list_scenarios()} | record


def _own() -> Sequence[OwnStudy]:
    return own_studies.readable(state.case().own)


# --- what is asked for ------------------------------------------------------------------------


def _draw_fields(here: PlanAnalysis, names: dict[str, str]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch_what"):
        chosen = st.multiselect(
            "Studies",
            list(names),
            default=[here.yours.pack.scenario_id],
            format_func=lambda name: on_one_line(names[name]),
            key="batch_studies",
            persist_state="session",
            width=420,
        )
        labs = _several("Labs", list(Difficulty), list(Difficulty))
        first = _seed("First seed", 0)
        last = _seed("Last seed", 9)
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch_who"):
        scientists = _several("Scientist", _RULES, _RULES[:1], lambda kind: SCIENTISTS[kind].name)
        managers = _several(
            "Lab Manager",
            list(RULED_LAB_MANAGERS),
            [LabManagerKind.REFERENCE],
            lambda kind: LAB_MANAGERS[kind].name,
        )
        custom = _draw_own(here)
    texts = {item.study.scenario_id: item.text for item in _own()}
    studies = {study: texts.get(study, "") for study in chosen}
    request = BatchRequest(studies, labs, range(first, last + 1), scientists, managers, custom)
    with st.container(horizontal=True, vertical_alignment="center", key="batch_run"):
        begin = partial(_begin, request)
        button("Run", "play_arrow", begin, type="primary")
        st.markdown(escaped(counted_text(request.counted)), width="content")
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
    return st.number_input(
        label,
        min_value=0,
        max_value=LARGEST_SEED,
        value=value,
        step=1,
        key=f"batch_{label}",
        persist_state="session",
        width=130,
    )


def _draw_own(here: PlanAnalysis) -> bool:
    """Draw whether to play in the lab of one's own, where there is one; return it."""
    pack = here.yours.pack
    if not (pack.own_lab.changes or pack.own_lab.name or pack.asked):
        return False
    return st.toggle(
        f"Your lab: {escaped(lab_text(pack))}",
        key="batch_own",
        persist_state="session",
        help="With what you say of the lab, and of what the open study's evidence assumes.",
    )


def _begin(asked: BatchRequest) -> None:
    try:
        jobs = asked.jobs()
    except ValueError as error:
        refused = f"{error}; here at most {MOST_PAGE_JOBS:,}. Choose fewer."
    else:
        refused = BATCHES.begin(server.visitor(), jobs)
    notices.leave_problem(refused, _NOTICE, "block")


# --- what comes of it -------------------------------------------------------------------------


@st.fragment(run_every=_EACH_SECOND)
def _draw_under_way(batch: VisitorBatch, names: dict[str, str]) -> None:
    """Draw how far a batch is, again each second; once it is over the page is drawn anew."""
    BATCHES.of(server.visitor())  # its visitor looks at it
    came, number = list(batch.came), batch.number  # a copy: its thread goes on adding
    if batch.is_over:
        st.rerun()
    st.progress(len(came) / number, f"{len(came):,} of {count_text(number, 'negotiation')}")
    button("Stop", "stop", batch.stop, disabled=batch.is_stopping, key="batch_stop")
    if came:
        _draw_shares(batch, names)


def _draw_over(batch: VisitorBatch, names: dict[str, str]) -> None:
    came = batch.came
    if batch.problem:
        st.error(f"The batch broke off: {escaped(batch.problem)}", icon=":material/error:")
    _draw_which(batch, names)
    if came:
        _draw_heatmap(batch, names)
        _draw_shares(batch, names)
        _draw_files(batch)


def _draw_which(batch: VisitorBatch, names: dict[str, str]) -> None:
    came, number = batch.came, batch.number
    stopped = stopped_text(len(came), number) if len(came) < number else ""
    if batch.kept_as:
        again = escaped(again_text(batch.again, len(came)))
        differs = not all(is_same(*pair) for pair in batch.again)
        name = f":material/bookmarks: **{escaped(batch.kept_as)}**, from the library."
        st.markdown(" ".join([name, stopped, *([] if differs else [again])]))
        if differs:
            st.warning(again, icon=":material/difference:")
    elif stopped:
        st.caption(stopped)
    with st.container(horizontal=True, key="batch_which"):
        if came and not batch.kept_as:
            button("Save to the library", "bookmark_add", partial(_keep, batch, names))
        if batch.before is not None:
            back = partial(BATCHES.back, server.visitor())
            button("The batch before", "history", back, type="tertiary")


def _keep(batch: VisitorBatch, names: dict[str, str]) -> None:
    came = list(batch.came)
    name = on_one_line(kept_text(summaries(came), names))
    keep_new(EntryKind.BATCH, name, batch_text(KeptBatch.of(came, batch.number)))


def _draw_shares(batch: VisitorBatch, names: dict[str, str]) -> None:
    came = list(batch.came)
    why = faults_text(result.error for result in came)
    panel.draw(shares_panel(summaries(came), names, why), regret_panel(came))


def _draw_heatmap(batch: VisitorBatch, names: Mapping[str, str]) -> None:
    """Draw how often the two sides agree, by study and players, and lab."""
    result = summaries(batch.came)
    groups = list(map(on_one_line, group_names(result, names)))
    rows, labs = (
        list(dict.fromkeys(groups)),
        list(dict.fromkeys(str(summary.lab) for summary in result)),
    )
    cells = {(row, str(summary.lab)): summary for row, summary in zip(groups, result, strict=True)}
    title = agreed_text(result)
    chart = figures.outcomes_figure(
        rows,
        labs,
        [[_share(cells.get((row, lab))) for lab in labs] for row in rows],
        [
            [outcomes_text(cells[row, lab]) if (row, lab) in cells else "" for lab in labs]
            for row in rows
        ],
        title,
    )
    st.plotly_chart(
        chart,
        key="batch_chart",
        config=figures.CONFIG,
        theme=None,
        alt=f"{title}, by study, players and lab. The same stands in the table below.",
    )


def _share(found: Summary | None) -> float | None:
    if found is None or not found.shares:
        return None
    agreed = found.shares.get(Outcome.AGREED)
    return agreed.value if agreed else 0.0


def _draw_files(batch: VisitorBatch) -> None:
    with st.container(horizontal=True, key="batch_files"):
        download("Results as CSV", partial(_csv, batch), "batch.csv")
        download("Results and outcomes as Excel", partial(_excel, batch), "batch.xlsx")
    place = st.expander("Every result", key="batch_results", on_change="rerun")
    if place.open:
        with place:
            _draw_results(batch)


def _csv(batch: VisitorBatch) -> str:
    return results_csv(list(batch.came))


def _excel(batch: VisitorBatch) -> bytes:
    came = list(batch.came)
    return batch_workbook(came, summaries(came))


def _draw_results(batch: VisitorBatch) -> None:
    if len(batch.came) > _ROWS_SHOWN:
        st.caption(f"The first {_ROWS_SHOWN:,}; the files have all.")
    st.dataframe(results_frame(batch.came[:_ROWS_SHOWN]), hide_index=True, alt="Every result")
