"""The leading eigenvectors of a graph by scikit-learn's spectral_embedding, solver
lobpcg: its other solver, arpack, factorises the matrix, which fills up. The
protocol is that of peer.hpp."""
import json
import sys
import time
import warnings

import numpy as np
import scipy.sparse
import sklearn
from sklearn.manifold import spectral_embedding
from threadpoolctl import threadpool_limits


def main():
    with open(sys.argv[1], "rb") as f:
        n, nnz = (int(v) for v in np.fromfile(f, np.uint64, 2))
        ptr = np.fromfile(f, np.uint64, n + 1).astype(np.int32)
        ind = np.fromfile(f, np.uint32, nnz).astype(np.int32)
        val = np.fromfile(f, np.float32, nnz)
    a = scipy.sparse.csr_matrix((val.astype(np.float64), ind, ptr), shape=(n, n))
    a = (a + a.T) / 2
    warnings.simplefilter("ignore")  # it warns of a graph in several parts
    print(json.dumps({"version": sklearn.__version__}), flush=True)
    for line in sys.stdin:
        words = line.split(None, 3)
        k, workers = int(words[0]), int(words[1])
        check = words[3].strip() if len(words) > 3 else ""
        with threadpool_limits(workers):
            start = time.perf_counter()
            y = spectral_embedding(a, n_components=k, eigen_solver="lobpcg", eigen_tol=1e-5, random_state=0)
            seconds = time.perf_counter() - start
        if check:
            y.astype(np.float32).tofile(check)
        print(json.dumps({"seconds": [seconds]}), flush=True)


main()
