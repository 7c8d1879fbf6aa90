"""The leading eigenvectors of a graph by scikit-learn's spectral_embedding, solver
lobpcg: its other solver, arpack, factorises the matrix, which fills up. The
protocol is that of peer.py."""
import sys
import warnings

import numpy as np
import sklearn
from sklearn.manifold import spectral_embedding
from threadpoolctl import threadpool_limits

import peer


def main():
    a = peer.read_graph(sys.argv[1]).astype(np.float64)
    a = (a + a.T) / 2
    warnings.simplefilter("ignore")  # it warns of a graph in several parts
    for k, workers, _, check in peer.questions(sklearn.__version__):
        with threadpool_limits(workers):
            seconds, y = peer.measure(lambda: spectral_embedding(
                a, n_components=k, eigen_solver="lobpcg", eigen_tol=1e-5, random_state=0))
        if check:
            y.astype(np.float32).tofile(check)
        peer.answer(seconds)


main()
