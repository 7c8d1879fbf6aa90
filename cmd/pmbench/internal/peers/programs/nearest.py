"""The nearest neighbours of all rows, by one of several libraries, which the first argument
names. The time is that of the index and the search. The protocol is that of peer.py."""
import sys

import numpy as np
from threadpoolctl import threadpool_limits

import peer


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
    x, _ = peer.read_points(sys.argv[2])
    search = kinds[sys.argv[1]](x)
    for k, workers, _, check in peer.questions(search.version):
        with threadpool_limits(workers):
            seconds, d2 = peer.measure(lambda: search.nearest(k + 1, workers))  # the row itself is the first
        if check:
            np.ascontiguousarray(d2[:, 1:], np.float32).tofile(check)
        del d2
        peer.answer(seconds)


main()
