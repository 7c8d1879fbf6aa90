"""What the peers written in Python share: the files pmbench writes, the matrix X that is a
function of its places, the clock, and one line of JSON per answer, as in peer.hpp."""
import json
import sys
import time

import numpy as np


def read_points(path):
    """Points, and the number that comes with them: a radius or a bandwidth."""
    with open(path, "rb") as f:
        n, d = (int(v) for v in np.fromfile(f, np.uint64, 2))
        number = float(np.fromfile(f, np.float64, 1)[0])
        return np.fromfile(f, np.float32, n * d).reshape(n, d), number


def read_graph(path):
    """A sparse matrix."""
    import scipy.sparse
    with open(path, "rb") as f:
        n, nnz = (int(v) for v in np.fromfile(f, np.uint64, 2))
        ptr = np.fromfile(f, np.uint64, n + 1).astype(np.int32)
        ind = np.fromfile(f, np.uint32, nnz).astype(np.int32)
        val = np.fromfile(f, np.float32, nnz)
    return scipy.sparse.csr_matrix((val, ind, ptr), shape=(n, n))


def entries(n, k):
    """The matrix X of n rows and k columns."""
    e = np.arange(n * k, dtype=np.uint32)
    x = ((e * np.uint32(2654435761)) >> np.uint32(8)).astype(np.float32)
    return (x * np.float32(2.0**-24) - np.float32(0.5)).reshape(n, k)


def hashes(n):
    """Two hashes of each of n rows, whose sums over the neighbours of a row stand for them."""
    ids = np.arange(n, dtype=np.uint32)
    for factor in (2654435761, 2246822519):
        yield ((ids * np.uint32(factor)) >> np.uint32(20)).astype(np.float64)


def questions(version):
    """Says that the data are read, and by which version, and yields the questions: k, the
    workers, the seconds to fill, and the file that a check wants the result in, or ""."""
    print(json.dumps({"version": version}), flush=True)
    for line in sys.stdin:
        words = line.split(None, 3)
        yield int(words[0]), int(words[1]), float(words[2]), words[3].strip() if len(words) > 3 else ""


def answer(seconds):
    """Answers a question with the seconds of each operation."""
    print(json.dumps({"seconds": seconds}), flush=True)


def measure(work, duration=0):
    """Does the work for that many seconds, at least once, and returns the
    seconds of each time and the last result."""
    seconds = []
    while not seconds or sum(seconds) < duration:
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return seconds, result
