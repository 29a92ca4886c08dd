"""Verification by Standard Webhooks in Python 3.10 or later, with the package `standardwebhooks`.

The endpoint needs "standard" in its signatures. What else a receiver does is in receiver.py.

DESKWIRE_WEBHOOK_SECRET=whsec_… python3 standard.py     several secrets: separated by commas
"""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook

secrets = [secret for secret in os.environ.get("DESKWIRE_WEBHOOK_SECRET", "").split(",") if secret]
if not secrets:
    sys.exit("Set DESKWIRE_WEBHOOK_SECRET to the secret of the endpoint.")
webhooks = [Webhook(secret) for secret in secrets]


def verified(body: bytes, headers: dict[str, str]) -> dict | None:
    """The event, if any of the secrets has signed it: while a rotation lasts, a receiver may know two."""
    for webhook in webhooks:
        try:
            return webhook.verify(body, headers)
        except Exception:  # beside its own it throws others, for headers that it cannot read
            pass  # another one may fit
    return None


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= 1_048_576:  # a negative one would be read to the connection's end
            return self.answer(413)
        body = self.rfile.read(length)  # the bytes as they came, before any parsing
        event = verified(body, dict(self.headers))
        if event is None:
            return self.answer(400)
        print(event["type"], event["id"], flush=True)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8082"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
