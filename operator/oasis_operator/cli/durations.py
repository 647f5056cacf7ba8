"""Durations as people write them on a command line."""

from __future__ import annotations

import click

from oasis_operator import errors
from oasis_operator.api import fields


class Duration(click.ParamType[float]):
    """A Go-style duration such as `90s` or `1h30m`; converts to seconds."""

    name = "duration"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Give the seconds of the text; a number is taken as seconds already."""
        if isinstance(value, int | float):
            return float(value)
        try:
            return fields.duration_seconds(value)
        except errors.InvalidSpec as fault:
            self.fail(fault.message, param, ctx)
