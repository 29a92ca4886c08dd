"""Made by npm run generate from openapi.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import models
from .rows import AsyncPages, AsyncRows, by_cursor, by_wait
from .stream import AsyncKind, AsyncStream
from .transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncTeammates(AsyncKind[models.Teammate]):
    """The calls of teammates."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport, "teammates", "teammate")

    def list(self, **filters: Unpack[models.TeammateFilters]) -> AsyncRows[models.Teammate]:
        """List teammates.

        Without a sync parameter: existing rows, newest first, by filter. With `updatedAfter` or `cursor`: created, changed and removed rows in the order of their `updatedAt`, each page going on from the one before. A sync takes no filters.
        Needs a key with the scope `teammates:read`."""
        return AsyncRows(self._transport, ["teammates"], filters, by_moment=True)

    async def create(
        self,
        body: models.TeammateCreate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Teammate:
        """Create a teammate.

        Causes no event: sync only.
        Needs a key with the scope `teammates:write`."""
        answer: models.Teammate = await self._transport.request(
            "POST",
            ["teammates"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    @overload
    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Teammate: ...

    @overload
    async def get(
        self,
        id: str,
        *,
        if_none_match: str,
        timeout: float | None = None,
    ) -> models.Teammate | None: ...

    async def get(
        self,
        id: str,
        *,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Teammate | None:
        """Read a teammate.

        Needs a key with the scope `teammates:read`."""
        answer: models.Teammate | None = await self._transport.request(
            "GET",
            ["teammates", id],
            if_none_match=if_none_match,
            timeout=timeout,
        )
        return answer

    async def update(
        self,
        id: str,
        body: models.TeammatePatch,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Teammate:
        """Change a teammate.

        Fields that are sent replace their values. A change to the same values changes nothing and causes no event.
        Causes no event: sync only.
        Needs a key with the scope `teammates:write`."""
        answer: models.Teammate = await self._transport.request(
            "PATCH",
            ["teammates", id],
            query={"dryRun": dry_run or None},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a teammate.

        Causes `teammate.deleted`.
        Needs a key with the scope `teammates:write`."""
        await self._transport.request(
            "DELETE",
            ["teammates", id],
            query={"dryRun": dry_run or None},
            if_match=if_match,
            timeout=timeout,
        )

    async def batch(
        self,
        items: Sequence[models.TeammateCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["teammates", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def import_(
        self,
        items: Sequence[models.TeammateImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["teammates", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of teammates.

        Where a copy differs: read the stream up to exactly the cursor that comes with the answer, compare each range with the same range of the copy, and ask again within those that differ. A call that takes longer than 20 seconds ends with 503: ask for a smaller range.
        Needs a key with the scope `teammates:read`."""
        answer: models.RangeDigests = await self._transport.request(
            "GET",
            ["teammates", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class AsyncCustomers(AsyncKind[models.Customer]):
    """The calls of customers."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport, "customers", "customer")

    def list(self, **filters: Unpack[models.CustomerFilters]) -> AsyncRows[models.Customer]:
        """List customers.

        Without a sync parameter: existing rows, newest first, by filter. With `updatedAfter` or `cursor`: created, changed and removed rows in the order of their `updatedAt`, each page going on from the one before. A sync takes no filters.
        Needs a key with the scope `customers:read`."""
        return AsyncRows(self._transport, ["customers"], filters, by_moment=True)

    async def create(
        self,
        body: models.CustomerCreate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Customer:
        """Create a customer.

        Causes `customer.created`.
        Needs a key with the scope `customers:write`."""
        answer: models.Customer = await self._transport.request(
            "POST",
            ["customers"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    @overload
    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Customer: ...

    @overload
    async def get(
        self,
        id: str,
        *,
        if_none_match: str,
        timeout: float | None = None,
    ) -> models.Customer | None: ...

    async def get(
        self,
        id: str,
        *,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Customer | None:
        """Read a customer.

        Needs a key with the scope `customers:read`."""
        answer: models.Customer | None = await self._transport.request(
            "GET",
            ["customers", id],
            if_none_match=if_none_match,
            timeout=timeout,
        )
        return answer

    async def update(
        self,
        id: str,
        body: models.CustomerPatch,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Customer:
        """Change a customer.

        Fields that are sent replace their values. A change to the same values changes nothing and causes no event.
        Causes `customer.updated`.
        Needs a key with the scope `customers:write`."""
        answer: models.Customer = await self._transport.request(
            "PATCH",
            ["customers", id],
            query={"dryRun": dry_run or None},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a customer.

        Causes `customer.deleted`, and can cause `ticket.deleted`.
        Needs a key with the scope `customers:write`."""
        await self._transport.request(
            "DELETE",
            ["customers", id],
            query={"dryRun": dry_run or None},
            if_match=if_match,
            timeout=timeout,
        )

    async def batch(
        self,
        items: Sequence[models.CustomerCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["customers", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def import_(
        self,
        items: Sequence[models.CustomerImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["customers", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def upsert(
        self,
        items: Sequence[models.CustomerUpsert],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Changes the rows that have these external ids, and creates the others. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["customers", "batch"],
            body={"operation": "upsert", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of customers.

        Where a copy differs: read the stream up to exactly the cursor that comes with the answer, compare each range with the same range of the copy, and ask again within those that differ. A call that takes longer than 20 seconds ends with 503: ask for a smaller range.
        Needs a key with the scope `customers:read`."""
        answer: models.RangeDigests = await self._transport.request(
            "GET",
            ["customers", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer

    async def erase(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Erasure:
        """Erase a customer with everything of theirs.

        Removes the customer and its conversations, messages, notes, tickets, bookings in one commit, each with its removal record and event; then erases stored payloads, responses and receivers' answers about them. The answer is a receipt, of the kinds that the key may read, which names what is not erased yet.
        Causes `customer.deleted`, and can cause `conversation.deleted`, `message.deleted`, `note.deleted`, `ticket.deleted`, `booking.deleted`.
        Needs a key with the scope `customers:erase`."""
        answer: models.Erasure = await self._transport.request(
            "POST",
            ["customers", id, "erase"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def export_one(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.CustomerExport:
        """Everything about one customer.

        The customer and each object that refers to it, whole. Needs customers:read, conversations:read, messages:read, notes:read, tickets:read, bookings:read. An answer that is no whole JSON was cut off.
        Needs a key with the scope `customers:read`."""
        answer: models.CustomerExport = await self._transport.request(
            "GET",
            ["customers", id, "export"],
            is_document=True,
            timeout=timeout,
        )
        return answer


class AsyncConversations(AsyncKind[models.Conversation]):
    """The calls of conversations."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport, "conversations", "conversation")

    def list(self, **filters: Unpack[models.ConversationFilters]) -> AsyncRows[models.Conversation]:
        """List conversations.

        Without a sync parameter: existing rows, newest first, by filter. With `updatedAfter` or `cursor`: created, changed and removed rows in the order of their `updatedAt`, each page going on from the one before. A sync takes no filters.
        Needs a key with the scope `conversations:read`."""
        return AsyncRows(self._transport, ["conversations"], filters, by_moment=True)

    async def create(
        self,
        body: models.ConversationCreate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Create a conversation.

        Causes `conversation.created`.
        Needs a key with the scope `conversations:write`."""
        answer: models.Conversation = await self._transport.request(
            "POST",
            ["conversations"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    @overload
    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Conversation: ...

    @overload
    async def get(
        self,
        id: str,
        *,
        if_none_match: str,
        timeout: float | None = None,
    ) -> models.Conversation | None: ...

    async def get(
        self,
        id: str,
        *,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation | None:
        """Read a conversation.

        Needs a key with the scope `conversations:read`."""
        answer: models.Conversation | None = await self._transport.request(
            "GET",
            ["conversations", id],
            if_none_match=if_none_match,
            timeout=timeout,
        )
        return answer

    async def update(
        self,
        id: str,
        body: models.ConversationPatch,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Change a conversation.

        Fields that are sent replace their values. A change to the same values changes nothing and causes no event.
        Can cause `conversation.assigned`, `conversation.unassigned`, `conversation.escalated`; otherwise no event: sync only.
        Needs a key with the scope `conversations:write`."""
        answer: models.Conversation = await self._transport.request(
            "PATCH",
            ["conversations", id],
            query={"dryRun": dry_run or None},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a conversation.

        Causes `conversation.deleted`, and can cause `message.deleted`, `note.deleted`.
        Needs a key with the scope `conversations:write`."""
        await self._transport.request(
            "DELETE",
            ["conversations", id],
            query={"dryRun": dry_run or None},
            if_match=if_match,
            timeout=timeout,
        )

    async def escalate(
        self,
        id: str,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Hands it from an AI to a person.

        Causes `conversation.escalated`.
        Needs a key with the scope `conversations:write`."""
        answer: models.Conversation = await self._transport.request(
            "POST",
            ["conversations", id, "escalate"],
            query={"dryRun": dry_run or None},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def resolve(
        self,
        id: str,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Closes it. Its summary is written some minutes later.

        Causes `conversation.resolved`.
        Needs a key with the scope `conversations:write`."""
        answer: models.Conversation = await self._transport.request(
            "POST",
            ["conversations", id, "resolve"],
            query={"dryRun": dry_run or None},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def reopen(
        self,
        id: str,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Opens it again; resolvedAt, summary and summarizedAt become null.

        Causes `conversation.reopened`.
        Needs a key with the scope `conversations:write`."""
        answer: models.Conversation = await self._transport.request(
            "POST",
            ["conversations", id, "reopen"],
            query={"dryRun": dry_run or None},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def summarize(
        self,
        id: str,
        body: models.ConversationSummarize,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Writes the summary of a resolved conversation, as an AI outside does.

        Causes `conversation.summarized`.
        Needs a key with the scope `conversations:write`."""
        answer: models.Conversation = await self._transport.request(
            "POST",
            ["conversations", id, "summarize"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def batch(
        self,
        items: Sequence[models.ConversationCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["conversations", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def import_(
        self,
        items: Sequence[models.ConversationImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["conversations", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def upsert(
        self,
        items: Sequence[models.ConversationUpsert],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Changes the rows that have these external ids, and creates the others. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["conversations", "batch"],
            body={"operation": "upsert", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of conversations.

        Where a copy differs: read the stream up to exactly the cursor that comes with the answer, compare each range with the same range of the copy, and ask again within those that differ. A call that takes longer than 20 seconds ends with 503: ask for a smaller range.
        Needs a key with the scope `conversations:read`."""
        answer: models.RangeDigests = await self._transport.request(
            "GET",
            ["conversations", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class AsyncMessages(AsyncKind[models.Message]):
    """The calls of messages."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport, "messages", "message")

    def list(self, **filters: Unpack[models.MessageFilters]) -> AsyncRows[models.Message]:
        """List messages.

        Without a sync parameter: existing rows, newest first, by filter. With `updatedAfter` or `cursor`: created, changed and removed rows in the order of their `updatedAt`, each page going on from the one before. A sync takes no filters.
        Needs a key with the scope `messages:read`."""
        return AsyncRows(self._transport, ["messages"], filters, by_moment=True)

    async def create(
        self,
        body: models.MessageCreate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Message:
        """Create a message.

        Causes one or more of `message.received`, `message.sent`, `conversation.reopened`, `ticket.updated`, `ticket.status_changed`.
        Needs a key with the scope `messages:write`."""
        answer: models.Message = await self._transport.request(
            "POST",
            ["messages"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    @overload
    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Message: ...

    @overload
    async def get(
        self,
        id: str,
        *,
        if_none_match: str,
        timeout: float | None = None,
    ) -> models.Message | None: ...

    async def get(
        self,
        id: str,
        *,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Message | None:
        """Read a message.

        Needs a key with the scope `messages:read`."""
        answer: models.Message | None = await self._transport.request(
            "GET",
            ["messages", id],
            if_none_match=if_none_match,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a message.

        Causes `message.deleted`.
        Needs a key with the scope `messages:write`."""
        await self._transport.request(
            "DELETE",
            ["messages", id],
            query={"dryRun": dry_run or None},
            if_match=if_match,
            timeout=timeout,
        )

    async def batch(
        self,
        items: Sequence[models.MessageCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["messages", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def import_(
        self,
        items: Sequence[models.MessageImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["messages", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of messages.

        Where a copy differs: read the stream up to exactly the cursor that comes with the answer, compare each range with the same range of the copy, and ask again within those that differ. A call that takes longer than 20 seconds ends with 503: ask for a smaller range.
        Needs a key with the scope `messages:read`."""
        answer: models.RangeDigests = await self._transport.request(
            "GET",
            ["messages", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class AsyncNotes(AsyncKind[models.Note]):
    """The calls of notes."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport, "notes", "note")

    def list(self, **filters: Unpack[models.NoteFilters]) -> AsyncRows[models.Note]:
        """List notes.

        Without a sync parameter: existing rows, newest first, by filter. With `updatedAfter` or `cursor`: created, changed and removed rows in the order of their `updatedAt`, each page going on from the one before. A sync takes no filters.
        Needs a key with the scope `notes:read`."""
        return AsyncRows(self._transport, ["notes"], filters, by_moment=True)

    async def create(
        self,
        body: models.NoteCreate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Note:
        """Create a note.

        Causes `note.created`.
        Needs a key with the scope `notes:write`."""
        answer: models.Note = await self._transport.request(
            "POST",
            ["notes"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    @overload
    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Note: ...

    @overload
    async def get(
        self,
        id: str,
        *,
        if_none_match: str,
        timeout: float | None = None,
    ) -> models.Note | None: ...

    async def get(
        self,
        id: str,
        *,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Note | None:
        """Read a note.

        Needs a key with the scope `notes:read`."""
        answer: models.Note | None = await self._transport.request(
            "GET",
            ["notes", id],
            if_none_match=if_none_match,
            timeout=timeout,
        )
        return answer

    async def update(
        self,
        id: str,
        body: models.NotePatch,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Note:
        """Change a note.

        Fields that are sent replace their values. A change to the same values changes nothing and causes no event.
        Causes `note.updated`.
        Needs a key with the scope `notes:write`."""
        answer: models.Note = await self._transport.request(
            "PATCH",
            ["notes", id],
            query={"dryRun": dry_run or None},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a note.

        Causes `note.deleted`.
        Needs a key with the scope `notes:write`."""
        await self._transport.request(
            "DELETE",
            ["notes", id],
            query={"dryRun": dry_run or None},
            if_match=if_match,
            timeout=timeout,
        )

    async def batch(
        self,
        items: Sequence[models.NoteCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["notes", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def import_(
        self,
        items: Sequence[models.NoteImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["notes", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of notes.

        Where a copy differs: read the stream up to exactly the cursor that comes with the answer, compare each range with the same range of the copy, and ask again within those that differ. A call that takes longer than 20 seconds ends with 503: ask for a smaller range.
        Needs a key with the scope `notes:read`."""
        answer: models.RangeDigests = await self._transport.request(
            "GET",
            ["notes", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class AsyncTickets(AsyncKind[models.Ticket]):
    """The calls of tickets."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport, "tickets", "ticket")

    def list(self, **filters: Unpack[models.TicketFilters]) -> AsyncRows[models.Ticket]:
        """List tickets.

        Without a sync parameter: existing rows, newest first, by filter. With `updatedAfter` or `cursor`: created, changed and removed rows in the order of their `updatedAt`, each page going on from the one before. A sync takes no filters.
        Needs a key with the scope `tickets:read`."""
        return AsyncRows(self._transport, ["tickets"], filters, by_moment=True)

    async def create(
        self,
        body: models.TicketCreate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Ticket:
        """Create a ticket.

        Causes `ticket.created`.
        Needs a key with the scope `tickets:write`."""
        answer: models.Ticket = await self._transport.request(
            "POST",
            ["tickets"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    @overload
    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Ticket: ...

    @overload
    async def get(
        self,
        id: str,
        *,
        if_none_match: str,
        timeout: float | None = None,
    ) -> models.Ticket | None: ...

    async def get(
        self,
        id: str,
        *,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Ticket | None:
        """Read a ticket.

        Needs a key with the scope `tickets:read`."""
        answer: models.Ticket | None = await self._transport.request(
            "GET",
            ["tickets", id],
            if_none_match=if_none_match,
            timeout=timeout,
        )
        return answer

    async def update(
        self,
        id: str,
        body: models.TicketPatch,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Ticket:
        """Change a ticket.

        Fields that are sent replace their values. A change to the same values changes nothing and causes no event.
        Causes `ticket.updated`, and can cause `ticket.status_changed`, `ticket.assigned`.
        Needs a key with the scope `tickets:write`."""
        answer: models.Ticket = await self._transport.request(
            "PATCH",
            ["tickets", id],
            query={"dryRun": dry_run or None},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a ticket.

        Causes `ticket.deleted`.
        Needs a key with the scope `tickets:write`."""
        await self._transport.request(
            "DELETE",
            ["tickets", id],
            query={"dryRun": dry_run or None},
            if_match=if_match,
            timeout=timeout,
        )

    async def batch(
        self,
        items: Sequence[models.TicketCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["tickets", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def import_(
        self,
        items: Sequence[models.TicketImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["tickets", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def upsert(
        self,
        items: Sequence[models.TicketUpsert],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Changes the rows that have these external ids, and creates the others. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["tickets", "batch"],
            body={"operation": "upsert", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of tickets.

        Where a copy differs: read the stream up to exactly the cursor that comes with the answer, compare each range with the same range of the copy, and ask again within those that differ. A call that takes longer than 20 seconds ends with 503: ask for a smaller range.
        Needs a key with the scope `tickets:read`."""
        answer: models.RangeDigests = await self._transport.request(
            "GET",
            ["tickets", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class AsyncBookings(AsyncKind[models.Booking]):
    """The calls of bookings."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport, "bookings", "booking")

    def list(self, **filters: Unpack[models.BookingFilters]) -> AsyncRows[models.Booking]:
        """List bookings.

        Without a sync parameter: existing rows, newest first, by filter. With `updatedAfter` or `cursor`: created, changed and removed rows in the order of their `updatedAt`, each page going on from the one before. A sync takes no filters.
        Needs a key with the scope `bookings:read`."""
        return AsyncRows(self._transport, ["bookings"], filters, by_moment=True)

    async def create(
        self,
        body: models.BookingCreate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Create a booking.

        Causes `booking.created`.
        Needs a key with the scope `bookings:write`."""
        answer: models.Booking = await self._transport.request(
            "POST",
            ["bookings"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    @overload
    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Booking: ...

    @overload
    async def get(
        self,
        id: str,
        *,
        if_none_match: str,
        timeout: float | None = None,
    ) -> models.Booking | None: ...

    async def get(
        self,
        id: str,
        *,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking | None:
        """Read a booking.

        Needs a key with the scope `bookings:read`."""
        answer: models.Booking | None = await self._transport.request(
            "GET",
            ["bookings", id],
            if_none_match=if_none_match,
            timeout=timeout,
        )
        return answer

    async def update(
        self,
        id: str,
        body: models.BookingPatch,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Change a booking.

        Fields that are sent replace their values. A change to the same values changes nothing and causes no event.
        Causes no event: sync only.
        Needs a key with the scope `bookings:write`."""
        answer: models.Booking = await self._transport.request(
            "PATCH",
            ["bookings", id],
            query={"dryRun": dry_run or None},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a booking.

        Causes `booking.deleted`.
        Needs a key with the scope `bookings:write`."""
        await self._transport.request(
            "DELETE",
            ["bookings", id],
            query={"dryRun": dry_run or None},
            if_match=if_match,
            timeout=timeout,
        )

    async def confirm(
        self,
        id: str,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Confirms a pending booking.

        Causes `booking.confirmed`.
        Needs a key with the scope `bookings:write`."""
        answer: models.Booking = await self._transport.request(
            "POST",
            ["bookings", id, "confirm"],
            query={"dryRun": dry_run or None},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def reject(
        self,
        id: str,
        body: models.BookingReject | None = None,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Turns a pending booking down.

        Causes `booking.rejected`.
        Needs a key with the scope `bookings:write`."""
        answer: models.Booking = await self._transport.request(
            "POST",
            ["bookings", id, "reject"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def cancel(
        self,
        id: str,
        body: models.BookingCancel,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Cancels a booking that has not taken place.

        Causes `booking.cancelled`.
        Needs a key with the scope `bookings:write`."""
        answer: models.Booking = await self._transport.request(
            "POST",
            ["bookings", id, "cancel"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def reschedule(
        self,
        id: str,
        body: models.BookingReschedule,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Moves it to another time; it stays pending or confirmed.

        Causes `booking.rescheduled`.
        Needs a key with the scope `bookings:write`."""
        answer: models.Booking = await self._transport.request(
            "POST",
            ["bookings", id, "reschedule"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def complete(
        self,
        id: str,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """It took place: from startAt on. Corrects a no-show too.

        Causes `booking.completed`.
        Needs a key with the scope `bookings:write`."""
        answer: models.Booking = await self._transport.request(
            "POST",
            ["bookings", id, "complete"],
            query={"dryRun": dry_run or None},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def no_show(
        self,
        id: str,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """The customer did not come: from startAt on. Corrects a completion too.

        Causes `booking.no_show`.
        Needs a key with the scope `bookings:write`."""
        answer: models.Booking = await self._transport.request(
            "POST",
            ["bookings", id, "no-show"],
            query={"dryRun": dry_run or None},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    async def batch(
        self,
        items: Sequence[models.BookingCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["bookings", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def import_(
        self,
        items: Sequence[models.BookingImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["bookings", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def upsert(
        self,
        items: Sequence[models.BookingUpsert],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Changes the rows that have these external ids, and creates the others. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["bookings", "batch"],
            body={"operation": "upsert", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of bookings.

        Where a copy differs: read the stream up to exactly the cursor that comes with the answer, compare each range with the same range of the copy, and ask again within those that differ. A call that takes longer than 20 seconds ends with 503: ask for a smaller range.
        Needs a key with the scope `bookings:read`."""
        answer: models.RangeDigests = await self._transport.request(
            "GET",
            ["bookings", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class AsyncInbox:
    """The calls of inbox."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, **filters: Unpack[models.InboxFilters]) -> AsyncPages[models.InboxEntry]:
        """List open conversations by how long the customer waits.

        Conversations whose customer waits for an answer come first, the longest wait before others; then the rest, newest first. `total` counts to 1000. `lastMessage` is null for a key without `messages:read`.
        Needs a key with the scope `conversations:read`."""
        return AsyncPages(self._transport, ["inbox"], filters, by_wait)

    async def counts(
        self,
        *,
        assignee_id: str | None = None,
        timeout: float | None = None,
    ) -> models.InboxCounts:
        """Count the conversations of the inbox.

        Each count ends at 1000, which means that many or more.
        Needs a key with the scope `conversations:read`."""
        answer: models.InboxCounts = await self._transport.request(
            "GET",
            ["inbox", "counts"],
            query={"assigneeId": assignee_id},
            timeout=timeout,
        )
        return answer


class AsyncWebhooks:
    """The calls of webhooks."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, **filters: Unpack[models.WebhookFilters]) -> AsyncRows[models.Webhook]:
        """List endpoints.

        Needs a key with the scope `webhooks:read`."""
        return AsyncRows(self._transport, ["webhooks"], filters, by_moment=True)

    async def create(
        self,
        body: models.WebhookCreate,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.WebhookWithSecret:
        """Register an endpoint.

        The key needs the read scope of every subscribed type as well. The secret is in this answer and nowhere else.
        Needs a key with the scope `webhooks:write`."""
        answer: models.WebhookWithSecret = await self._transport.request(
            "POST",
            ["webhooks"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Webhook:
        """Read an endpoint.

        Needs a key with the scope `webhooks:read`."""
        answer: models.Webhook = await self._transport.request(
            "GET",
            ["webhooks", id],
            timeout=timeout,
        )
        return answer

    async def update(
        self,
        id: str,
        body: models.WebhookPatch,
        *,
        timeout: float | None = None,
    ) -> models.Webhook:
        """Change an endpoint, pause or disable it, or make it active again.

        A change of url, events, signatures, status or conditions, and any of an endpoint of another key, needs the read scope of every subscribed type as well. A change of url or events, or to active, makes the caller the registrant; status active resets the failure count. standard is added to signatures only when every secret that signs is in standard base64, as new ones are.
        Needs a key with the scope `webhooks:write`."""
        answer: models.Webhook = await self._transport.request(
            "PATCH",
            ["webhooks", id],
            body=body,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete an endpoint with its log.

        Of another key: needs the read scope of every subscribed type as well.
        Needs a key with the scope `webhooks:write`."""
        await self._transport.request(
            "DELETE",
            ["webhooks", id],
            timeout=timeout,
        )

    async def rotate_secret(
        self,
        id: str,
        body: models.WebhookRotation | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.WebhookWithSecret:
        """Replace the secret; the old one signs as well for a while.

        At most 20 secrets sign, the new one among them. Sending the newest one again changes nothing. Needs the read scope of every subscribed type as well.
        Needs a key with the scope `webhooks:write`."""
        answer: models.WebhookWithSecret = await self._transport.request(
            "POST",
            ["webhooks", id, "rotate-secret"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def delete_previous_secret(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """End the overlap: only the newest secret signs.

        Needs a key with the scope `webhooks:write`."""
        await self._transport.request(
            "DELETE",
            ["webhooks", id, "previous-secret"],
            timeout=timeout,
        )

    async def ping(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Send a ping: one attempt, also while disabled.

        Needs a key with the scope `webhooks:write`."""
        answer: models.Delivery = await self._transport.request(
            "POST",
            ["webhooks", id, "ping"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def deliveries(self, id: str, **filters: Unpack[models.DeliveryFilters]) -> AsyncRows[models.Delivery]:
        """The delivery log, newest first.

        Needs a key with the scope `webhooks:read`."""
        return AsyncRows(self._transport, ["webhooks", id, "deliveries"], filters)

    async def retry_now(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RetriedNow:
        """Attempt now what waits for a later attempt.

        For an endpoint that is healthy again: deliveries that are pending are attempted at once instead of at the end of their delay; their schedules go on from there. Up to 5,000 a call, those that are due soonest first: while `hasMore` is true, ask again. Needs the read scope of every subscribed type as well.
        Needs a key with the scope `webhooks:write`."""
        answer: models.RetriedNow = await self._transport.request(
            "POST",
            ["webhooks", id, "retry-now"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def recover(
        self,
        id: str,
        body: models.RecoveryCreate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Recovery:
        """Bring back what an endpoint has missed.

        For every event of a subscribed type in the window: a failed delivery is sent again, with its stored payload; a missing one is made, and reads anew. Pending and succeeded ones stay as they are; with `includeSucceeded`, succeeded ones are sent again. Goes on by itself: read the recovery to see how far it is. Needs the read scope of every subscribed type as well.
        Needs a key with the scope `webhooks:write`."""
        answer: models.Recovery = await self._transport.request(
            "POST",
            ["webhooks", id, "recover"],
            query={"dryRun": dry_run or None},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def recoveries(self, id: str) -> AsyncRows[models.Recovery]:
        """An endpoint's recoveries, newest first.

        Needs a key with the scope `webhooks:read`."""
        return AsyncRows(self._transport, ["webhooks", id, "recoveries"], {})

    async def stats(
        self,
        id: str,
        *,
        from_: str | None = None,
        to: str | None = None,
        step: Literal["1m", "1h", "1d"] | None = None,
        timeout: float | None = None,
    ) -> models.Stats:
        """Results of an endpoint's deliveries in steps of time.

        As GET /v1/stats. Changes are of the kinds that it is subscribed to and the key may read, whether or not the endpoint got them.
        Needs a key with the scope `webhooks:read`."""
        answer: models.Stats = await self._transport.request(
            "GET",
            ["webhooks", id, "stats"],
            query={"from": from_, "to": to, "step": step},
            timeout=timeout,
        )
        return answer

    async def addresses(
        self,
        *,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """The addresses that deliveries come from.

        As CIDRs, for the firewall of a receiver; only where the operator has set them.
        Needs no key."""
        answer: dict[str, Any] = await self._transport.request(
            "GET",
            ["..", ".well-known", "webhook-addresses.json"],
            timeout=timeout,
        )
        return answer

    async def public_keys(
        self,
        *,
        organization_id: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """The public keys that verify deliveries.

        A JSON Web Key Set, for endpoints whose `signatures` include `v1a`. Two keys while the encryption key is rotated.
        Needs no key."""
        answer: dict[str, Any] = await self._transport.request(
            "GET",
            ["..", ".well-known", "jwks.json"],
            query={"organizationId": organization_id},
            timeout=timeout,
        )
        return answer


class AsyncDeliveries:
    """The calls of deliveries."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, **filters: Unpack[models.AllDeliveryFilters]) -> AsyncRows[models.Delivery]:
        """The delivery log of all endpoints, newest first.

        Needs a key with the scope `webhooks:read`."""
        return AsyncRows(self._transport, ["deliveries"], filters)

    async def get(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Read a delivery.

        Needs a key with the scope `webhooks:read`."""
        answer: models.Delivery = await self._transport.request(
            "GET",
            ["webhooks", webhook_id, "deliveries", delivery_id],
            timeout=timeout,
        )
        return answer

    def attempts(self, webhook_id: str, delivery_id: str) -> AsyncRows[models.Attempt]:
        """A delivery's attempts, newest first.

        `responseBody` is null for a key without the read scope of the event.
        Needs a key with the scope `webhooks:read`."""
        return AsyncRows(self._transport, ["webhooks", webhook_id, "deliveries", delivery_id, "attempts"], {})

    async def payload(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Read the body that the delivery would have now.

        Byte for byte what the next attempt sends as its body; of one that is not pending, what a retry would. Needs the read scope of its event as well.
        Needs a key with the scope `webhooks:read`."""
        answer: dict[str, Any] = await self._transport.request(
            "GET",
            ["webhooks", webhook_id, "deliveries", delivery_id, "payload"],
            timeout=timeout,
        )
        return answer

    async def retry(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Send a failed delivery again.

        It goes out with the payload that was stored with its event, and the whole schedule begins anew. Needs the read scope of every subscribed type as well.
        Needs a key with the scope `webhooks:write`."""
        answer: models.Delivery = await self._transport.request(
            "POST",
            ["webhooks", webhook_id, "deliveries", delivery_id, "retry"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def resend(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Send an event that has arrived once more.

        Makes a new delivery of the same event, with the same event id; `data` is read anew. The delivery that has succeeded stays in the log as it is. Needs the read scope of every subscribed type as well.
        Needs a key with the scope `webhooks:write`."""
        answer: models.Delivery = await self._transport.request(
            "POST",
            ["webhooks", webhook_id, "deliveries", delivery_id, "resend"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def stats(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        step: Literal["1m", "1h", "1d"] | None = None,
        timeout: float | None = None,
    ) -> models.Stats:
        """Results of deliveries, and changes, in steps of time.

        Steps are whole, in UTC: none before the one that the delivery log begins in, none after now. Changes are of the kinds that the key may read, each object where its latest change is.
        Needs a key with the scope `webhooks:read`."""
        answer: models.Stats = await self._transport.request(
            "GET",
            ["stats"],
            query={"from": from_, "to": to, "step": step},
            timeout=timeout,
        )
        return answer


class AsyncRecoveries:
    """The calls of recoveries."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(
        self,
        webhook_id: str,
        recovery_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Recovery:
        """Read how far a recovery is.

        Needs a key with the scope `webhooks:read`."""
        answer: models.Recovery = await self._transport.request(
            "GET",
            ["webhooks", webhook_id, "recoveries", recovery_id],
            timeout=timeout,
        )
        return answer


class AsyncEvents:
    """The calls of events."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, **filters: Unpack[models.EventFilters]) -> AsyncPages[models.ListedEvent]:
        """Read events, oldest first.

        Every event that the key may read, each as a delivery would carry it now; `data` is null where its object is gone. The cursor of the last page stays valid and goes on later, with `wait` as soon as something happens; with `Accept: text/event-stream`, the pages come as server-sent events. Events are kept as long as the delivery log.
        Needs a key, whatever its scopes."""
        return AsyncPages(self._transport, ["events"], filters, by_cursor)


class AsyncApiKeys:
    """The calls of api_keys."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, **filters: Unpack[models.ApiKeyFilters]) -> AsyncRows[models.ApiKey]:
        """List keys.

        Those that have expired are among them.
        Needs a key with the scope `api_keys:manage`."""
        return AsyncRows(self._transport, ["api-keys"], filters, by_moment=True)

    async def create(
        self,
        body: models.ApiKeyCreate,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ApiKeyWithToken:
        """Make a key.

        A key can grant only scopes that it holds itself. The token is in this answer and nowhere else.
        Needs a key with the scope `api_keys:manage`."""
        answer: models.ApiKeyWithToken = await self._transport.request(
            "POST",
            ["api-keys"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def self(
        self,
        *,
        timeout: float | None = None,
    ) -> models.ApiKey:
        """Read the key that makes the call.

        For programs and pages that offer no more than their key may do.
        Needs a key, whatever its scopes."""
        answer: models.ApiKey = await self._transport.request(
            "GET",
            ["api-keys", "self"],
            timeout=timeout,
        )
        return answer

    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.ApiKey:
        """Read a key.

        Needs a key with the scope `api_keys:manage`."""
        answer: models.ApiKey = await self._transport.request(
            "GET",
            ["api-keys", id],
            timeout=timeout,
        )
        return answer

    async def update(
        self,
        id: str,
        body: models.ApiKeyPatch,
        *,
        timeout: float | None = None,
    ) -> models.ApiKey:
        """Change name, scopes or expiry of a key.

        Needs every scope of that key as well. Scopes can only become such as the caller holds. A key that has expired stays so.
        Needs a key with the scope `api_keys:manage`."""
        answer: models.ApiKey = await self._transport.request(
            "PATCH",
            ["api-keys", id],
            body=body,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Revoke a key at once.

        Needs every scope of that key as well. The endpoints that it registered are disabled in the same commit.
        Needs a key with the scope `api_keys:manage`."""
        await self._transport.request(
            "DELETE",
            ["api-keys", id],
            timeout=timeout,
        )

    async def rotate(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ApiKeyWithToken:
        """Replace the token; the old one works 24 hours more.

        Needs every scope of that key as well.
        Needs a key with the scope `api_keys:manage`."""
        answer: models.ApiKeyWithToken = await self._transport.request(
            "POST",
            ["api-keys", id, "rotate"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def delete_previous_token(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """End the overlap: only the newest token works.

        Needs every scope of that key as well.
        Needs a key with the scope `api_keys:manage`."""
        await self._transport.request(
            "DELETE",
            ["api-keys", id, "previous-token"],
            timeout=timeout,
        )


class AsyncConsoleLinks:
    """The calls of console_links."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        body: models.ConsoleLinkCreate,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ConsoleLink:
        """Make a link to the console for somebody without a key.

        The link works once: the console exchanges it for a session that may do what the link says, for the key that made it, and ends with the link, with that key, or when the link is deleted. A session cannot make links.
        Needs a key, whatever its scopes."""
        answer: models.ConsoleLink = await self._transport.request(
            "POST",
            ["console-links"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def exchange(
        self,
        body: models.ConsoleLinkExchange,
        *,
        timeout: float | None = None,
    ) -> models.ConsoleSession:
        """Exchange a link for the token of its session, once.

        Needs no key. The token is sent as the token of a key is.
        Needs no key."""
        answer: models.ConsoleSession = await self._transport.request(
            "POST",
            ["console-links", "exchange"],
            body=body,
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """End a link and its session at once.

        By the key that made it, by a key with api_keys:manage, or by the session itself, for which the id is in the answer to its exchange.
        Needs a key, whatever its scopes."""
        await self._transport.request(
            "DELETE",
            ["console-links", id],
            timeout=timeout,
        )


class AsyncOrganization:
    """The calls of organization."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(
        self,
        *,
        timeout: float | None = None,
    ) -> models.Organization:
        """Read the organization.

        Needs a key, whatever its scopes."""
        answer: models.Organization = await self._transport.request(
            "GET",
            ["organization"],
            timeout=timeout,
        )
        return answer

    async def update(
        self,
        body: models.OrganizationPatch,
        *,
        timeout: float | None = None,
    ) -> models.Organization:
        """Change the organization.

        Needs a key with the scope `api_keys:manage`."""
        answer: models.Organization = await self._transport.request(
            "PATCH",
            ["organization"],
            body=body,
            timeout=timeout,
        )
        return answer


class AsyncOrganizations:
    """The calls of organizations."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(
        self,
        *,
        timeout: float | None = None,
    ) -> models.TenantList:
        """List organizations, the oldest first.

        Needs the key of the operator."""
        answer: models.TenantList = await self._transport.request(
            "GET",
            ["..", "admin", "v1", "organizations"],
            timeout=timeout,
        )
        return answer

    async def create(
        self,
        body: models.TenantCreate,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.TenantKey:
        """Create an organization with its first key.

        Needs the key of the operator."""
        answer: models.TenantKey = await self._transport.request(
            "POST",
            ["..", "admin", "v1", "organizations"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Tenant:
        """Read an organization.

        Needs the key of the operator."""
        answer: models.Tenant = await self._transport.request(
            "GET",
            ["..", "admin", "v1", "organizations", id],
            timeout=timeout,
        )
        return answer

    async def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.TenantDeletion:
        """Delete an organization and everything of it.

        Needs the key of the operator."""
        answer: models.TenantDeletion = await self._transport.request(
            "DELETE",
            ["..", "admin", "v1", "organizations", id],
            timeout=timeout,
        )
        return answer

    async def suspend(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Tenant:
        """Refuse the keys of an organization and hold its deliveries.

        Needs the key of the operator."""
        answer: models.Tenant = await self._transport.request(
            "POST",
            ["..", "admin", "v1", "organizations", id, "suspend"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def resume(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Tenant:
        """End the suspension of an organization.

        Needs the key of the operator."""
        answer: models.Tenant = await self._transport.request(
            "POST",
            ["..", "admin", "v1", "organizations", id, "resume"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def create_key(
        self,
        id: str,
        body: models.TenantKeyCreate,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.TenantKey:
        """Make a key of an organization.

        Needs the key of the operator."""
        answer: models.TenantKey = await self._transport.request(
            "POST",
            ["..", "admin", "v1", "organizations", id, "keys"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    async def move(
        self,
        id: str,
        body: models.TenantMoveTo,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.TenantMove:
        """Move an organization to another database.

        Needs the key of the operator."""
        answer: models.TenantMove = await self._transport.request(
            "POST",
            ["..", "admin", "v1", "organizations", id, "move"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer


class AsyncResources:
    """Everything that a client has."""

    def __init__(self, transport: AsyncTransport) -> None:
        self.teammates = AsyncTeammates(transport)
        self.customers = AsyncCustomers(transport)
        self.conversations = AsyncConversations(transport)
        self.messages = AsyncMessages(transport)
        self.notes = AsyncNotes(transport)
        self.tickets = AsyncTickets(transport)
        self.bookings = AsyncBookings(transport)
        self.inbox = AsyncInbox(transport)
        self.webhooks = AsyncWebhooks(transport)
        self.deliveries = AsyncDeliveries(transport)
        self.recoveries = AsyncRecoveries(transport)
        self.events = AsyncEvents(transport)
        self.api_keys = AsyncApiKeys(transport)
        self.console_links = AsyncConsoleLinks(transport)
        self.organization = AsyncOrganization(transport)
        self.changes = AsyncStream[models.AnyRow](transport, "changes")


class AsyncAdminResources:
    """Everything that a client of the operator has."""

    def __init__(self, transport: AsyncTransport) -> None:
        self.organizations = AsyncOrganizations(transport)
