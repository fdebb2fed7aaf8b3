"""Interim looks as a study or a visitor chooses them: which family, how many, and when."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Final

from pydantic import FailFast, Field, ValidationError, model_validator

from replicalab.lexicon import shortened
from replicalab.measures.looks import FAMILIES, MOST_LOOKS, LooksFamily, evenly
from replicalab.models import Record

MOST_GAMMA: Final = 20.0
LEAST_STEP: Final = 0.05
"""The least share of the information between two analyses, and before the first."""
_DIGITS: Final = 9
_FORM: Final = (
    "write a family and the number of looks, such as obrien_fleming:2, or when they are, such as "
    "pocock:0.3,0.6; with a third part, such as hwang_shih_decani:2:-4, its gamma"
)
_PARTS: Final = 3


class Looks(Record):
    """Interim looks, at which a study may stop early because the effect has shown.

    Attributes:
        family: how the level is shared out over the looks and the final analysis: pocock,
            obrien_fleming or hwang_shih_decani.
        interim: how many looks come before the final analysis, up to 4; 0 for none.
        gamma: what spends the level of hwang_shih_decani, -20 to 20; null for its usual -4, and
            for the other families.
        shares: when the looks are, as shares of the largest sample; empty for evenly spaced.
    """

    family: LooksFamily
    interim: Annotated[int, Field(strict=True, ge=0, le=MOST_LOOKS)] = 1
    gamma: (
        Annotated[float, Field(strict=True, ge=-MOST_GAMMA, le=MOST_GAMMA, allow_inf_nan=False)]
        | None
    ) = None
    shares: Annotated[
        tuple[Annotated[float, Field(strict=True, ge=LEAST_STEP, le=1 - LEAST_STEP)], ...],
        Field(max_length=MOST_LOOKS),
        FailFast(),
    ] = ()

    @model_validator(mode="after")
    def _belongs_together(self) -> Looks:
        if self.gamma is not None and FAMILIES[self.family].usual_gamma is None:
            raise ValueError(f"gamma is {self.gamma:g}, and {self.family} has none; leave it out")
        if self.shares and len(self.shares) != self.interim:
            raise ValueError(
                f"interim is {self.interim}, and {len(self.shares)} shares are given; give as many "
                "shares as looks, or none for evenly spaced looks"
            )
        for one, later in pairwise(self.shares):
            if round(later - one, _DIGITS) < LEAST_STEP:
                raise ValueError(
                    f"share {later:g} follows on {one:g}; let each be at least {LEAST_STEP} above "
                    "the one before"
                )
        return self

    @property
    def analyses(self) -> tuple[float, ...]:
        """The share of the information at each analysis, the final one among them."""
        return (*(self.shares or evenly(self.interim)), 1.0)

    def __str__(self) -> str:
        """Return the looks as `read_looks` reads them."""
        when = ",".join(f"{share!r}" for share in self.shares) or str(self.interim)
        gamma = "" if self.gamma is None else f":{self.gamma!r}".removesuffix(".0")
        return f"{self.family}:{when}{gamma}"


def read_looks(text: str) -> Looks:
    """Return the looks that a text such as ``obrien_fleming:2`` names.

    Raises:
        ValueError: it names none; the message says what is wrong and what to write.
    """
    family, *parts = text.strip().split(":")
    held: dict[str, object] = {"family": family}
    try:
        if not 1 <= len(parts) < _PARTS:
            raise ValueError(f"'{shortened(text)}' names no looks")
        when = parts[0]
        if when.isascii() and when.isdigit():
            held["interim"] = int(when[:_DIGITS])
        else:
            held["shares"] = [float(share) for share in when.split(",")[: MOST_LOOKS + 1]]
            held["interim"] = when.count(",") + 1
        if parts[1:]:
            held["gamma"] = float(parts[1])
        return Looks.model_validate(held)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = first["loc"][0] if first["loc"] else ""
        said = first["msg"].removeprefix("Value error, ")
        if place:
            said = f"{place} is '{shortened(str(first['input']))}': {said}; {_FORM}"
        raise ValueError(f"'{shortened(text)}': {said}") from None
    except ValueError:
        raise ValueError(f"'{shortened(text)}' names no looks; {_FORM}") from None


def with_shares(looks: Looks, text: str) -> Looks:
    """Return looks at the shares that a text such as ``0.3, 0.6`` names; empty for evenly spaced.

    Raises:
        ValueError: it names none; the message says what is wrong and what to write.
    """
    if not text.strip():
        return looks.model_copy(update={"shares": ()})
    try:
        shares = [float(share) for share in text.split(",")]
        return looks.model_copy(update={"shares": shares, "interim": len(shares)})
    except ValueError:
        raise ValueError(
            f"'{shortened(text)}' are no shares at which to look; write up to {MOST_LOOKS}, rising "
            f"from {LEAST_STEP} to {1 - LEAST_STEP} by {LEAST_STEP} or more, such as 0.3, 0.6"
        ) from None
