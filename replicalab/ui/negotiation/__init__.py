"""The Negotiation page: who plays, each round of it, the whole run, and what may be done next."""

from replicalab.ui.negotiation.model import carry_on
from replicalab.ui.negotiation.page import draw
