"""Follows the stream into an SQLite file until it is killed, or has caught up if it is told to."""

import sys

from deskwire import Client, SqliteCopy

path, how = sys.argv[1:]
with Client() as client, SqliteCopy(path) as copy:
    read = client.changes.sync if how == "once" else client.changes.follow
    for page in read(cursor=copy.cursor, limit=7):
        copy.apply(page)
        print(len(page.changes), flush=True)
        if how == "once" and page.checkpoint:
            sys.exit(0 if copy.is_exact(page.checkpoint) else 1)
