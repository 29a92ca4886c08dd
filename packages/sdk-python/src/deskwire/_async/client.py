"""The way in: one object with a resource per kind, webhooks, keys, and the stream of all."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

import httpx

from .._address import admin_key_of
from .resources import AsyncAdminResources, AsyncResources
from .transport import AsyncTransport


class AsyncClient(AsyncResources):
    """A client of a Deskwire service.

    Use it as a context manager, or call `aclose()` when you are done.

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
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._transport = AsyncTransport(
            base_url, api_key, timeout=timeout, retries=retries, http_client=http_client
        )
        super().__init__(self._transport)

    async def request(
        self,
        method: str,
        *path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Any call of the API, for what has no method here: `request("GET", "tickets", id)`."""
        return await self._transport.request(
            method, path, query=query, body=body, idempotency_key=idempotency_key
        )

    async def aclose(self) -> None:
        """Closes the connections, unless they are those of a client of yours."""
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class AsyncAdminClient(AsyncAdminResources):
    """A client of the operator's API, which makes and manages organizations.

    Use it as a context manager, or call `aclose()` when you are done.

    Args:
        base_url: Default: `DESKWIRE_URL`.
        api_key: The operator's. Default: `DESKWIRE_ADMIN_KEY`.
        timeout, retries, http_client: As of `AsyncClient`.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._transport = AsyncTransport(
            base_url,
            admin_key_of(api_key),
            timeout=timeout,
            retries=retries,
            http_client=http_client,
        )
        super().__init__(self._transport)

    async def aclose(self) -> None:
        """Closes the connections, unless they are those of a client of yours."""
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncAdminClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
