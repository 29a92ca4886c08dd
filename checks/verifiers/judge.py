"""Says of each vector on standard input whether the package `standardwebhooks` accepts it."""

import base64
import json
import sys

from standardwebhooks.webhooks import Webhook


def accepts(vector: dict) -> bool:
    for secret in vector["secrets"]:
        try:
            Webhook(secret).verify(base64.b64decode(vector["body"]), vector["headers"], json_parse=False)
            return True
        except Exception:
            pass
    return False


for vector in json.load(sys.stdin):
    print("accept" if accepts(vector) else "reject")
