"""Made by npm run generate from openapi.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from .. import models
from .rows import Rows
from .stream import Kind, Stream
from .transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Teammates(Kind[models.Teammate]):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, "teammates", "teammate")

    def list(self, **filters: Unpack[models.TeammateFilters]) -> Rows[models.Teammate]:
        """List teammates."""
        return Rows(self._transport, ["teammates"], filters)

    def create(
        self,
        body: models.TeammateCreate,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Teammate:
        """Create a teammate."""
        answer: models.Teammate = self._transport.request(
            "POST",
            ["teammates"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Teammate:
        """Read a teammate."""
        answer: models.Teammate = self._transport.request(
            "GET",
            ["teammates", id],
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: models.TeammatePatch,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Teammate:
        """Change a teammate."""
        answer: models.Teammate = self._transport.request(
            "PATCH",
            ["teammates", id],
            query={"dryRun": dry_run},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a teammate."""
        self._transport.request(
            "DELETE",
            ["teammates", id],
            query={"dryRun": dry_run},
            if_match=if_match,
            timeout=timeout,
        )

    def create_many(
        self,
        items: Sequence[models.TeammateCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["teammates", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def import_many(
        self,
        items: Sequence[models.TeammateImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["teammates", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of teammates."""
        answer: models.RangeDigests = self._transport.request(
            "GET",
            ["teammates", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class Customers(Kind[models.Customer]):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, "customers", "customer")

    def list(self, **filters: Unpack[models.CustomerFilters]) -> Rows[models.Customer]:
        """List customers."""
        return Rows(self._transport, ["customers"], filters)

    def create(
        self,
        body: models.CustomerCreate,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Customer:
        """Create a customer."""
        answer: models.Customer = self._transport.request(
            "POST",
            ["customers"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Customer:
        """Read a customer."""
        answer: models.Customer = self._transport.request(
            "GET",
            ["customers", id],
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: models.CustomerPatch,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Customer:
        """Change a customer."""
        answer: models.Customer = self._transport.request(
            "PATCH",
            ["customers", id],
            query={"dryRun": dry_run},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a customer."""
        self._transport.request(
            "DELETE",
            ["customers", id],
            query={"dryRun": dry_run},
            if_match=if_match,
            timeout=timeout,
        )

    def create_many(
        self,
        items: Sequence[models.CustomerCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["customers", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def import_many(
        self,
        items: Sequence[models.CustomerImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["customers", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def upsert_many(
        self,
        items: Sequence[models.CustomerUpsert],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Changes the rows that have these external ids, and creates the others. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["customers", "batch"],
            body={"operation": "upsert", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of customers."""
        answer: models.RangeDigests = self._transport.request(
            "GET",
            ["customers", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer

    def erase(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Erasure:
        """Erase a customer with everything of theirs."""
        answer: models.Erasure = self._transport.request(
            "POST",
            ["customers", id, "erase"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def export_one(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.CustomerExport:
        """Everything about one customer."""
        answer: models.CustomerExport = self._transport.request(
            "GET",
            ["customers", id, "export"],
            is_document=True,
            timeout=timeout,
        )
        return answer


class Conversations(Kind[models.Conversation]):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, "conversations", "conversation")

    def list(self, **filters: Unpack[models.ConversationFilters]) -> Rows[models.Conversation]:
        """List conversations."""
        return Rows(self._transport, ["conversations"], filters)

    def create(
        self,
        body: models.ConversationCreate,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Create a conversation."""
        answer: models.Conversation = self._transport.request(
            "POST",
            ["conversations"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Read a conversation."""
        answer: models.Conversation = self._transport.request(
            "GET",
            ["conversations", id],
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: models.ConversationPatch,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Change a conversation."""
        answer: models.Conversation = self._transport.request(
            "PATCH",
            ["conversations", id],
            query={"dryRun": dry_run},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a conversation."""
        self._transport.request(
            "DELETE",
            ["conversations", id],
            query={"dryRun": dry_run},
            if_match=if_match,
            timeout=timeout,
        )

    def escalate(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Hands it from an AI to a person."""
        answer: models.Conversation = self._transport.request(
            "POST",
            ["conversations", id, "escalate"],
            query={"dryRun": dry_run},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def resolve(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Closes it. Its summary is written some minutes later."""
        answer: models.Conversation = self._transport.request(
            "POST",
            ["conversations", id, "resolve"],
            query={"dryRun": dry_run},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def reopen(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Opens it again; resolvedAt, summary and summarizedAt become null."""
        answer: models.Conversation = self._transport.request(
            "POST",
            ["conversations", id, "reopen"],
            query={"dryRun": dry_run},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def summarize(
        self,
        id: str,
        body: models.ConversationSummarize,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Conversation:
        """Writes the summary of a resolved conversation, as an AI outside does."""
        answer: models.Conversation = self._transport.request(
            "POST",
            ["conversations", id, "summarize"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def create_many(
        self,
        items: Sequence[models.ConversationCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["conversations", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def import_many(
        self,
        items: Sequence[models.ConversationImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["conversations", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def upsert_many(
        self,
        items: Sequence[models.ConversationUpsert],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Changes the rows that have these external ids, and creates the others. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["conversations", "batch"],
            body={"operation": "upsert", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of conversations."""
        answer: models.RangeDigests = self._transport.request(
            "GET",
            ["conversations", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class Messages(Kind[models.Message]):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, "messages", "message")

    def list(self, **filters: Unpack[models.MessageFilters]) -> Rows[models.Message]:
        """List messages."""
        return Rows(self._transport, ["messages"], filters)

    def create(
        self,
        body: models.MessageCreate,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Message:
        """Create a message."""
        answer: models.Message = self._transport.request(
            "POST",
            ["messages"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Message:
        """Read a message."""
        answer: models.Message = self._transport.request(
            "GET",
            ["messages", id],
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a message."""
        self._transport.request(
            "DELETE",
            ["messages", id],
            query={"dryRun": dry_run},
            if_match=if_match,
            timeout=timeout,
        )

    def create_many(
        self,
        items: Sequence[models.MessageCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["messages", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def import_many(
        self,
        items: Sequence[models.MessageImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["messages", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of messages."""
        answer: models.RangeDigests = self._transport.request(
            "GET",
            ["messages", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class Notes(Kind[models.Note]):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, "notes", "note")

    def list(self, **filters: Unpack[models.NoteFilters]) -> Rows[models.Note]:
        """List notes."""
        return Rows(self._transport, ["notes"], filters)

    def create(
        self,
        body: models.NoteCreate,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Note:
        """Create a note."""
        answer: models.Note = self._transport.request(
            "POST",
            ["notes"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Note:
        """Read a note."""
        answer: models.Note = self._transport.request(
            "GET",
            ["notes", id],
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: models.NotePatch,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Note:
        """Change a note."""
        answer: models.Note = self._transport.request(
            "PATCH",
            ["notes", id],
            query={"dryRun": dry_run},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a note."""
        self._transport.request(
            "DELETE",
            ["notes", id],
            query={"dryRun": dry_run},
            if_match=if_match,
            timeout=timeout,
        )

    def create_many(
        self,
        items: Sequence[models.NoteCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["notes", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def import_many(
        self,
        items: Sequence[models.NoteImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["notes", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of notes."""
        answer: models.RangeDigests = self._transport.request(
            "GET",
            ["notes", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class Tickets(Kind[models.Ticket]):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, "tickets", "ticket")

    def list(self, **filters: Unpack[models.TicketFilters]) -> Rows[models.Ticket]:
        """List tickets."""
        return Rows(self._transport, ["tickets"], filters)

    def create(
        self,
        body: models.TicketCreate,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Ticket:
        """Create a ticket."""
        answer: models.Ticket = self._transport.request(
            "POST",
            ["tickets"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Ticket:
        """Read a ticket."""
        answer: models.Ticket = self._transport.request(
            "GET",
            ["tickets", id],
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: models.TicketPatch,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Ticket:
        """Change a ticket."""
        answer: models.Ticket = self._transport.request(
            "PATCH",
            ["tickets", id],
            query={"dryRun": dry_run},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a ticket."""
        self._transport.request(
            "DELETE",
            ["tickets", id],
            query={"dryRun": dry_run},
            if_match=if_match,
            timeout=timeout,
        )

    def create_many(
        self,
        items: Sequence[models.TicketCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["tickets", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def import_many(
        self,
        items: Sequence[models.TicketImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["tickets", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def upsert_many(
        self,
        items: Sequence[models.TicketUpsert],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Changes the rows that have these external ids, and creates the others. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["tickets", "batch"],
            body={"operation": "upsert", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of tickets."""
        answer: models.RangeDigests = self._transport.request(
            "GET",
            ["tickets", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class Bookings(Kind[models.Booking]):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, "bookings", "booking")

    def list(self, **filters: Unpack[models.BookingFilters]) -> Rows[models.Booking]:
        """List bookings."""
        return Rows(self._transport, ["bookings"], filters)

    def create(
        self,
        body: models.BookingCreate,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Create a booking."""
        answer: models.Booking = self._transport.request(
            "POST",
            ["bookings"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Booking:
        """Read a booking."""
        answer: models.Booking = self._transport.request(
            "GET",
            ["bookings", id],
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: models.BookingPatch,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Change a booking."""
        answer: models.Booking = self._transport.request(
            "PATCH",
            ["bookings", id],
            query={"dryRun": dry_run},
            body=body,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a booking."""
        self._transport.request(
            "DELETE",
            ["bookings", id],
            query={"dryRun": dry_run},
            if_match=if_match,
            timeout=timeout,
        )

    def confirm(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Confirms a pending booking."""
        answer: models.Booking = self._transport.request(
            "POST",
            ["bookings", id, "confirm"],
            query={"dryRun": dry_run},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def reject(
        self,
        id: str,
        body: models.BookingReject | None = None,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Turns a pending booking down."""
        answer: models.Booking = self._transport.request(
            "POST",
            ["bookings", id, "reject"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def cancel(
        self,
        id: str,
        body: models.BookingCancel,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Cancels a booking that has not taken place."""
        answer: models.Booking = self._transport.request(
            "POST",
            ["bookings", id, "cancel"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def reschedule(
        self,
        id: str,
        body: models.BookingReschedule,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """Moves it to another time; it stays pending or confirmed."""
        answer: models.Booking = self._transport.request(
            "POST",
            ["bookings", id, "reschedule"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def complete(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """It took place: from startAt on. Corrects a no-show too."""
        answer: models.Booking = self._transport.request(
            "POST",
            ["bookings", id, "complete"],
            query={"dryRun": dry_run},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def no_show(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> models.Booking:
        """The customer did not come: from startAt on. Corrects a completion too."""
        answer: models.Booking = self._transport.request(
            "POST",
            ["bookings", id, "no-show"],
            query={"dryRun": dry_run},
            idempotency_key=idempotency_key,
            if_match=if_match,
            timeout=timeout,
        )
        return answer

    def create_many(
        self,
        items: Sequence[models.BookingCreate],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["bookings", "batch"],
            body={"operation": "create", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def import_many(
        self,
        items: Sequence[models.BookingImport],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Creates rows with their past, without events; rows that have these external ids stay as they are. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["bookings", "batch"],
            body={"operation": "import", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def upsert_many(
        self,
        items: Sequence[models.BookingUpsert],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """Changes the rows that have these external ids, and creates the others. Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = self._transport.request(
            "POST",
            ["bookings", "batch"],
            body={"operation": "upsert", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def digests(
        self,
        *,
        after: str | None = None,
        before: str | None = None,
        parts: int | None = None,
        ids_up_to: int | None = None,
        timeout: float | None = None,
    ) -> models.RangeDigests:
        """Counts and digests of ranges of bookings."""
        answer: models.RangeDigests = self._transport.request(
            "GET",
            ["bookings", "digests"],
            query={"after": after, "before": before, "parts": parts, "idsUpTo": ids_up_to},
            timeout=timeout,
        )
        return answer


class Webhooks:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, **filters: Unpack[models.WebhookFilters]) -> Rows[models.Webhook]:
        """List endpoints."""
        return Rows(self._transport, ["webhooks"], filters)

    def create(
        self,
        body: models.WebhookCreate,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.WebhookWithSecret:
        """Register an endpoint."""
        answer: models.WebhookWithSecret = self._transport.request(
            "POST",
            ["webhooks"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.Webhook:
        """Read an endpoint."""
        answer: models.Webhook = self._transport.request(
            "GET",
            ["webhooks", id],
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: models.WebhookPatch,
        *,
        timeout: float | None = None,
    ) -> models.Webhook:
        """Change an endpoint, disable it or make it active again."""
        answer: models.Webhook = self._transport.request(
            "PATCH",
            ["webhooks", id],
            body=body,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete an endpoint with its log."""
        self._transport.request(
            "DELETE",
            ["webhooks", id],
            timeout=timeout,
        )

    def rotate_secret(
        self,
        id: str,
        body: models.WebhookRotation | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.WebhookWithSecret:
        """Replace the secret; the old one signs as well for a while."""
        answer: models.WebhookWithSecret = self._transport.request(
            "POST",
            ["webhooks", id, "rotate-secret"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def drop_previous_secret(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """End the overlap: only the newest secret signs."""
        self._transport.request(
            "DELETE",
            ["webhooks", id, "previous-secret"],
            timeout=timeout,
        )

    def ping(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Send a ping: one attempt, also while disabled."""
        answer: models.Delivery = self._transport.request(
            "POST",
            ["webhooks", id, "ping"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def deliveries(self, id: str, **filters: Unpack[models.DeliveryFilters]) -> Rows[models.Delivery]:
        """The delivery log, newest first."""
        return Rows(self._transport, ["webhooks", id, "deliveries"], filters)

    def all_deliveries(self, **filters: Unpack[models.AllDeliveryFilters]) -> Rows[models.Delivery]:
        """The delivery log of all endpoints, newest first."""
        return Rows(self._transport, ["deliveries"], filters)

    def delivery(
        self,
        id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Read a delivery."""
        answer: models.Delivery = self._transport.request(
            "GET",
            ["webhooks", id, "deliveries", delivery_id],
            timeout=timeout,
        )
        return answer

    def attempts(self, id: str, delivery_id: str) -> Rows[models.Attempt]:
        """A delivery's attempts, newest first."""
        return Rows(self._transport, ["webhooks", id, "deliveries", delivery_id, "attempts"], {})

    def payload(
        self,
        id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """What the delivery would carry if it were sent now."""
        answer: dict[str, Any] = self._transport.request(
            "GET",
            ["webhooks", id, "deliveries", delivery_id, "payload"],
            timeout=timeout,
        )
        return answer

    def retry(
        self,
        id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Send a failed delivery again."""
        answer: models.Delivery = self._transport.request(
            "POST",
            ["webhooks", id, "deliveries", delivery_id, "retry"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def resend(
        self,
        id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Send an event that has arrived once more."""
        answer: models.Delivery = self._transport.request(
            "POST",
            ["webhooks", id, "deliveries", delivery_id, "resend"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def retry_now(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Hastening:
        """Attempt now what waits for a later attempt."""
        answer: models.Hastening = self._transport.request(
            "POST",
            ["webhooks", id, "hasten"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def recover(
        self,
        id: str,
        body: models.RecoveryCreate,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Recovery:
        """Bring back what an endpoint has missed."""
        answer: models.Recovery = self._transport.request(
            "POST",
            ["webhooks", id, "recover"],
            query={"dryRun": dry_run},
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def recoveries(self, id: str) -> Rows[models.Recovery]:
        """An endpoint's recoveries, newest first."""
        return Rows(self._transport, ["webhooks", id, "recoveries"], {})

    def recovery(
        self,
        id: str,
        recovery_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Recovery:
        """Read how far a recovery is."""
        answer: models.Recovery = self._transport.request(
            "GET",
            ["webhooks", id, "recoveries", recovery_id],
            timeout=timeout,
        )
        return answer

    def events(
        self,
        *,
        types: str | None = None,
        subject: str | None = None,
        created_after: str | None = None,
        cursor: str | None = None,
        include: Literal["actor"] | None = None,
        limit: int | None = None,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.EventPage:
        """Read events, oldest first."""
        answer: models.EventPage = self._transport.request(
            "GET",
            ["events"],
            query={"types": types, "subject": subject, "createdAfter": created_after, "cursor": cursor, "include": include, "limit": limit, "wait": wait},
            timeout=timeout,
        )
        return answer

    def stats(
        self,
        id: str,
        *,
        start: str | None = None,
        end: str | None = None,
        step: Literal["1m", "1h", "1d"] | None = None,
        timeout: float | None = None,
    ) -> models.Stats:
        """Results of an endpoint's deliveries in steps of time."""
        answer: models.Stats = self._transport.request(
            "GET",
            ["webhooks", id, "stats"],
            query={"from": start, "to": end, "step": step},
            timeout=timeout,
        )
        return answer

    def all_stats(
        self,
        *,
        start: str | None = None,
        end: str | None = None,
        step: Literal["1m", "1h", "1d"] | None = None,
        timeout: float | None = None,
    ) -> models.Stats:
        """Results of deliveries, and changes, in steps of time."""
        answer: models.Stats = self._transport.request(
            "GET",
            ["stats"],
            query={"from": start, "to": end, "step": step},
            timeout=timeout,
        )
        return answer


class ApiKeys:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, **filters: Unpack[models.ApiKeyFilters]) -> Rows[models.ApiKey]:
        """List keys."""
        return Rows(self._transport, ["api-keys"], filters)

    def create(
        self,
        body: models.ApiKeyCreate,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ApiKeyWithToken:
        """Make a key."""
        answer: models.ApiKeyWithToken = self._transport.request(
            "POST",
            ["api-keys"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def self(
        self,
        *,
        timeout: float | None = None,
    ) -> models.ApiKey:
        """Read the key that makes the call."""
        answer: models.ApiKey = self._transport.request(
            "GET",
            ["api-keys", "self"],
            timeout=timeout,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> models.ApiKey:
        """Read a key."""
        answer: models.ApiKey = self._transport.request(
            "GET",
            ["api-keys", id],
            timeout=timeout,
        )
        return answer

    def update(
        self,
        id: str,
        body: models.ApiKeyPatch,
        *,
        timeout: float | None = None,
    ) -> models.ApiKey:
        """Change name, scopes or expiry of a key."""
        answer: models.ApiKey = self._transport.request(
            "PATCH",
            ["api-keys", id],
            body=body,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Revoke a key at once."""
        self._transport.request(
            "DELETE",
            ["api-keys", id],
            timeout=timeout,
        )

    def rotate(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ApiKeyWithToken:
        """Replace the token; the old one works 24 hours more."""
        answer: models.ApiKeyWithToken = self._transport.request(
            "POST",
            ["api-keys", id, "rotate"],
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def drop_previous_token(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """End the overlap: only the newest token works."""
        self._transport.request(
            "DELETE",
            ["api-keys", id, "previous-token"],
            timeout=timeout,
        )


class ConsoleLinks:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        body: models.ConsoleLinkCreate,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ConsoleLink:
        """Make a link to the console for somebody without a key."""
        answer: models.ConsoleLink = self._transport.request(
            "POST",
            ["console-links"],
            body=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer

    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """End a link and its session at once."""
        self._transport.request(
            "DELETE",
            ["console-links", id],
            timeout=timeout,
        )


class Organization:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        timeout: float | None = None,
    ) -> models.Organization:
        """Read the organization."""
        answer: models.Organization = self._transport.request(
            "GET",
            ["organization"],
            timeout=timeout,
        )
        return answer

    def update(
        self,
        body: models.OrganizationPatch,
        *,
        timeout: float | None = None,
    ) -> models.Organization:
        """Change the organization."""
        answer: models.Organization = self._transport.request(
            "PATCH",
            ["organization"],
            body=body,
            timeout=timeout,
        )
        return answer


class Resources:
    """Everything that a client has."""

    def __init__(self, transport: Transport) -> None:
        self.teammates = Teammates(transport)
        self.customers = Customers(transport)
        self.conversations = Conversations(transport)
        self.messages = Messages(transport)
        self.notes = Notes(transport)
        self.tickets = Tickets(transport)
        self.bookings = Bookings(transport)
        self.webhooks = Webhooks(transport)
        self.api_keys = ApiKeys(transport)
        self.console_links = ConsoleLinks(transport)
        self.organization = Organization(transport)
        self.changes = Stream[models.AnyRow](transport, "changes")
