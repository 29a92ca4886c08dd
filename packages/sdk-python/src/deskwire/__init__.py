"""The Python SDK of Deskwire: typed calls, an exact sync, and webhooks.

`Client` and `AsyncClient` have the same methods. The types of rows and bodies are in
`deskwire.models`, a receiver for web frameworks in `deskwire.receiver`.
"""

from ._async.client import AsyncAdminClient, AsyncClient
from ._sync.client import AdminClient, Client
from ._version import __version__
from .errors import (
    APIStatusError,
    AuthenticationError,
    ConflictError,
    ConnectionFailedError,
    CursorTooOldError,
    DeskwireError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    SignatureError,
)
from .receiver import Receiver
from .signature import sign, verify, verify_signature
from .sqlite import SqliteCopy
from .stream import (
    Checkpoint,
    Digest,
    Page,
    Removal,
    Upsert,
    apply,
    checkpoint_of,
    is_exact,
    text_of,
)

__all__ = [
    "APIStatusError",
    "AdminClient",
    "AsyncAdminClient",
    "AsyncClient",
    "AuthenticationError",
    "Checkpoint",
    "Client",
    "ConflictError",
    "ConnectionFailedError",
    "CursorTooOldError",
    "DeskwireError",
    "Digest",
    "InvalidRequestError",
    "NotFoundError",
    "Page",
    "PermissionDeniedError",
    "RateLimitError",
    "Receiver",
    "Removal",
    "ServerError",
    "SignatureError",
    "SqliteCopy",
    "Upsert",
    "__version__",
    "apply",
    "checkpoint_of",
    "is_exact",
    "sign",
    "text_of",
    "verify",
    "verify_signature",
]
