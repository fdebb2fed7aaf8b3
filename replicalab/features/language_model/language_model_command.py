"""The value ``model`` of the option ``--scientist``."""

from replicalab.features.language_model import CountedModel


def command(_: object) -> type[CountedModel]:
    return CountedModel
