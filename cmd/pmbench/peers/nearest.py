"""The nearest neighbours of all rows, by one of several libraries, which the first argument
names. The time is that of the index and the search. The protocol is that of peer.hpp."""
import json
import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits


class Tree:
    """scipy's cKDTree, float64."""

    def __init__(self, x):
        import scipy
        from scipy.spatial import cKDTree
        self.x, self.version, self.tree = x, scipy.__version__, cKDTree

    def nearest(self, k, workers):
        return self.tree(self.x).query(self.x, k=k, workers=workers)[0] ** 2


class Flat:
    """FAISS, all distances in float32."""

    def __init__(self, x):
        import faiss
        self.faiss, self.x, self.version = faiss, x, faiss.__version__

    def nearest(self, k, workers):
        self.faiss.omp_set_num_threads(workers)
        index = self.faiss.IndexFlatL2(self.x.shape[1])
        index.add(self.x)
        return index.search(self.x, k)[0]


class Brute:
    """scikit-learn by brute force."""

    def __init__(self, x):
        import sklearn
        self.x, self.version = x, sklearn.__version__

    def nearest(self, k, workers):
        from sklearn.neighbors import NearestNeighbors
        search = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=workers).fit(self.x)
        return search.kneighbors(self.x)[0] ** 2


def main():
    kinds = {"ckdtree": Tree, "faiss": Flat, "sklearn": Brute}
    with open(sys.argv[2], "rb") as f:
        n, d = (int(v) for v in np.fromfile(f, np.uint64, 2))
        np.fromfile(f, np.float64, 1)  # a radius, which nobody needs
        x = np.fromfile(f, np.float32, n * d).reshape(n, d)
    search = kinds[sys.argv[1]](x)
    print(json.dumps({"version": search.version}), flush=True)
    for line in sys.stdin:
        words = line.split(None, 3)
        k, workers = int(words[0]), int(words[1])
        check = words[3].strip() if len(words) > 3 else ""
        with threadpool_limits(workers):
            start = time.perf_counter()
            d2 = search.nearest(k + 1, workers)  # the row itself is the first
            seconds = time.perf_counter() - start
        if check:
            np.ascontiguousarray(d2[:, 1:], np.float32).tofile(check)
        del d2
        print(json.dumps({"seconds": [seconds]}), flush=True)


main()
