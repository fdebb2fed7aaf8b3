"""The Negotiation page: who plays, each round of it, the whole run, and what may be done next."""

from replicalab.ui.negotiation.page import carry_on, draw
