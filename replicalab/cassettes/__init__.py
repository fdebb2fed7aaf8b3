"""Recorded conversations of a model: played again without any endpoint, so a demo needs no network.

A cassette holds what the model said and nothing that it was told: playing it asks the study anew,
and says so where the study has changed since. Two are shipped, written by hand and labelled so.
"""

from replicalab.cassettes.player import play_cassette
from replicalab.cassettes.records import Cassette, Made, ModelSettings
from replicalab.cassettes.shelf import cassette_of, load_cassette, save_cassette, shipped_cassettes
from replicalab.negotiation.recorded import Output, generate_from

__all__ = [
    "Cassette",
    "Made",
    "ModelSettings",
    "Output",
    "cassette_of",
    "generate_from",
    "load_cassette",
    "play_cassette",
    "save_cassette",
    "shipped_cassettes",
]
