"""The lab's side: its items, and what it would take to run a plan, and to reach the target."""

from __future__ import annotations

from replicalab.panels.drawing import drawn
from replicalab.planner import Options
from replicalab.scenarios import ItemStatus, Pack
from replicalab.text.lab import price_text, standing_text
from replicalab.text.options import take_parts
from replicalab.text.verdicts import Status


def inventory_panel(written: Pack, pack: Pack) -> str:
    """Return every item of the lab: where it stands, what it costs, and the study's."""
    return drawn("inventory", rows=[_inventory_row(written, pack, i) for i in pack.known_items])


def _inventory_row(written: Pack, pack: Pack, label: str) -> dict[str, object]:
    category = pack.category_of(label) or ""
    packs = (pack, written)
    where = [standing_text(each, label, category) for each in packs]
    price = [price_text(each, label, category) for each in packs]
    is_free = pack.inventory.status(label, category) is ItemStatus.AVAILABLE
    return {
        "label": label,
        "category": category,
        "status": Status.PASS if is_free else Status.FAIL,
        "where": where[0],
        "was": where[1] if where[0] != where[1] else "",
        "price": price[0],
        "rate": price[1] if price[0] != price[1] else "",
    }


def take_panel(options: Options) -> str:
    """Return what the lab would have to add: for the plan, for the target, and one thing alone.

    Then what a later start would do, where one buys something.
    """
    return drawn("take", parts=take_parts(options))
