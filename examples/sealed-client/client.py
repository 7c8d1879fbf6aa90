#!/usr/bin/env python3
"""A client of mode sealed in numpy. It follows docs/sealed.md and uses no code of ours.

    client.py http://127.0.0.1:8480 rows.npy -k 8 -out ids.npy -distances-out d.npy -records-out records.jsonl

It shows how the scheme works. It follows the rules of the page except for one: its time depends on
rows and secrets, as always in numpy. So it omits the ranges of the page, which serve that rule. Use
`privatemail query` for real queries.
"""

import argparse
import base64
import hashlib
import http.client
import json
import math
import secrets
import struct
import time
import urllib.parse
import zlib

import numpy as np

N = 1408  # words of a secret
ROOM = 2**31 - 1025  # the most bytes of the numbers of a message
PADDING = 2**32 - 1  # the row number of an empty slot, and of a dummy
MANIFEST, HINT, IDS, REQUEST, ANSWER, CHANGES, RECORDS = range(32, 39)
ERRORS = np.array([int(entry, 16) for entry in """
    07f882307a2351c2 17b81c86279a0493 26e7085a6b4e482e 3530437a6e027aa6 424e8cb8da802e11
    4e1019ad219d0ff2 5858362c44a3a432 611ecf6d134563d8 686e346f1427a81a 6e5f894b68b59b55
    731684cd104b1d68 76bd0e5b415d5088 797f3a92583fb828 7b87ff06496e96e0 7cfecada9f7de122
    7e060a59836975f4 7eba7d32e7298dd0 7f33343080ab1faa 7f8203c3fa325d18 7fb43ab2f16a7a73
    7fd3741c34b0dcd5 7fe666e79ce31bf1 7ff19fbf9677a3d4 7ff81c365cdc5ee5 7ffbc4d6162026fe
    7ffdc871a3825cfc 7ffedd73959f7661 7fff6eb0af52f167 7fffb901f6aee5ca 7fffde1eb737e2e6
    7ffff034f37e63f4 7ffff8cf3307ccc4 7ffffccd6d3cf7d2 7ffffe9c7f313ed9 7fffff6937f6d384
    7fffffc18bf95d2e 7fffffe6bd2fb80c 7ffffff605c419b4 7ffffffc26deea7c 7ffffffe8cff85a0
    7fffffff7792dad4 7fffffffcf043d41 7fffffffeed3fb9b 7ffffffffa1f561c 7ffffffffe092ba6
    7fffffffff5bf15e 7fffffffffcbbde2 7fffffffffefbf9e 7ffffffffffb10e3 7ffffffffffe899e
    7fffffffffff93ab 7fffffffffffe166 7ffffffffffff790 7ffffffffffffdba 7fffffffffffff67
    7fffffffffffffd9 7ffffffffffffff6 7ffffffffffffffe 7fffffffffffffff""".split()], np.uint64)


class Refused(Exception):
    """Something public is invalid. Decrypted data never raises it."""


def check(holds, what):
    if not holds:
        raise Refused(what)


# Streams: AES-256 in counter mode.

def _tables():
    power, log, x = [0] * 255, [0] * 256, 1
    for i in range(255):  # powers of 3 in the field of AES
        power[i], log[x] = x, i
        x ^= (x << 1) ^ (0x11B if x & 0x80 else 0)
    box = []
    for v in range(256):
        b = power[-log[v] % 255] if v else 0
        box.append(b ^ _turn(b, 1) ^ _turn(b, 2) ^ _turn(b, 3) ^ _turn(b, 4) ^ 0x63)
    double = [(v << 1) ^ (0x11B if v & 0x80 else 0) for v in range(256)]
    return np.array(box, np.uint8), np.array(double, np.uint8)


def _turn(b, n):
    return (b << n | b >> (8 - n)) & 0xFF


BOX, DOUBLE = _tables()
SHIFTED = np.array([0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11])


def round_keys(key):
    words = list(np.frombuffer(key, np.uint8).reshape(8, 4))
    constant = 1
    for i in range(8, 60):
        word = words[-1]
        if i % 8 == 0:
            word = BOX[np.roll(word, -1)] ^ np.array([constant, 0, 0, 0], np.uint8)
            constant *= 2
        elif i % 8 == 4:
            word = BOX[word]
        words.append(words[-8] ^ word)
    return np.concatenate(words).reshape(15, 16)


def stream(key, first, count):
    """Returns count blocks of the stream from block first on, as words."""
    keys = round_keys(key)
    state = np.zeros((count, 16), np.uint8)
    state[:, 8:] = (first + np.arange(count, dtype=">u8")).astype(">u8").view(np.uint8).reshape(count, 8)
    state ^= keys[0]
    for key in keys[1:14]:
        a = BOX[state][:, SHIFTED].reshape(count, 4, 4)
        b = np.roll(a, -1, axis=2)
        mixed = DOUBLE[a ^ b] ^ b ^ np.roll(a, -2, axis=2) ^ np.roll(a, -3, axis=2)
        state = mixed.reshape(count, 16) ^ key
    return np.ascontiguousarray(BOX[state][:, SHIFTED] ^ keys[14]).view("<u4").ravel()


# Frames.

def _castagnoli():
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = table >> 1 ^ np.where(table & 1, np.uint32(0x82F63B78), np.uint32(0))
    return table.tolist()


CASTAGNOLI = _castagnoli()


def crc_pair(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CASTAGNOLI[crc & 0xFF ^ byte]
    return struct.pack("<II", zlib.crc32(data), crc ^ 0xFFFFFFFF)


def checksum(kind, data):
    return hashlib.sha256(data).digest() if kind in (MANIFEST, RECORDS) else crc_pair(data)


def frame(kind, body):
    whole = b"PMW1" + struct.pack("<HHQ", kind, 1, len(body)) + body
    return whole + checksum(kind, whole)


class Body:
    """Reads the fields of a frame one after the other."""

    def __init__(self, kind, message):
        size = 32 if kind in (MANIFEST, RECORDS) else 8
        check(len(message) >= 16 + size, "a frame that is too short")
        check(message[:16] == b"PMW1" + struct.pack("<HHQ", kind, 1, len(message) - 16 - size), "the head of a frame")
        self.hash = message[-size:]
        check(checksum(kind, message[:-size]) == self.hash, "a checksum")
        self.left = message[16:-size]

    def take(self, n):
        check(n <= len(self.left), "a frame that is too short")
        taken, self.left = self.left[:n], self.left[n:]
        return taken

    def numbers(self, n):
        return struct.unpack(f"<{n}Q", self.take(8 * n))

    def list(self, kind, count=None):
        n, = self.numbers(1)
        check(count is None or n == count, "the length of a list")
        return np.frombuffer(self.take(n * np.dtype(kind).itemsize), kind)

    def rising(self):
        numbers = self.list("<u4")
        check((numbers[1:] > numbers[:-1]).all(), "numbers that do not rise")
        return numbers

    def end(self):
        check(not self.left, "a frame that is too long")


# The service.

class Server:
    def __init__(self, address):
        at = urllib.parse.urlsplit(address)
        self.kind = http.client.HTTPSConnection if at.scheme == "https" else http.client.HTTPConnection
        self.host = at.netloc

    def ask(self, path, body=None, tries=6):
        """Returns the answer. Each try sends the same bytes."""
        headers = {"Accept-Encoding": "identity"}
        if body:
            headers["Content-Type"] = "application/octet-stream"
        for _ in range(tries):
            connection = self.kind(self.host, timeout=60)
            connection.request("POST" if body else "GET", path, body, headers)
            response = connection.getresponse()
            answer = response.read()
            connection.close()
            if response.status == 200:
                return answer
            check(response.status in (429, 503), f"{path}: status {response.status}")
            time.sleep(min(60, int(response.headers.get("Retry-After", 1))))
        raise Refused(f"{path}: the server is busy")


# The encryption.

def public_matrix(epoch, columns):
    key = hashlib.sha256(b"privatemail sealed A 1" + epoch).digest()
    return np.concatenate([stream(key, row * N // 4, min(64, columns - row) * N // 4).reshape(-1, N) for row in range(0, columns, 64)])


class Ciphertexts:
    """Encrypts plaintexts, each under its own secret, which is used only once."""

    def __init__(self, epoch, A, plain, width):
        count, columns = plain.shape
        keys = [secrets.token_bytes(32) for _ in range(count)]
        self.epoch, self.count = epoch, count
        self.secrets = np.stack([stream(key, 0, N // 4) for key in keys])
        u = times(self.secrets, A)
        for i, key in enumerate(keys):
            w = stream(key, N // 4, (columns + 1) // 2).view("<u8")[:columns]
            size = (ERRORS[:, None] <= w >> np.uint64(1)).sum(axis=0).astype(np.uint32)
            u[i] += np.where(w & np.uint64(1), -size, size) + plain[i]
        if width == 3:
            u = u + np.uint32(127) + (u >> 8 & 1) >> 8
        sent = np.ascontiguousarray(u, "<u4").view(np.uint8).reshape(count, columns, 4)[:, :, :width].tobytes()
        self.request = frame(REQUEST, epoch + struct.pack("<QQQQ", count, columns, width, len(sent)) + sent)

    def opened(self, answer, rows):
        """Returns the version and the words of an answer after all checks, without decrypting."""
        body = Body(ANSWER, answer)
        check(body.take(32) == self.epoch, "an answer of another epoch")
        version, count, has = body.numbers(3)
        check((count, has) == (self.count, rows), "an answer to another request")
        words = body.list("<u4", count * rows).reshape(count, rows)
        body.end()
        return version, words

    def decrypt(self, words, hint):
        return words - times(self.secrets, hint)


def times(secrets, rows):
    """Multiplies secrets by rows of words, modulo 2^32."""
    return np.stack([np.einsum("ij,j->i", rows, s) for s in secrets])


# The gallery.

def open_hint(message, epoch, rows):
    body = Body(HINT, message)
    check(body.take(32) == epoch, "a hint of another epoch")
    version, has = body.numbers(2)
    check(has == rows, "the rows of a hint")
    words = body.list("<u4", rows * N).reshape(rows, N).copy()
    names = body.rising()
    norms = body.list("<i2", len(names))
    body.end()
    return version, words, names, norms


class Gallery:
    def __init__(self, server, epoch=None):
        self.server = server
        body = Body(MANIFEST, server.ask("/v1/sealed/manifest"))
        self.epoch = body.hash
        check(epoch in (None, self.epoch.hex()), "the server has another epoch")
        self.rows, self.m, self.L, self.d, self.P = body.numbers(5)
        self.S, = struct.unpack("<d", body.take(8))
        self.kappa, self.most, self.base, self.unit = body.numbers(4)
        self.map_hash = body.take(32)
        self.centres = body.list("<f4", self.m * self.d).reshape(self.m, self.d).astype(float)
        self.norms = body.list("<i2", self.m * self.L).copy()
        body.end()
        self.check_manifest()
        at = "?epoch=" + self.epoch.hex()
        self.map = None
        if any(self.map_hash):
            text = server.ask("/v1/map" + at)
            check(hashlib.sha256(text).digest() == self.map_hash, "the hash of the map")
            self.map = json.loads(text)
        self.A = public_matrix(self.epoch, self.m * self.d)
        self.version, self.hint, names, norms = open_hint(server.ask("/v1/sealed/hint" + at), self.epoch, self.L)
        self.set_norms(names, norms)
        body = Body(IDS, server.ask("/v1/sealed/ids" + at))
        check(body.take(32) == self.epoch and body.numbers(1) == (self.version,), "row numbers of another version: start again")
        self.ids = body.list("<u4", self.m * self.L).copy()
        body.end()

    def check_manifest(self):
        M, most = self.most, 127**2 * 2**16
        check(0 < self.P <= min(self.m, 4096) and self.m <= 2**20 and 0 < self.m * self.L < 2**31, "cells of the manifest")
        check(0 < self.d <= 2**16 and self.m * self.d <= 2**26, "columns of the manifest")
        check(max(3 * self.P * self.m * self.d, 4 * self.P * self.L, 4 * N * self.L, 4 * self.m * self.L) <= ROOM, "a message that is too long")
        check(1e-100 <= self.S <= 1e100 and 1 <= M <= most and 1 <= self.unit <= most and self.base <= most, "scales of the manifest")
        check(np.isfinite(self.centres).all() and (self.norms != -2**15).sum() == self.rows, "centres or norms of the manifest")
        self.check_norms(self.norms)
        room = 2**31 - 1 - 12 * math.sqrt(6.4066**2 + 128**2) * math.sqrt(M * self.m) - math.sqrt(M * self.d) / 2
        check(self.kappa > 0 and self.kappa == math.floor(min(room / math.sqrt(M), 2**31 - 1)), "kappa")

    def check_norms(self, norms):
        squared = self.base + self.unit * norms[norms != -2**15].astype(np.int64)
        check(((squared >= -self.unit) & (squared <= self.most + self.unit)).all(), "norms")

    def set_norms(self, names, norms):
        check((names < self.m * self.L).all(), "a slot that does not exist")
        self.check_norms(norms)
        self.norms[names] = norms

    def go_to(self, version):
        """Applies the changes up to the version of an answer."""
        if version == self.version:
            return
        body = Body(CHANGES, self.server.ask(f"/v1/sealed/changes?epoch={self.epoch.hex()}&since={self.version}&to={version}"))
        check(body.take(32) == self.epoch and body.numbers(2) == (self.version, version), "changes between other versions")
        rows = body.rising()
        words = body.list("<u4", len(rows) * N).reshape(-1, N)
        names = body.rising()
        norms, ids = body.list("<i2", len(names)), body.list("<u4", len(names))
        body.end()
        check((rows < self.L).all(), "a row of the hint that does not exist")
        self.set_norms(names, norms)
        self.hint[rows], self.ids[names], self.version = words, ids, version

    def place(self, rows):
        """Applies the map."""
        z, m = rows.astype(float), self.map
        if m is None:
            return z
        check(z.shape[1] == m["dim"], "rows of another length than the map takes")
        if m.get("root"):
            z = np.sign(z) * np.sqrt(np.abs(z))
        if m.get("unit_rows"):
            z = unit(z)
        z = z - np.array(m.get("mean", 0.0))
        if "matrix" in m:
            z = z @ np.array(m["matrix"]).reshape(m["dim"], m["columns"])
        else:
            z = z * np.array(m.get("scale", 1.0))
        return unit(z) if m.get("unit_images") else z

    def search(self, rows, k):
        """Returns row numbers and distances, or -1 and infinity if there are fewer than k. All rows
        are asked before the first answer is decrypted."""
        z = self.place(rows)
        check(z.shape[1] == self.d, "rows of another length than those of the gallery")
        z = np.where(np.isfinite(z).all(axis=1, keepdims=True), z, 0)
        words = np.rint(self.kappa * rotate(unit(z))).astype(np.int64).astype(np.uint32)
        near = (self.centres**2).sum(axis=1) - 2 * z @ self.centres.T
        cells = np.argsort(near, axis=1, kind="stable")[:, :self.P]
        asked = []
        for i in range(len(z)):
            plain = np.zeros((self.P, self.m, self.d), np.uint32)
            plain[np.arange(self.P), cells[i]] = words[i]
            query = Ciphertexts(self.epoch, self.A, plain.reshape(self.P, -1), 3)
            asked.append((query, query.opened(self.server.ask("/v1/sealed/ask", query.request), self.L)))
        ids, distances = np.full((len(z), k), -1), np.full((len(z), k), np.inf)
        for i, (query, (version, answer)) in enumerate(asked):
            self.go_to(version)
            v = query.decrypt(answer, self.hint).view(np.int32)
            names = cells[i][:, None] * self.L + np.arange(self.L)
            length = math.sqrt((z[i]**2).sum())
            norms = self.norms[names]
            squared = ((self.base + self.unit * norms.astype(np.int64)) / self.S - 2 * length * v / self.kappa) / self.S + length**2
            squared, names = np.where(norms == -2**15, np.inf, squared).ravel(), names.ravel()
            first = np.lexsort((names, squared))[:k]
            first = first[np.isfinite(squared[first])]
            ids[i, :len(first)] = self.ids[names[first]]
            distances[i, :len(first)] = np.sqrt(np.maximum(squared[first], 0))
        return ids, distances


def unit(z):
    length = np.sqrt((z**2).sum(axis=1, keepdims=True))
    return z / np.where(length == 0, 1, length)


def rotate(z):
    z, d, state = z.copy(), z.shape[1], 0x707269766D61696C
    p = 2 ** (d.bit_length() - 1)
    for part in (slice(0, p), slice(d - p, d)):
        for j in range(d):
            if j % 64 == 0:  # the next word of SplitMix64
                state = state + 0x9E3779B97F4A7C15 & 2**64 - 1
                w = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & 2**64 - 1
                w = (w ^ w >> 27) * 0x94D049BB133111EB & 2**64 - 1
                w ^= w >> 31
            if w >> j % 64 & 1:
                z[:, j] = -z[:, j]
        v, half = z[:, part].copy(), 1
        while half < p:
            pairs = v.reshape(len(v), -1, 2, half)
            v = np.stack((pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), axis=2).reshape(len(v), p)
            half *= 2
        z[:, part] = v / math.sqrt(p)
    return z


# Records.

class Records:
    def __init__(self, server, gallery):
        self.server = server
        body = Body(RECORDS, server.ask("/v1/sealed/records/manifest"))
        self.epoch = body.hash
        check(body.take(32) == gallery.epoch, "records of another gallery")
        self.count, self.B, self.C = body.numbers(3)
        body.take(32)
        body.end()
        check(self.count > 0 and 2 <= self.B <= 4098 and self.C > 0, "sizes of the records")
        self.columns = -(-self.count // self.C)
        check(self.columns <= 2**19 and self.count < 2**31 and 4 * N * self.C * self.B <= ROOM, "the matrix of the records")
        self.A = public_matrix(self.epoch, self.columns)
        version, self.hint, names, _ = open_hint(server.ask("/v1/sealed/records/hint?epoch=" + self.epoch.hex()), self.epoch, self.B * self.C)
        check(version == 0 and not len(names), "a hint of records")

    def fetch(self, ids):
        """Returns the records of row numbers, or None if there is none. It always sends one
        ciphertext per number."""
        found = []
        for lo in range(0, len(ids), 64):
            part = np.asarray(ids[lo:lo + 64], np.int64)
            there = (0 <= part) & (part < self.count)
            plain = np.zeros((len(part), self.columns), np.uint32)
            plain[there, part[there] // self.C] = 2**24
            request = Ciphertexts(self.epoch, self.A, plain, 4)
            version, answer = request.opened(self.server.ask("/v1/sealed/records/fetch", request.request), self.B * self.C)
            check(version == 0, "an answer about records")
            data = (request.decrypt(answer, self.hint) + np.uint32(2**23) >> 24).astype(np.uint8).reshape(len(part), self.C, self.B)
            for i, number in enumerate(part):
                record = data[i, number % self.C].tobytes()
                size = record[0] + 256 * record[1]
                found.append(record[2:2 + size] if there[i] and size <= self.B - 2 else None)
        return found


def report(query, number, record):
    """Returns the line of -records-out for a record. A record that is not text is not an error: the
    server chose it, and a user who runs the client again after an error reveals something about the
    query to the server."""
    line = {"query": query, "row": int(number)}
    if record is not None:
        try:
            line["record"] = record.decode()
        except UnicodeDecodeError:
            line["bytes"] = base64.b64encode(record).decode()
    return line


def main():
    flags = argparse.ArgumentParser(description="asks a server for the nearest rows, in mode sealed")
    flags.add_argument("server")
    flags.add_argument("rows", help="a file .npy")
    flags.add_argument("-epoch", help="the hash of the manifest from a second path")
    flags.add_argument("-k", type=int, default=8)
    flags.add_argument("-out", required=True)
    flags.add_argument("-distances-out")
    flags.add_argument("-records-out")
    f = flags.parse_args()
    server = Server(f.server)
    gallery = Gallery(server, f.epoch)
    records = Records(server, gallery) if f.records_out else None
    ids, distances = gallery.search(np.load(f.rows), f.k)
    fetched = [records.fetch(row) for row in ids] if records else []
    np.save(f.out, ids.astype(np.int32))
    if f.distances_out:
        np.save(f.distances_out, distances)
    if records:
        with open(f.records_out, "w", encoding="utf-8") as to:
            for query, row in enumerate(ids):
                for number, record in zip(row, fetched[query]):
                    if number >= 0:
                        to.write(json.dumps(report(query, number, record)) + "\n")


if __name__ == "__main__":
    main()
