"""All pairs within a radius by scipy's cKDTree.query_pairs, one thread: the
tree and the pairs. The protocol is that of peer.py."""
import sys

import numpy as np
import scipy
from scipy.spatial import cKDTree

import peer


def main():
    x, radius = peer.read_points(sys.argv[1])
    n, x = len(x), x.astype(np.float64)
    for _, _, _, check in peer.questions(scipy.__version__):
        seconds, pairs = peer.measure(lambda: cKDTree(x).query_pairs(radius, output_type="ndarray"))
        if check:
            # Of each row: the number of neighbours and two sums of hashes of them.
            i, j = pairs[:, 0], pairs[:, 1]
            sums = np.empty((n, 3), np.float32)
            sums[:, 0] = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
            for c, h in enumerate(peer.hashes(n), 1):
                sums[:, c] = np.bincount(i, h[j], minlength=n) + np.bincount(j, h[i], minlength=n)
            sums.tofile(check)
        del pairs
        peer.answer(seconds)


main()
