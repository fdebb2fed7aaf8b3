"""What came of a batch: its heatmap, every result, and the files that it leaves as."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import streamlit as st

from replicalab.batch import Summary, summaries
from replicalab.characters import on_one_line
from replicalab.figures import CONFIG, outcomes_figure
from replicalab.negotiation import Outcome
from replicalab.text.batch import agreed_text, group_names, outcomes_text
from replicalab.ui.batches import Batch

_MOST_SHOWN: Final = 1000


def draw(batch: Batch, names: Mapping[str, str]) -> None:
    """Draw how often the two sides agree, by study and players, and lab."""
    found = summaries(batch.came)
    groups = list(map(on_one_line, group_names(found, names)))
    rows, labs = list(dict.fromkeys(groups)), list(dict.fromkeys(str(each.lab) for each in found))
    cells = {(row, str(each.lab)): each for row, each in zip(groups, found, strict=True)}
    title = agreed_text(found)
    chart = outcomes_figure(
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
        config=CONFIG,
        theme=None,
        alt=f"{title}, by study, players and lab. The same stands in the table below.",
    )


def _share(found: Summary | None) -> float | None:
    if found is None or not found.shares:
        return None
    agreed = found.shares.get(Outcome.AGREED)
    return agreed.value if agreed else 0.0


def draw_files(batch: Batch) -> None:
    """Draw every result on demand, and both tables as files."""
    with st.container(horizontal=True, key="batch_files"):
        _download("Results as CSV", "csv", lambda: _csv(batch))
        _download("Results and outcomes as Excel", "xlsx", lambda: _excel(batch))
    place = st.expander("Every result", key="batch_results", on_change="rerun")
    if place.open:
        with place:
            _draw_results(batch)


def _download(label: str, form: str, make: Callable[[], str | bytes]) -> None:
    st.download_button(
        label, make, file_name=f"batch.{form}", icon=":material/download:", on_click="ignore"
    )


def _csv(batch: Batch) -> str:
    from replicalab.tables.batch import results_csv  # noqa: PLC0415 - brings pandas in

    return results_csv(list(batch.came))


def _excel(batch: Batch) -> bytes:
    from replicalab.tables.batch import batch_workbook  # noqa: PLC0415 - brings pandas in

    came = list(batch.came)
    return batch_workbook(came, summaries(came))


def _draw_results(batch: Batch) -> None:
    from replicalab.tables.batch import results_frame  # noqa: PLC0415 - brings pandas in

    if len(batch.came) > _MOST_SHOWN:
        st.caption(f"The first {_MOST_SHOWN:,}; the files have all.")
    st.dataframe(results_frame(batch.came[:_MOST_SHOWN]), hide_index=True, alt="Every result")
