"""A complete receiver in Python 3.10 or later, with nothing but its standard library.

DESKWIRE_WEBHOOK_SECRET=whsec_… python3 receiver.py     several secrets: separated by commas
python3 receiver.py check < signature.json              judges the published vectors
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
import traceback
from concurrent.futures import Future, ThreadPoolExecutor, wait
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock


def verify(body: bytes, header: str | None, secrets: list[str], now: int, tolerance: int = 300) -> bool:
    entries = (header or "").split(",")
    times = [entry[2:] for entry in entries if entry.startswith("t=")]
    signatures = [entry[3:].encode() for entry in entries if entry.startswith("v1=")]
    # Not isdigit() or \d: they take the digits of every script for digits.
    if len(times) != 1 or not re.fullmatch("[0-9]{1,15}", times[0]):
        return False
    if abs(now - int(times[0])) > tolerance:
        return False
    message = times[0].encode() + b"." + body
    for secret in secrets:
        expected = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest().encode()
        # Constant time; False for another length.
        if any(hmac.compare_digest(signature, expected) for signature in signatures):
            return True
    return False


def handle(event: dict) -> None:
    """Do the work here. Raise, and the event comes again in a minute."""
    print(event["type"], event["id"], flush=True)


# Seconds: Deskwire waits ten for an answer.
ANSWER_WITHIN = 8

# By event: deliveries are repeated, and those of one event have one id, that of X-Service-Event-Id. The body has it
# too, and there it is signed. In production: a table with a unique key, written in the transaction of the work.
begun: dict[str, Future] = {}
beginning = Lock()
workers = ThreadPoolExecutor()


def once(event: dict) -> Future:
    """The work of an event, which is done once: a repetition gets what has begun. What failed is begun anew."""
    with beginning:
        work = begun.get(event["id"])
        if work is None or (work.done() and work.exception()):
            work = begun[event["id"]] = workers.submit(handle, event)
        return work


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= 1_048_576:  # a negative one would be read to the connection's end
            return self.answer(413)
        body = self.rfile.read(length)  # the bytes as they came, before any parsing
        if not verify(body, self.headers.get("X-Service-Signature"), secrets, int(time.time())):
            return self.answer(400)
        work = once(json.loads(body))
        wait([work], timeout=ANSWER_WITHIN)
        if not work.done():
            return self.answer(503)  # it goes on, and the event's next delivery finds it done
        if work.exception():
            traceback.print_exception(work.exception())
            return self.answer(500)  # anything but a 2xx: it is sent again
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


if sys.argv[1:] == ["check"]:
    for vector in json.load(sys.stdin):
        raw = base64.b64decode(vector["body"])
        good = verify(raw, vector["header"], vector["secrets"], vector["now"], vector["tolerance"])
        print("accept" if good else "reject")
else:
    secrets = [secret for secret in os.environ.get("DESKWIRE_WEBHOOK_SECRET", "").split(",") if secret]
    if not secrets:
        sys.exit("Set DESKWIRE_WEBHOOK_SECRET to the secret of the endpoint.")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8082"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
