"""A foreign environment provider, as an Environment refers to it."""

from typing import Annotated, Self

from pydantic import ConfigDict, StringConstraints, model_validator

from oasis_operator.api import fields

_URL_PATTERN = r"^https?://[A-Za-z0-9.\[\]:_-]+(/[A-Za-z0-9._~/-]*)?$"
_PLAIN_RULE = (
    "self.url.startsWith('https://') || (has(self.plainText) && self.plainText)",
    "url must begin with https://, unless plainText is true",
)
_TOKEN_RULE = (
    "!has(self.tokenRef) || self.url.startsWith('https://')",
    "tokenRef needs a url with https://: a token is never sent in plain text",
)
_TLS_RULE = (
    "!has(self.caRef) || self.url.startsWith('https://')",
    "caRef needs a url with https://",
)
DEFAULT_TOKEN_KEY = "token"  # noqa: S105 - the name of a key
DEFAULT_CA_KEY = "ca.crt"

ProviderUrl = Annotated[str, StringConstraints(min_length=8, max_length=512, pattern=_URL_PATTERN)]
"""Base URL of a provider."""

Key = Annotated[str, StringConstraints(min_length=1, max_length=253, pattern=r"^[-._a-zA-Z0-9]+$")]
"""Key of a Secret or ConfigMap."""


class KeyRef(fields.Part):
    """A key of a Secret or ConfigMap of the same namespace."""

    name: fields.Name
    """Name of the object."""

    key: Key | None = None
    """Key in it; `token` for a token and `ca.crt` for certificates where absent."""


class CaRef(fields.Part):
    """Where the certificates are that alone are trusted."""

    model_config = ConfigDict(json_schema_extra=fields.rules(fields.exactly_one("configMap", "secret")))

    config_map: KeyRef | None = None
    """A ConfigMap."""

    secret: KeyRef | None = None
    """A Secret."""

    _one = model_validator(mode="after")(fields.require_one("config_map", "secret"))


class ForeignProvider(fields.Part):
    """A provider that speaks the provider contract of the specification over HTTP.

    Spec: 08-provider-conformance §3.8, 04-execution §2.2.
    """

    model_config = ConfigDict(json_schema_extra=fields.rules(_PLAIN_RULE, _TOKEN_RULE, _TLS_RULE))

    url: ProviderUrl
    """Base URL; the routes of the contract, such as /v1/provision, are appended to it."""

    plain_text: bool | None = None
    """True lets the URL be http://, for a provider behind a proxy of its own; nothing secret is then sent."""

    ca_ref: CaRef | None = None
    """PEM certificates of the only authorities that are trusted; those of the system where absent."""

    token_ref: KeyRef | None = None
    """Secret with the bearer token; no credentials are sent where absent."""

    provision_timeout: fields.Duration | None = None
    """Longest time until an environment is ready; 10m where absent."""

    request_timeout: fields.Duration | None = None
    """Longest time of any other request; 1m where absent."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        is_tls = self.url.startswith("https://")
        if not is_tls and not self.plain_text:
            raise ValueError(_PLAIN_RULE[1])
        if not is_tls and self.token_ref is not None:
            raise ValueError(_TOKEN_RULE[1])
        if not is_tls and self.ca_ref is not None:
            raise ValueError(_TLS_RULE[1])
        return self
