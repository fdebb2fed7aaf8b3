"""A scripted model for tests, which records its messages."""

from collections.abc import Iterable


class ScriptedGenerate:
    """A `GenerateFn` over texts and exceptions; ``sent`` has the messages of each call."""

    def __init__(self, script: Iterable[str | Exception]) -> None:
        self._script = iter(script)
        self.sent: list[list[dict[str, str]]] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.sent.append([dict(message) for message in messages])
        line = next(self._script, None)
        assert line is not None, f"call {len(self.sent)} is not in the script"
        if isinstance(line, Exception):
            raise line
        return line
