"""What else could be had: which constraints there are, what is compared, what more means buy."""

from replicalab.tradeoffs.constraints import Constraint
from replicalab.tradeoffs.lines import LossLine, listed_plans, loss_lines
from replicalab.tradeoffs.more import EXTRA_CREDITS, Extra, extras
from replicalab.tradeoffs.wording import Worded, as_least_loss, worded, wording_failing

__all__ = [
    "EXTRA_CREDITS",
    "Constraint",
    "Extra",
    "LossLine",
    "Worded",
    "as_least_loss",
    "extras",
    "listed_plans",
    "loss_lines",
    "worded",
    "wording_failing",
]
