from __future__ import annotations

import pytest

from oasis_operator.database.main import read_settings
from oasis_operator.errors import InvalidSpec


def test_on_loopback_nothing_is_required() -> None:
    settings = read_settings({})
    assert (settings.host, settings.port, settings.most) == ("127.0.0.1", 8444, 8)


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"DATABASE_HOST": "10.0.0.1"}, "DATABASE_TLS"),
        ({"DATABASE_HOST": "10.0.0.1", "DATABASE_TLS": "/tls"}, "DATABASE_TOKEN_FILE"),
        ({"DATABASE_PORT": "x"}, "DATABASE_PORT: 'x'"),
        ({"DATABASE_MOST": "0"}, "DATABASE_MOST: '0'"),
    ],
)
def test_what_would_be_open_to_everyone_or_is_no_number_is_refused(
    environment: dict[str, str], named: str
) -> None:
    with pytest.raises(InvalidSpec, match=named):
        read_settings(environment)
