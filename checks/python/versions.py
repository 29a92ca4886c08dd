"""Runs in WebAssembly, under a Python that the machine lacks: imports all, judges what needs no thread and no socket."""

import sys
import types
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [f"/repository/packages/sdk-python/{part}" for part in ("test", "src")] + ["/site"]


def stand_in(name):
    """These builds of Python have no TLS and no SQLite; both are imported, and not used here."""
    try:
        __import__(name)
    except ImportError:
        module = sys.modules[name] = types.ModuleType(name)
        module.__getattr__ = lambda member: type(member, (Exception,), {})


for name in ("ssl", "sqlite3"):
    stand_in(name)

import httpx  # noqa: E402
import test_pure  # noqa: E402

import deskwire  # noqa: E402
from deskwire import receiver  # noqa: E402

tests = [
    test
    for group in (test_pure.Signatures, test_pure.Proof, test_pure.Calls)
    for test in unittest.defaultTestLoader.loadTestsFromTestCase(group)
    if "sqlite" not in test.id()
]
result = unittest.TextTestRunner(stream=sys.stderr).run(unittest.TestSuite(tests))
assert result.wasSuccessful() and result.testsRun > 10

row = {"id": "a", "createdAt": "2026-01-01T00:00:00.000Z"}
page = {"data": [row], "pagination": {"hasMore": False, "total": 1, "limit": 20, "offset": 0}}
transport = httpx.MockTransport(lambda request: httpx.Response(200, json=page))
with deskwire.Client("http://h", "dwk_x", http_client=httpx.Client(transport=transport)) as client:
    assert client.customers.list().to_list(limit=5) == [row]
    assert client.customers.list().page().data == [row]
assert receiver.Receiver("whsec_x").receive(b"{}", {}).status == 400
print(sys.version.split()[0])
