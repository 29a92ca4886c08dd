"""Where calls go: the base address, the key, and paths below it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

from .errors import DeskwireError


def base_of(url: str | None) -> str:
    """The base address, from `DESKWIRE_URL` if it is not given, with or without `/v1`.

    Every client reads it alike: `conformance/clients.json`.
    """
    given = _setting(url, "base_url", "DESKWIRE_URL")
    parts = urlsplit("" if re.search(r"\s", given) else given)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url must be http(s)://HOST without spaces, not {given}")
    if parts.username is not None or "?" in given or "#" in given:
        raise ValueError("base_url must have no user, query or fragment")
    address = f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
    return address if re.search(r"/v[0-9]+$", address) else f"{address}/v1"


def key_of(api_key: str | None) -> str:
    """The API key, from `DESKWIRE_API_KEY` if it is not given."""
    key = _setting(api_key, "api_key", "DESKWIRE_API_KEY")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("api_key has characters that no key has: spaces or a line break, perhaps")
    return key


def admin_key_of(api_key: str | None) -> str:
    """The operator's key, from `DESKWIRE_ADMIN_KEY` if it is not given."""
    return _setting(api_key, "api_key", "DESKWIRE_ADMIN_KEY")


def url_of(base: str, parts: Iterable[str]) -> str:
    """The address of a call. What begins with `..` is next to the version of the API."""
    first, *others = parts
    if first == "..":
        return re.sub(r"/v[0-9]+$", "", base) + path_of(others)
    return base + path_of([first, *others])


def path_of(parts: Iterable[str]) -> str:
    """A path below the base address. Ids that would address something else are refused."""
    encoded: list[str] = []
    for part in parts:
        if not isinstance(part, str) or part.strip(".") == "":
            raise ValueError(f"an id is a UUID, not {part!r}")
        encoded.append(quote(part, safe=""))
    return "/" + "/".join(encoded)


def environment_error(cause: Exception) -> DeskwireError:
    """Names the variables that may be why no HTTP client could be made."""
    names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]
    if isinstance(cause, OSError):  # of TLS too
        names = ["SSL_CERT_FILE", "SSL_CERT_DIR"]
    found = [one for name in names for one in (name, name.lower()) if os.environ.get(one)]
    # A proxy's address may have a password in it.
    files = ", ".join(f"{name}={os.environ[name]}" for name in found if name.startswith("SSL"))
    which = files or " or ".join(found) or "a setting of the environment"
    detail = f"The HTTP client cannot use {which}: {cause}. Correct it, or give http_client."
    return DeskwireError("invalid_environment", detail)


def _setting(value: str | None, argument: str, variable: str) -> str:
    found = (os.environ.get(variable, "") if value is None else value).strip()
    if not found:
        raise ValueError(f"give {argument}, or set {variable} in the environment")
    return found
