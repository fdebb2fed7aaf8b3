"""Drafts: the last state of each of an owner's workspaces, which nobody has kept under a name."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from replicalab.library.contents import checked_draft, problem_of
from replicalab.library.records import Draft, Limits, Owner
from replicalab.library.rows import size_of
from replicalab.library.schema import DRAFTS
from replicalab.library.transactions import charge, count_up


def put(connection: Connection, owner: Owner, draft: Draft, limits: Limits) -> None:
    """Save a draft in place of that workspace's; where there are too many the oldest goes.

    Raises:
        LibraryFullError: there is no room for it.
    """
    mine = select(DRAFTS.c.place, DRAFTS.c.size).where(DRAFTS.c.owner == owner.digest)
    rows = connection.execute(mine.order_by(DRAFTS.c.saved.desc())).all()
    others = [row for row in rows if row.place != draft.place]
    gone = [row for row in rows if row.place == draft.place] + others[limits.drafts - 1 :]
    for row in gone:
        connection.execute(delete(DRAFTS).where(_is_it(owner, row.place)))
    size = size_of(draft.content)
    charge(connection, owner, limits, size=size - sum(row.size for row in gone))
    values = {"owner": owner.digest, "place": draft.place, "size": size, "saved": draft.saved}
    connection.execute(insert(DRAFTS).values(**values, content=draft.content))


def latest(connection: Connection, owner: Owner, place: str | None, most: int) -> list[Draft]:
    """Return so many drafts of a workspace, of any where None, the last saved first."""
    columns = (DRAFTS.c.place, DRAFTS.c.content, DRAFTS.c.saved)
    query = select(*columns).where(DRAFTS.c.owner == owner.digest)
    if place is not None:
        query = query.where(DRAFTS.c.place == place)
    rows = connection.execute(query.order_by(DRAFTS.c.saved.desc()).limit(most))
    return [Draft(*row, problem=problem_of(checked_draft, row.content)) for row in rows]


def forget(connection: Connection, owner: Owner, place: str) -> None:
    """Take a draft away, if there is one."""
    which = _is_it(owner, place)
    size = connection.scalar(select(DRAFTS.c.size).where(which))
    connection.execute(delete(DRAFTS).where(which))
    count_up(connection, owner.digest, 0, -(size or 0))


def _is_it(owner: Owner, place: str) -> ColumnElement[bool]:
    return (DRAFTS.c.owner == owner.digest) & (DRAFTS.c.place == place)
