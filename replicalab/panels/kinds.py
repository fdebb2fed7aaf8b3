"""A kind of design at a glance: a sketch of what is compared, and the question it asks."""

from __future__ import annotations

from replicalab.measures import KINDS, DesignKind
from replicalab.panels.drawing import drawn


def kind_panel(kind: DesignKind) -> str:
    """Return a kind of design: its sketch, and the question that it asks."""
    return drawn("kind", shapes=KINDS[kind].sketch, asks=KINDS[kind].asks)
