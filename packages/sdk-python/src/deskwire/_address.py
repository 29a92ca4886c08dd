"""Where calls go: the base address, the key, and paths below it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from urllib.parse import quote, urlsplit


def base_of(url: str | None) -> str:
    """The base address, from `DESKWIRE_URL` if it is not given. Without a path it gets `/v1`."""
    given = _setting(url, "base_url", "DESKWIRE_URL")
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url must be http(s)://HOST/v1, not {given}")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("base_url must have no user, query or fragment")
    return given.rstrip("/") + ("" if parts.path.strip("/") else "/v1")


def key_of(api_key: str | None) -> str:
    """The API key, from `DESKWIRE_API_KEY` if it is not given."""
    key = _setting(api_key, "api_key", "DESKWIRE_API_KEY")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("api_key has characters that no key has: spaces or a line break, perhaps")
    return key


def path_of(parts: Iterable[str]) -> str:
    """A path below the base address. Ids that would address something else are refused."""
    encoded = []
    for part in parts:
        if part.strip(".") == "":
            raise ValueError(f"an id is a UUID, not {part!r}")
        encoded.append(quote(part, safe=""))
    return "/" + "/".join(encoded)


def _setting(value: str | None, argument: str, variable: str) -> str:
    found = os.environ.get(variable) if value is None else value
    if not found:
        raise ValueError(f"give {argument}, or set {variable} in the environment")
    return found
