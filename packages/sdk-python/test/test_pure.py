"""What needs no HTTP client and no service. `npm test` runs it with the standard library alone."""

import asyncio
import base64
import http.client
import importlib.util
import io
import json
import random
import sqlite3
import sys
import tempfile
import threading
import types
import unittest
from datetime import datetime
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

root = Path(__file__).parents[1]
if importlib.util.find_spec("httpx") is None:
    # The package's own __init__ imports the client, and that httpx.
    package = types.ModuleType("deskwire")
    package.__path__ = [str(root / "src" / "deskwire")]
    sys.modules["deskwire"] = package
elif importlib.util.find_spec("deskwire") is None:
    sys.path.insert(0, str(root / "src"))

from deskwire import _address, _retry, errors, listing, receiver, signature, sqlite, stream  # noqa: E402

VECTORS = root.parent / "sdk" / "vectors"
CLIENTS = json.loads((root.parents[1] / "conformance" / "clients.json").read_text())
SECRET = "whsec_" + base64.b64encode(bytes(32)).decode()


def vectors(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


def delivery(type="ticket.created", id="1", **options):
    envelope = {
        "id": id, "type": type, "apiVersion": "v1", "createdAt": "", "organizationId": "", "data": {},
    }
    body = json.dumps(envelope).encode()
    return body, signature.sign(body, SECRET, event_id=id, **options)


def row(n, at=0, **fields):
    return {"id": f"{n:036}", "object": "ticket", **fields, "updatedAt": f"2026-01-31T09:30:00.{at:03}Z"}


def page(*records, cursor="c", more=False, checkpoint=None):
    pagination = {"nextCursor": cursor, "hasMore": more, "total": 0}
    if checkpoint:
        pagination["checkpoint"] = checkpoint
    return stream.page_of({"data": list(records), "pagination": pagination}, "ticket")


def removed(n):
    return {"object": "removed", "id": f"{n:036}", "resource": "ticket", "removedAt": "2026-02-01"}


def answer(case):
    """The error for a case of conformance/clients.json; without a code, a proxy's page."""
    problem = json.dumps({"code": case["code"], "detail": ""}) if case["code"] else "<html></html>"
    return errors.error_of(case["status"], problem, url="", retry_after=case.get("retryAfter"))


class Signatures(unittest.TestCase):
    def judge(self, vector, headers):
        body = base64.b64decode(vector["body"])
        options = {"tolerance": vector["tolerance"], "now": vector["now"]}
        try:
            signature.verify_signature(body, headers, vector["secrets"], **options)
        except errors.SignatureError as error:
            return error.code
        return None

    def test_judges_the_published_vectors_of_the_own_header(self):
        published = vectors("signature")
        self.assertGreater(len(published), 50)
        for vector in published:
            with self.subTest(vector["name"]):
                given = vector["header"]
                headers = {} if given is None else {"X-Service-Signature": given}
                self.assertEqual(self.judge(vector, headers), vector["reason"])

    def test_judges_the_published_vectors_of_standard_webhooks(self):
        published = vectors("standard-webhooks")
        self.assertGreater(len(published), 20)
        for vector in published:
            with self.subTest(vector["name"]):
                self.assertEqual(self.judge(vector, vector["headers"]), vector["reason"])

    def test_verifies_what_it_signs_by_either_scheme(self):
        body, headers = delivery()
        standard = {name.title(): one for name, one in headers.items() if name.startswith("w")}
        for given in (headers, standard):
            self.assertEqual(signature.verify(body, given, ["whsec_b3RoZXI=", SECRET])["id"], "1")
        with self.assertRaises(errors.SignatureError):
            signature.verify(body + b" ", headers, SECRET)

    def test_refuses_secrets_that_would_let_anybody_sign(self):
        body, headers = delivery()
        for secrets in ("", [], [SECRET, ""]):
            with self.assertRaises(ValueError):
                signature.verify(body, headers, secrets)


class Proof(unittest.TestCase):
    def test_computes_the_published_checkpoints(self):
        for vector in vectors("checkpoint"):
            with self.subTest(vector["name"]):
                found = stream.checkpoint_of(vector["rows"])
                self.assertEqual(found["count"], vector["count"])
                self.assertEqual(found["digest"], vector["digest"])

    def test_writes_numbers_and_texts_as_the_service_does(self):
        served = (
            '{"a":0.00001,"b":-0.0000025,"c":1e-7,"d":1.5e-9,"e":1e-10,"f":1e+21,"g":5,"h":0.1,'
            '"i":"1e-05 \\"1e-07\\" ü\u2028\\u0001\\n","j":100000000000000000000,"k\\\\":{"1e-06":[1e-7]}}'
        )
        self.assertEqual(stream.text_of(json.loads(served)), served)

    def test_a_copy_is_exact_however_pages_are_cut_and_repeated(self):
        chance = random.Random(1)
        for _ in range(50):
            rows, exact = {}, {}
            for at in range(30):
                n = chance.randrange(8)
                record = removed(n) if chance.random() < 0.3 else row(n, at, subject=f"ü{at}")
                for _ in range(chance.choice([1, 1, 2])):
                    stream.apply(rows, page(record))
                exact.pop(record["id"], None)
                if record["object"] != "removed":
                    exact[record["id"]] = record
            self.assertEqual(rows, exact)
            checkpoint = {"ticket": stream.checkpoint_of(exact.values())}
            self.assertTrue(stream.is_exact(rows.values(), checkpoint))
            altered = [*rows.values(), row(9)]
            self.assertFalse(stream.is_exact(altered, checkpoint))
            if rows:
                changed = [{**one, "subject": "x"} for one in rows.values()]
                self.assertFalse(stream.is_exact(changed, checkpoint))
        self.assertFalse(stream.is_exact([row(1)], {}))

    def test_sqlite_applies_a_page_whole_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "copy.db"
            with sqlite.SqliteCopy(path) as copy:
                copy.apply(page(row(1), row(2), cursor="one"))
                with self.assertRaises(KeyError):
                    copy.apply(page(removed(1), {"object": "ticket", "id": "3"}, cursor="two"))
            with sqlite.SqliteCopy(path) as copy:
                self.assertEqual(copy.cursor, "one")
                checkpoint = {"ticket": stream.checkpoint_of([row(1), row(2)])}
                self.assertTrue(copy.is_exact(checkpoint))
                copy.apply(page(removed(2), cursor="three"))
                self.assertFalse(copy.is_exact(checkpoint))
                self.assertEqual(list(copy.rows("ticket")), [row(1)])
                copy.clear()
                self.assertIsNone(copy.cursor)
            with sqlite3.connect(path) as db:
                self.assertEqual(db.execute("select count(*) from rows").fetchone(), (0,))


class Calls(unittest.TestCase):
    def test_repeats_what_every_client_repeats(self):
        def failure_of(case):
            if "failure" in case:
                return errors.ConnectionFailedError("")
            if case["status"] < 300:
                return errors.unexpected(case["status"], "")
            return answer(case)

        for case in CLIENTS["retries"]:
            not_sent = case.get("failure") == "refused"
            for method in ("GET", "POST", "PATCH", "DELETE"):
                pause = _retry.pause_before(0, method, failure_of(case), limit=1, not_sent=not_sent)
                with self.subTest(f"{method} after {case}"):
                    self.assertEqual(pause is not None, method in case["repeated"])
        busy = answer({"status": 503, "code": "unavailable", "retryAfter": 7})
        self.assertGreaterEqual(_retry.pause_before(0, "GET", busy, limit=4), 7)
        self.assertIsNone(_retry.pause_before(4, "GET", busy, limit=4))

    def test_reads_retry_after(self):
        table = vectors("retry-after")
        now = datetime.fromisoformat(table["now"].replace("Z", "+00:00")).timestamp()
        for one in table["values"]:
            self.assertEqual(_retry.parse_retry_after(one["value"], now), one["seconds"], one["value"])
        self.assertIsNone(_retry.parse_retry_after(None))

    def test_reads_addresses_and_keys_as_every_client_does(self):
        for given, base in CLIENTS["addresses"]["accepted"]:
            self.assertEqual(_address.base_of(given), base, given)
        for given, key in CLIENTS["keys"]["accepted"]:
            self.assertEqual(_address.key_of(given), key)
        for read, refused in (_address.base_of, "addresses"), (_address.key_of, "keys"):
            for given in CLIENTS[refused]["refused"]:
                with self.subTest(given), self.assertRaises(ValueError):
                    read(given)

    def test_an_id_stays_within_its_path(self):
        self.assertEqual(_address.path_of(["tickets", "a/b?"]), "/tickets/a%2Fb%3F")
        for wrong in ("", ".", ".."):
            with self.assertRaises(ValueError):
                _address.path_of(["tickets", wrong])

    def test_has_the_families_of_every_client(self):
        for case in CLIENTS["families"]:
            error = answer(case)
            named = (type(error).__name__, error.status, error.code)
            expected = (case["family"], case["status"], case["code"] or "unexpected_answer")
            self.assertEqual(named, expected)

    def test_the_moment_after(self):
        self.assertEqual(listing.just_after("2026-01-31T23:59:59.999Z"), "2026-02-01T00:00:00.000Z")
        self.assertEqual(listing.just_after("0009-12-31T23:59:59.999Z"), "0010-01-01T00:00:00.000Z")


class Receiving(unittest.TestCase):
    def setUp(self):
        self.receiver = receiver.Receiver(SECRET, answer_within=0.2)
        self.done = []

    def test_does_the_work_of_an_event_once(self):
        self.receiver.on("ticket.created", "*")(lambda event: self.done.append(event["id"]))
        for _ in range(2):
            self.assertEqual(self.receiver.receive(*delivery()).status, 204)
        self.assertEqual(self.done, ["1", "1"])  # by its type, and by "*"
        self.assertEqual(self.receiver.receive(*delivery(timestamp=1)).status, 400)

    def test_answers_500_to_work_that_fails_and_begins_it_anew(self):
        @self.receiver.on("*")
        async def work(event):
            self.done.append(event["id"])
            if len(self.done) < 3:
                raise RuntimeError("not today")

        with self.assertLogs("deskwire"):
            self.assertEqual(self.receiver.receive(*delivery()).status, 500)
            self.assertEqual(asyncio.run(self.receiver.areceive(*delivery())).status, 500)
        self.assertEqual(self.receiver.receive(*delivery()).status, 204)

    def test_answers_in_time_while_the_work_goes_on(self):
        gate = threading.Event()
        self.receiver.on("*")(lambda event: gate.wait() and None)
        self.assertEqual(self.receiver.receive(*delivery()).status, 503)
        self.assertEqual(self.receiver.receive(*delivery()).status, 503)
        gate.set()
        self.receiver._threads.shutdown()
        self.assertEqual(self.receiver.receive(*delivery()).status, 204)

    def test_serves_wsgi(self):
        class Quiet(WSGIRequestHandler):
            def log_message(self, *_):
                pass

        body, headers = delivery()
        with make_server("127.0.0.1", 0, receiver.wsgi(self.receiver), handler_class=Quiet) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                for method, sent, expected in [("POST", body, 204), ("POST", b"{}", 400), ("GET", b"", 405)]:
                    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
                    connection.request(method, "/", sent, headers)
                    self.assertEqual(connection.getresponse().status, expected)
                    connection.close()
            finally:
                server.shutdown()
                thread.join()

    def test_serves_wsgi_in_pieces_where_the_server_puts_them_together(self):
        body, headers = delivery()
        environ = {f"HTTP_{name.upper().replace('-', '_')}": one for name, one in headers.items()}
        environ.update({"REQUEST_METHOD": "POST", "HTTP_TRANSFER_ENCODING": "chunked"})
        for sent, puts, status in (
            (body, True, "204"),
            (b"x" * (2**20 + 1), True, "413"),
            (body, False, "411"),  # as wsgiref, which leaves pieces as they are
        ):
            began = []
            given = {**environ, "wsgi.input": io.BytesIO(sent), "wsgi.input_terminated": puts}
            receiver.wsgi(self.receiver)(given, lambda *start, began=began: began.append(start[0]))
            self.assertTrue(began[0].startswith(status), began)

    def test_asks_where_it_is_stored_in_a_thread(self):
        asked = []

        class Stored(receiver.SeenInMemory):
            def begin(self, *given):
                asked.append(threading.current_thread())
                return super().begin(*given)

            def finish(self, id):
                asked.append(threading.current_thread())
                super().finish(id)

        stored = receiver.Receiver(SECRET, seen=Stored())
        self.assertEqual(asyncio.run(stored.areceive(*delivery())).status, 204)
        self.assertEqual(len(asked), 2)
        self.assertNotIn(threading.main_thread(), asked)


if __name__ == "__main__":
    unittest.main()
