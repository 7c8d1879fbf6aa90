"""All pairs of rows within a radius, by one of several libraries, which the first
argument names. The protocol is that of peer.py."""
import sys

import numpy as np
from threadpoolctl import threadpool_limits

import peer


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
    for c, h in enumerate(peer.hashes(n), 1):
        sums[:, c] = np.bincount(rows, h[columns], minlength=n)
    return sums


def main():
    kinds = {"faiss": Flat, "faiss_ivf": Inverted, "numpy": Blocks, "sklearn": Brute}
    x, radius = peer.read_points(sys.argv[2])
    search = kinds[sys.argv[1]](x)
    for _, workers, _, check in peer.questions(search.version):
        with threadpool_limits(workers):
            seconds, (rows, columns) = peer.measure(lambda: search.pairs(radius, workers))
        if check:
            fingerprint(len(x), rows, columns).tofile(check)
        peer.answer(seconds)


main()
