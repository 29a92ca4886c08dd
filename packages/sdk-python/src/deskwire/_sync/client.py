# Made by npm run generate from _async.
"""The way in: one object with a resource per kind, webhooks, keys, and the stream of all."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

import httpx

from .._address import admin_key_of
from .resources import AdminResources, Resources
from .transport import Transport


class Client(Resources):
    """A client of a Deskwire service.

    Use it as a context manager, or call `close()` when you are done.

    Args:
        base_url: For example `http://127.0.0.1:8080`. Default: `DESKWIRE_URL`.
        api_key: Default: `DESKWIRE_API_KEY`.
        timeout: Seconds for each attempt, to the end of its answer, and beyond them its `wait`; of
            an export, the longest silence. `float("inf")` turns it off.
        retries: How often a call is repeated where that is safe; 0 turns it off.
        http_client: Your own, for proxies and certificates. It stays open.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._transport = Transport(
            base_url, api_key, timeout=timeout, retries=retries, http_client=http_client
        )
        super().__init__(self._transport)

    def request(
        self,
        method: str,
        *path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Any call of the API, for what has no method here: `request("GET", "tickets", id)`."""
        return self._transport.request(
            method, path, query=query, body=body, idempotency_key=idempotency_key
        )

    def close(self) -> None:
        """Closes the connections, unless they are those of a client of yours."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AdminClient(AdminResources):
    """A client of the operator's API, which makes and manages organizations.

    Use it as a context manager, or call `close()` when you are done.

    Args:
        base_url: Default: `DESKWIRE_URL`.
        api_key: The operator's. Default: `DESKWIRE_ADMIN_KEY`.
        timeout, retries, http_client: As of `Client`.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._transport = Transport(
            base_url,
            admin_key_of(api_key),
            timeout=timeout,
            retries=retries,
            http_client=http_client,
        )
        super().__init__(self._transport)

    def close(self) -> None:
        """Closes the connections, unless they are those of a client of yours."""
        self._transport.close()

    def __enter__(self) -> AdminClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
