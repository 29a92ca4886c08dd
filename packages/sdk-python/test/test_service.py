"""Against a running service, over real HTTP: `npm run check -- python` starts one and runs this."""

import asyncio
import contextlib
import inspect
import io
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from flask import Flask
from werkzeug.serving import make_server

from deskwire import (
    AdminClient,
    AsyncClient,
    AuthenticationError,
    Client,
    ConflictError,
    ConnectionFailedError,
    DeskwireError,
    InvalidRequestError,
    NotFoundError,
    Receiver,
    apply,
    is_exact,
    sign,
)
from deskwire.receiver import asgi, flask_view

here = Path(__file__).parent
SECRET = "whsec_c2VjcmV0LW9mLXRoZS10ZXN0cy1vZi1weXRob24tMDA="


@pytest.fixture
def client():
    with Client() as it:
        yield it


def make(client, count, **more):
    answer = client.customers.batch([{"name": f"C{n} ü", **more} for n in range(count)])
    assert answer["refused"] == 0
    return [one["id"] for one in answer["data"]]


def test_creates_reads_changes_and_removes(client):
    made = client.customers.create({"name": "Ada", "customAttributes": {"n": 1e-7, "m": 0.00001}})
    assert client.customers.get(made["id"]) == made
    etag = f'"{made["updatedAt"]}"'
    assert client.customers.get(made["id"], if_none_match=etag) is None
    changed = client.customers.update(made["id"], {"company": "Engines"}, if_match=etag)
    assert client.customers.get(made["id"], if_none_match=etag) == changed
    assert changed["company"] == "Engines"
    with pytest.raises(ConflictError) as refused:
        client.customers.update(made["id"], {"company": None}, if_match=etag)
    assert refused.value.code == "version_mismatch"
    assert refused.value.request_id
    assert client.customers.get_many([made["id"], made["id"]]) == [changed]
    client.customers.delete(made["id"])
    with pytest.raises(NotFoundError):
        client.customers.get(made["id"])


class Endless(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(66):
                self.wfile.write(b" " * 2**20)
            self.wfile.write(b'{"object":"customer_export"}')
        except OSError:
            pass  # it was given up

    def log_message(self, *_):
        pass


def test_gives_up_an_answer_beyond_64_mib_unless_it_is_a_document():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Client(f"http://127.0.0.1:{server.server_port}", "dwk_x") as client:
        with pytest.raises(DeskwireError, match="more than 64 MiB") as refused:
            client.customers.get("a")
        assert refused.value.code == "unexpected_answer"
        assert client.customers.export_one("a") == {"object": "customer_export"}
    server.shutdown()
    server.server_close()


class Trickle(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b" ")
                time.sleep(0.02)
        except OSError:
            pass  # it was given up

    def log_message(self, *_):
        pass


def test_gives_up_an_answer_that_comes_byte_by_byte():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Trickle)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with Client(url, "dwk_x", timeout=0.3, retries=0) as client:
        with pytest.raises(ConnectionFailedError, match="in time"):
            client.customers.get("a")
    server.shutdown()
    server.server_close()


def test_a_view_of_flask_gives_up_a_body_without_a_length():
    app = Flask("test")
    app.add_url_rule("/hook", view_func=flask_view(Receiver(SECRET)), methods=["POST"])
    pieces = {"wsgi.input_terminated": True}
    for size, status in ((2**20 + 1, 413), (2**20, 400)):
        body = io.BytesIO(b"x" * size)
        answer = app.test_client().post("/hook", input_stream=body, environ_overrides=pieces)
        assert answer.status_code == status


def test_actions_and_optional_bodies(client):
    [id] = make(client, 1)
    times = {"startAt": "2026-12-01T09:00:00Z", "endAt": "2026-12-01T10:00:00Z"}
    booking = client.bookings.create(
        {"customerId": id, "title": "Visit", "timezone": "Europe/Berlin", **times}
    )
    assert client.bookings.reject(booking["id"])["status"] == "rejected"
    with pytest.raises(ConflictError) as refused:
        client.bookings.confirm(booking["id"])
    assert refused.value.code == "invalid_transition"


def test_errors_say_what_is_wrong_and_keep_the_invented_key(client):
    with pytest.raises(InvalidRequestError) as refused:
        client.tickets.create({"subject": ""})
    error = refused.value
    assert error.code == "validation_failed" and error.status == 422
    assert {one["pointer"] for one in error.errors} == {"/customerId", "/subject"}
    assert re.fullmatch(r"[0-9a-f-]{36}", error.idempotency_key)
    with Client(api_key="dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22") as other:
        with pytest.raises(AuthenticationError):
            other.organization.get()


def test_sends_what_it_is_given_or_nothing(client):
    made = client.customers.create({"name": "Ada", "customAttributes": {"seats": 5}})
    for lost in (float("nan"), float("inf"), 1e400):
        with pytest.raises(ValueError):
            client.customers.update(made["id"], {"customAttributes": {"seats": lost}})
    assert client.customers.get(made["id"]) == made


def test_a_filter_of_none_finds_what_has_none(client):
    [id] = make(client, 1)
    worker = client.teammates.create({"name": "Grace"})
    for assignee in (None, worker["id"]):
        client.tickets.create({"customerId": id, "subject": "S", "assigneeId": assignee})
    found = client.tickets.list(customerId=id, assigneeId=None).to_list()
    assert [one["assigneeId"] for one in found] == [None]


def test_events_and_the_inbox_go_on_by_themselves(client):
    [id] = make(client, 1)
    for n in range(3):
        conversation = client.conversations.create({"customerId": id, "channel": "chat"})
        words = {"direction": "inbound", "author": {"type": "customer"}, "body": f"Hello {n}"}
        client.messages.create({"conversationId": conversation["id"], **words})
    entries = client.inbox.list(customerId=id)
    assert len(entries.page(limit=2)["data"]) == 2
    assert [one["lastMessage"]["preview"] for one in entries] == ["Hello 0", "Hello 1", "Hello 2"]
    assert client.inbox.counts()["waiting"] >= 3
    created = client.events.list(types=["message.received"]).to_list()
    assert {"Hello 0", "Hello 1", "Hello 2"} <= {one["data"]["body"] for one in created}
    assert client.webhooks.public_keys(organization_id=made_by(client))["keys"]


def made_by(client):
    return client.organization.get()["id"]


def test_an_idempotency_key_repeats_no_work(client):
    first, again = (client.customers.create({"name": "Once"}, idempotency_key="k-1") for _ in "12")
    assert first == again


def test_lists_every_row_once_across_pages_of_one_moment(client):
    tag = f"t{random.random()}"
    wanted = set(make(client, 250, tags=[tag]) + make(client, 30, tags=[tag]))
    found = [row["id"] for row in client.customers.list(tag=tag)]
    assert len(found) == len(set(found)) and set(found) == wanted
    page = client.customers.list(tag=tag).page(limit=10, offset=5)
    assert [row["id"] for row in page.data] == found[5:15] and page.total == 280
    assert len(client.customers.list(tag=tag).to_list(limit=120)) == 120


def test_a_list_misses_nothing_while_rows_are_removed(client):
    tag = f"t{random.random()}"
    wanted = make(client, 230, tags=[tag])
    found = []
    for row in client.customers.list(tag=tag):
        found.append(row["id"])
        if len(found) in (100, 150):  # rows of the page before: what follows moves up
            for id in found[len(found) - 40 : len(found) - 20]:
                client.customers.delete(id)
    assert sorted(found) == sorted(wanted)


def test_a_sync_ends_with_a_proof(client):
    rows = {}
    for page in client.changes.sync(limit=50):
        apply(rows, page)
    assert page.checkpoint and is_exact(rows.values(), page.checkpoint)
    client.customers.delete(make(client, 1)[0])
    make(client, 3)
    for page in client.changes.sync(cursor=page.cursor):
        apply(rows, page)
    assert is_exact(rows.values(), page.checkpoint)
    one = next(iter(rows))
    rows[one] = {**rows[one], "object": rows[one]["object"], "name": "changed here"}
    assert not is_exact(rows.values(), page.checkpoint)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NO_PROXY", "fd00::/8"),
        ("ALL_PROXY", "socks5://127.0.0.1:1"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(monkeypatch, name, value):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv(name, value)
    with pytest.raises(DeskwireError) as refused:
        Client("http://127.0.0.1:2", "dwk_x")
    assert refused.value.code == "invalid_environment"
    assert name in refused.value.detail


def test_an_export_ends_with_a_proof_and_a_cursor(client):
    made = client.customers.create({"name": "one\u2028line\u0085still"})
    rows = {}
    export = client.customers.export()
    for change in export:
        rows[change.row["id"]] = change.row
    assert rows[made["id"]] == made
    assert is_exact(rows.values(), {"customer": export.checkpoint})
    [page] = client.customers.sync(cursor=export.cursor)
    assert page.changes == []
    with pytest.raises(InvalidRequestError):
        list(client.customers.sync(cursor="nothing"))


def test_an_export_that_breaks_off_is_no_whole_one():
    line = json.dumps({"object": "customer", "id": "a", "updatedAt": "b"}).encode() + b"\n"
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n"
    for more in (b"connection: close\r\n\r\n" + line, b"content-length: 999\r\n\r\n" + line):
        server = Scripted(head + more)
        with Client(server.url, "dwk_x") as client, pytest.raises(ConnectionFailedError):
            list(client.customers.export())


def test_the_async_client_does_the_same():
    async def main():
        async with AsyncClient() as client:
            await client.customers.create({"name": "Async"})
            names = [row["name"] async for row in client.customers.list(q="Async")]
            assert "Async" in names
            rows, cursor = {}, None
            async for page in client.customers.sync():
                apply(rows, page)
                cursor = page.cursor
            assert is_exact(rows.values(), page.checkpoint)
            # By waiting, and by a stream of events.
            for following in (client.customers.follow(cursor=cursor), client.changes.follow()):
                page = await anext_of(following)
                while page.has_more:
                    page = await anext_of(following)
                assert page.checkpoint
                news = asyncio.ensure_future(anext_of(following))
                made = await client.customers.create({"name": "News"})
                page = await asyncio.wait_for(news, 30)
                assert [change.row["id"] for change in page.changes] == [made["id"]]
                await following.aclose()

    async def anext_of(pages):
        async for page in pages:
            return page

    asyncio.run(main())


class Scripted(threading.Thread):
    """Answers requests with these bytes, one after the other, and keeps what it got."""

    def __init__(self, *answers):
        super().__init__(daemon=True)
        self.answers, self.seen = answers, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.start()

    def run(self):
        for answer in self.answers:
            connection, _ = self.socket.accept()
            self.seen.append(connection.recv(65536).decode())
            connection.sendall(answer)
            connection.close()


def http_answer(status, body, headers=""):
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(data)}\r\nconnection: close\r\n{headers}\r\n"
    return head.encode() + data


def test_a_post_is_repeated_with_its_key_and_a_patch_in_doubt_is_not():
    busy = http_answer(503, {"code": "unavailable", "detail": "d"}, "retry-after: 0\r\n")
    server = Scripted(b"", busy, http_answer(201, {"id": "x"}))
    with Client(server.url, "dwk_x") as client:
        assert client.customers.create({"name": "a"}) == {"id": "x"}
    keys = {re.search(r"idempotency-key: (\S+)", text)[1] for text in server.seen}
    assert len(server.seen) == 3 and len(keys) == 1
    assert "user-agent: deskwire-python/" in server.seen[0]
    server = Scripted(b"")
    with Client(server.url, "dwk_x") as client, pytest.raises(ConnectionFailedError):
        client.customers.update("x", {"name": "a"})
    with Client("http://127.0.0.1:1", "dwk_x", retries=0) as client:
        with pytest.raises(ConnectionFailedError, match="Nothing could be sent to 127.0.0.1:1"):
            client.organization.get()


CLIENTS = json.loads((here.parents[2] / "conformance" / "clients.json").read_text())


@pytest.mark.parametrize("seconds", CLIENTS["timeouts"]["refused"])
def test_a_time_limit_is_above_0(seconds):
    with pytest.raises(ValueError, match="above 0"):
        Client("http://h", "dwk_x", timeout=float(seconds))
    with Client("http://h", "dwk_x") as client, pytest.raises(ValueError, match="above 0"):
        client.organization.get(timeout=float(seconds))


def unfinished(answer, connection):
    """Answers as a case says, and never to the end."""
    connection.recv(65536)
    try:
        if answer == "half of its body":
            connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":')
        if answer == "a byte now and then":
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b" ")
                time.sleep(0.01)
        connection.recv(1)  # until it is given up
    except OSError:
        pass
    connection.close()


class Listener(threading.Thread):
    """Passes each connection to `answer`, in a thread of its own, and counts them."""

    def __init__(self, answer):
        super().__init__(daemon=True)
        self.answer, self.count = answer, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.start()

    def run(self):
        while True:
            connection, _ = self.socket.accept()
            self.count += 1
            threading.Thread(target=self.answer, args=[connection], daemon=True).start()


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
@pytest.mark.parametrize("case", CLIENTS["timeouts"]["givenUp"])
def test_gives_up_at_the_time_limit_and_repeats_what_is_safe(case, method):
    server = Listener(lambda connection: unfinished(case["answer"], connection))
    with Client(server.url, "dwk_x", timeout=0.1, retries=1) as client:
        with pytest.raises(ConnectionFailedError) as failed:
            client.request(method, "customers")
    assert (failed.value.code, failed.value.status) == ("connection_failed", 0)
    assert server.count == (2 if method in case["repeated"] else 1)


def test_adds_to_the_time_limit_what_the_service_may_wait():
    page = {"data": [], "pagination": {"hasMore": False, "nextCursor": "c"}}

    def late(connection):
        connection.recv(65536)
        time.sleep(0.2)
        connection.sendall(http_answer(200, page))
        connection.close()

    with Client(Listener(late).url, "dwk_x", timeout=0.1, retries=0) as client:
        assert client.events.list().page(wait=60) == page
        with pytest.raises(ConnectionFailedError):
            client.events.list().page()
    with Client(Listener(late).url, "dwk_x", timeout=float("inf")) as client:
        assert client.events.list().page() == page


@pytest.mark.parametrize("case", CLIENTS["proxies"])
def test_goes_through_the_proxy_of_the_environment(monkeypatch, case):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    proxy = Scripted(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
    for name, value in case["environment"].items():
        monkeypatch.setenv(name, proxy.url if value == "PROXY" else value)
    with Client(case["to"], "dwk_x", retries=0) as client, pytest.raises(ConnectionFailedError):
        client.organization.get()
    assert len(proxy.seen) == case["isUsed"]


@pytest.mark.parametrize("count", [1, 4])
def test_a_few_rows_are_fetched_and_no_more(count):
    rows = [{"id": f"{n}", "createdAt": f"2026-01-0{9 - n}T00:00:00.000Z"} for n in range(count)]
    seen = []

    def answer(request):
        seen.append(dict(request.url.params))
        return httpx.Response(200, json={"data": rows, "pagination": {"hasMore": True, "nextCursor": "c"}})

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        client = Client("http://h", "dwk_x", http_client=http)
        assert client.customers.list().to_list(limit=count) == rows
        assert client.events.list().to_list(limit=count) == rows
        assert client.customers.list().to_list(limit=-1) == []
    assert [int(one["limit"]) for one in seen] == [max(2, count), count]


def test_what_cannot_be_applied_is_refused_by_name():
    with Client("http://h", "dwk_x") as client:
        for name in ("limit", "offset", "cursor"):
            for resource in (client.tickets, client.events):
                with pytest.raises(TypeError, match=f"no filter {name}"):
                    resource.list(**{name: 5})
        for value in (datetime.now(), [1], object()):
            with pytest.raises(TypeError, match="^createdAfter must be a text"):
                client.tickets.list(createdAfter=value).page()
        for id in (None, 5, "", ".."):
            with pytest.raises(ValueError, match="an id is a UUID"):
                client.tickets.get(id)


def operations():
    document = json.loads((here.parents[2] / "openapi.json").read_text())
    named = [
        (*one["x-client"].split("."), verb.upper(), path)
        for path, verbs in document["paths"].items()
        for verb, one in verbs.items()
        if "x-client" in one and not one["x-client"].startswith("changes.")
    ]
    admin = "/admin/v1/organizations"
    return named + [
        ("organizations", name, verb, f"{admin}{rest}")
        for name, verb, rest in [
            ("list", "GET", ""),
            ("create", "POST", ""),
            ("get", "GET", "/{id}"),
            ("delete", "DELETE", "/{id}"),
            ("suspend", "POST", "/{id}/suspend"),
            ("resume", "POST", "/{id}/resume"),
            ("createKey", "POST", "/{id}/keys"),
            ("move", "POST", "/{id}/move"),
        ]
    ]


def snake(name):
    words = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
    return f"{words}_" if words in ("import", "from") else words


@pytest.mark.parametrize(("resource", "name", "verb", "path"), operations())
def test_each_method_makes_the_call_that_it_is_named_for(resource, name, verb, path):
    seen = []

    def answer(request):
        seen.append((request.method, request.url.raw_path.decode().split("?")[0]))
        return httpx.Response(200, json={"data": [], "pagination": {"hasMore": False, "total": 0}})

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        client = (AdminClient if resource == "organizations" else Client)(
            "http://h", "dwk_x", http_client=http
        )
        method = getattr(getattr(client, snake(resource)), snake(name))
        wanted = [
            one
            for one in inspect.signature(method).parameters.values()
            if one.kind == one.POSITIONAL_OR_KEYWORD and one.default is one.empty
        ]
        ids = iter(["0 /", "1 /"])
        sent = {"body": {}, "items": []}
        result = method(*(sent[one.name] if one.name in sent else next(ids) for one in wanted))
        if hasattr(result, "__next__") or hasattr(result, "__iter__") and not isinstance(result, dict):
            with contextlib.suppress(ConnectionFailedError, KeyError):
                list(result)
    encoded = iter(["0%20%2F", "1%20%2F"])
    assert seen == [(verb, re.sub(r"{\w+}", lambda _: next(encoded), path))]


def test_a_follower_that_is_killed_at_any_moment_resumes_without_a_difference(client, tmp_path):
    program, copy = str(here / "follower.py"), str(tmp_path / "copy.db")
    chance, stop = random.Random(7), threading.Event()

    def load():
        with Client() as writer:
            while not stop.is_set():
                ids = make(writer, 20)
                for id in ids[:7]:
                    writer.customers.delete(id)
                writer.customers.update(ids[9], {"company": "changed"})

    writing = threading.Thread(target=load)
    writing.start()
    try:
        for _ in range(12):
            child = subprocess.Popen(
                [sys.executable, program, copy, "follow"], stdout=subprocess.PIPE, text=True
            )
            for _ in range(chance.randrange(1, 12)):
                assert child.stdout.readline()
            time.sleep(chance.random() / 20)  # anywhere between two pages
            child.send_signal(signal.SIGKILL)
            child.communicate()
    finally:
        stop.set()
        writing.join()
    assert subprocess.run([sys.executable, program, copy, "once"]).returncode == 0


def fastapi_server(receiver):
    app = FastAPI()
    app.add_route("/hook", asgi(receiver), methods=["POST"])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)

    def end():
        server.should_exit = True
        thread.join()

    return server.servers[0].sockets[0].getsockname()[1], end


def flask_server(receiver):
    app = Flask("test")
    app.add_url_rule("/hook", view_func=flask_view(receiver), methods=["POST"])
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    return server.server_port, lambda: (server.shutdown(), thread.join())


@pytest.mark.parametrize("start", [fastapi_server, flask_server])
def test_a_receiver_in_a_framework(start):
    receiver, got = Receiver(SECRET), []

    @receiver.on("ticket.created")
    async def work(event):
        got.append(event["data"])

    envelope = {"id": "e", "type": "ticket.created", "apiVersion": "v1", "createdAt": "c"}
    body = json.dumps({**envelope, "organizationId": "o", "data": {"subject": "ü"}}).encode()
    signed = sign(body, SECRET, event_id="e")
    standard = {name: value for name, value in signed.items() if name.startswith("webhook-")}
    port, end = start(receiver)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as http:
            for headers, sent, expected in [
                (signed, body, 204),
                (standard, body, 204),
                (signed, body + b" ", 400),
                ({}, body, 400),
                (signed, b"x" * 2_000_000, 413),
            ]:
                assert http.post("/hook", content=sent, headers=headers).status_code == expected
    finally:
        end()
    assert got == [{"subject": "ü"}]


def test_the_readme_runs(tmp_path):
    shown = re.findall(r"```python\n(.*?)```", (here.parent / "README.md").read_text(), re.S)
    environment = {**os.environ, "DESKWIRE_WEBHOOK_SECRET": SECRET}

    def run(program):
        words = [sys.executable, "-c", program]
        return subprocess.check_output(words, cwd=tmp_path, env=environment, text=True)

    assert len(shown) == 3
    assert run(shown[0]) == "The engine halts\n"
    assert run(shown[1]) == run(shown[1]) == "exact: True\n"
    assert run(shown[2]) == ""
