"""What a browser shows of a page, so that a run sends it only what has changed.

A script draws its whole page at each run, and the browser works through every message again, also
where nothing has changed; an edit changes half of them. So what the browser has is held back, and
the run ends as that of a part of the page, after which the browser keeps what did not come. In this
way it cannot be told that something is gone or took another's place: then what was held back
follows, and the run ends as that of the page.
"""

from replicalab.server.internals import BEGIN, END, PASSING, Drawn, Place, Sent, as_part_of_page

_Screenful = dict[Place, Drawn]


class Screen:
    """What the browser at the other end of a web socket shows."""

    def __init__(self) -> None:
        self._page = ""
        self._shown: _Screenful | None = None  # None: not known, so a run is sent as it comes
        self._drawn: _Screenful = {}
        self._held: dict[Place, bytes] = {}
        self._replaces = False

    def changes(self, data: bytes, sent: Sent) -> list[bytes]:
        """Return what leaves in place of a message: itself, nothing, or what was held back too."""
        if sent.kind == BEGIN:
            self._shown = self._shown if sent.page == self._page else None
            self._page, self._drawn, self._held = sent.page, {}, {}
        if sent.kind == END:
            return self._end(data, sent)
        if sent.drawn is None:
            return [data]
        if self._holds_back(sent.drawn):
            self._held[sent.drawn.place] = data
            return []
        return [*self._earlier(sent.drawn), data]

    def _holds_back(self, drawn: Drawn) -> bool:
        before = self._shown and self._shown.get(drawn.place)
        is_shown = bool(before and drawn.content and before.content == drawn.content)
        if before and is_shown:  # which a message that only names the content does not say itself
            drawn = before
        if _draw(self._drawn, drawn):
            self._held = {at: held for at, held in self._held.items() if at in self._drawn}
        if self._shown is not None:
            # The browser keeps a widget beside what replaces it until a run of the page ends.
            self._replaces = _draw(self._shown, drawn) or self._replaces
        return is_shown and not drawn.acts

    def _earlier(self, drawn: Drawn) -> list[bytes]:
        """Return what was held back of what this run drew in the same place before.

        Such as the nothing of `st.empty`, which must not follow what is written into it.
        """
        earlier = None if drawn.form == PASSING else self._held.pop(drawn.place, None)
        return [] if earlier is None else [earlier]

    def _end(self, data: bytes, sent: Sent) -> list[bytes]:
        shown, held, self._held = self._shown, self._held, {}
        ends_page = sent.is_success and bool(self._page)
        if ends_page:
            self._shown = self._drawn
        if shown is None or not ends_page:
            return [data]
        is_all = not self._replaces and shown == self._drawn
        self._replaces = False
        return [as_part_of_page(data)] if is_all else [*held.values(), data]


def _draw(screenful: _Screenful, drawn: Drawn) -> bool:
    """Put what is drawn into its place; return whether it replaces what stood there, and in it."""
    before = screenful.get(drawn.place)
    replaces = before is not None and before.form != drawn.form
    if replaces:
        depth = len(drawn.place)
        for place in [each for each in screenful if each[:depth] == drawn.place]:
            del screenful[place]
    screenful[drawn.place] = drawn
    return replaces
