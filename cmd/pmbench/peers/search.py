"""All pairs of rows within a radius, by one of several libraries, which the first
argument names. The protocol is that of peer.hpp."""
import json
import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits


class Flat:
    """FAISS, all distances: range_search of all rows."""

    def __init__(self, x):
        import faiss
        self.faiss, self.x, self.version = faiss, x, faiss.__version__

    def index(self):
        return self.faiss.IndexFlatL2(self.x.shape[1])

    def pairs(self, radius, workers):
        self.faiss.omp_set_num_threads(workers)
        index = self.index()
        index.add(self.x)
        ends, _, columns = index.range_search(self.x, radius * radius)
        return ends, columns


class Inverted(Flat):
    """FAISS, the rows of the 4 nearest of sqrt(n) cells. Training is not timed."""

    def __init__(self, x):
        super().__init__(x)
        cells = int(np.sqrt(len(x)))
        self.quantizer = self.faiss.IndexFlatL2(x.shape[1])
        self.trained = self.faiss.IndexIVFFlat(self.quantizer, x.shape[1], cells)
        self.trained.train(x)

    def index(self):
        self.trained.reset()
        self.trained.nprobe = 4
        return self.trained


class Blocks:
    """numpy: products of blocks of rows, each pair of blocks once."""

    def __init__(self, x):
        self.x, self.version = x, np.__version__

    def pairs(self, radius, workers):
        x, size = self.x, 2048
        norms = np.einsum("ij,ij->i", x, x)
        rows, columns = [], []
        for a in range(0, len(x), size):
            for b in range(a, len(x), size):
                d2 = x[a:a + size] @ x[b:b + size].T
                d2 *= -2
                d2 += norms[a:a + size, None]
                d2 += norms[None, b:b + size]
                i, j = np.nonzero(d2 <= radius * radius)
                rows.append(i + a)
                columns.append(j + b)
                if a != b:
                    rows.append(j + b)
                    columns.append(i + a)
        return np.concatenate(rows), np.concatenate(columns)


class Brute:
    """scikit-learn: radius_neighbors by brute force."""

    def __init__(self, x):
        import sklearn
        self.x, self.version = x, sklearn.__version__

    def pairs(self, radius, workers):
        from sklearn.neighbors import NearestNeighbors
        found = NearestNeighbors(radius=radius, algorithm="brute", n_jobs=workers).fit(self.x).radius_neighbors(self.x, return_distance=True)[1]
        return np.concatenate([[0], np.cumsum([len(f) for f in found])]), np.concatenate(found)


def fingerprint(n, rows, columns):
    """Of each row: the number of neighbours and two sums of hashes of them."""
    if len(rows) == n + 1:
        rows = np.repeat(np.arange(n), np.diff(rows.astype(np.int64)))
    others = rows != columns
    rows, columns = rows[others], columns[others].astype(np.int64)
    sums = np.empty((n, 3), np.float32)
    sums[:, 0] = np.bincount(rows, minlength=n)
    for c, factor in enumerate((2654435761, 2246822519)):
        ids = np.arange(n, dtype=np.uint32)
        h = ((ids * np.uint32(factor)) >> np.uint32(20)).astype(np.float64)
        sums[:, c + 1] = np.bincount(rows, h[columns], minlength=n)
    return sums


def main():
    kinds = {"faiss": Flat, "faiss_ivf": Inverted, "numpy": Blocks, "sklearn": Brute}
    with open(sys.argv[2], "rb") as f:
        n, d = (int(v) for v in np.fromfile(f, np.uint64, 2))
        radius = float(np.fromfile(f, np.float64, 1)[0])
        x = np.fromfile(f, np.float32, n * d).reshape(n, d)
    search = kinds[sys.argv[1]](x)
    print(json.dumps({"version": search.version}), flush=True)
    for line in sys.stdin:
        words = line.split(None, 3)
        workers = int(words[1])
        check = words[3].strip() if len(words) > 3 else ""
        with threadpool_limits(workers):
            start = time.perf_counter()
            rows, columns = search.pairs(radius, workers)
            seconds = time.perf_counter() - start
        if check:
            fingerprint(n, rows, columns).tofile(check)
        print(json.dumps({"seconds": [seconds]}), flush=True)


main()
