"""What the original study found, as it was reported: data, which a replication is planned from."""

from typing import Annotated, Literal

from pydantic import Field

from replicalab.models import Record
from replicalab.scenarios import fields


class Original(Record):
    """What is reported of the original study; null, or left out, where it is not.

    Attributes:
        effect: the estimate, in the unit of the design's kind, with its sign.
        se: its standard error; of a correlation that of Fisher's z, of a hazard ratio that of its
            logarithm.
        low: the lower end of its interval.
        high: the upper end.
        level: the level of the interval, a share.
        numbers: what else the effect may be worked out from, by the name that a formula gives it:
            t, F or z, means m1 and m2, SD1 and SD2, shares p1 and p2.
        n: the samples that counted, in all.
        n1: those of group 1.
        n2: those of group 2.
        events: the events that were seen, survival only.
        sides: 1 where its test was one-sided, else 2.
        source: the publication and the place in it.
        confidence: how well the numbers are known.
        where: where the source was found, if that is not the publication itself.
    """

    effect: fields.Effect | None = None
    se: Annotated[float, Field(strict=True, ge=1e-6, le=fields.LARGEST_EFFECT)] | None = None
    low: fields.Effect | None = None
    high: fields.Effect | None = None
    level: Annotated[float, Field(strict=True, ge=0.5, le=0.9999)] = 0.95
    numbers: Annotated[dict[fields.Label, fields.Finite], fields.Few] = Field(default_factory=dict)
    n: fields.AtLeastOne | None = None
    n1: fields.AtLeastOne | None = None
    n2: fields.AtLeastOne | None = None
    events: fields.AtLeastOne | None = None
    sides: Literal[1, 2] = 2
    source: fields.Prose
    confidence: Literal["verified", "recalled", "derived"]
    where: fields.Prose | None = None
