#!/usr/bin/env python3
"""Compares client.py with `privatemail query`, for examples/run.sh.

    compare.py PRIVATEMAIL SERVER rows.npy names.txt [PID model grown.model]

Errors of scores are random, so that rows which are nearly as far may change places, also between two
runs of the same client. How far they may be off is in the section "Certificate" of docs/sealed.md. With
PID the model of the server is replaced by one with more rows after the client has its hint.
"""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

import client
import numpy as np

K = 8


def bound(g):
    """Returns how far a squared distance may be off."""
    error = 10 * math.sqrt(6.4066**2 + 128**2) * math.sqrt(g.most * g.m) + math.sqrt(g.most * g.d) / 2
    return 2 * error / (g.kappa * g.S) + g.unit // 2 / g.S**2


def compare(ids, distances, want_ids, want_distances, allowed):
    for ours, squared, theirs, want in zip(ids, distances**2, want_ids, want_distances**2):
        scale = allowed * max(1, want[-1])
        assert (np.abs(squared - want) <= scale).all(), "a distance is too far off"
        known = dict(zip(theirs, want))
        for row, d in zip(ours, squared):  # a row missing in the other list is not nearer than its last
            assert d >= want[-1] - scale if row not in known else abs(d - known[row]) <= scale, "a row is in the wrong place"
    same = np.mean([len(set(a) & set(b)) / K for a, b in zip(ids, want_ids)])
    assert same >= .9, f"only {same} of the rows are the same"
    return same


def grow(server, pid, model, grown):
    def version():
        body = client.Body(client.IDS, server.ask("/v1/sealed/ids"))
        body.take(32)
        return body.numbers(1)

    before = version()
    os.replace(grown, model)
    os.kill(int(pid), signal.SIGHUP)
    for _ in range(600):
        if version() != before:
            return
        time.sleep(.1)
    sys.exit("the gallery does not grow")


def main():
    program, address, path, names, *growth = sys.argv[1:]
    server = client.Server(address)
    gallery = client.Gallery(server)
    if growth:
        grow(server, *growth)
    rows = np.load(path)
    ids, distances = gallery.search(rows, K)
    fetched = [] if growth else [client.Records(server, gallery).fetch(list(row) + [-1]) for row in ids]
    with tempfile.TemporaryDirectory() as folder:
        out, far, told = (os.path.join(folder, name) for name in ("ids.npy", "d.npy", "records.jsonl"))
        fetch = [] if growth else ["-fetch", "-records-out", told]
        subprocess.run([program, "query", "sealed", address, path, "-epoch", gallery.epoch.hex(), "-k", str(K), "-out", out, "-distances-out", far, *fetch, "-cache", "none", "-quiet"], check=True, stdout=subprocess.DEVNULL)
        theirs = []
        if fetch:
            with open(told, encoding="utf-8") as lines:
                theirs = [json.loads(line) for line in lines]
        same = compare(ids, distances, np.load(out), np.load(far), 2 * bound(gallery) + 1e-5)
    with open(names, "rb") as lines:
        names = lines.read().splitlines()
    for row, records in zip(ids, fetched):
        assert records == [names[i] for i in row] + [None], "a record is another one"
    for q, number in ((line["query"], line["row"]) for line in theirs):
        assert client.report(q, number, names[number]) in theirs, "a record is written in another way"
    print(f"sealed client: {len(ids)} queries at version {gallery.version}, {same:.3f} of the rows are those of privatemail query, {sum(map(len, fetched))} records fetched")


main()
