"""All pairs within a radius by scipy's cKDTree.query_pairs, one thread: the
tree and the pairs. The protocol is that of peer.hpp."""
import json
import sys
import time

import numpy as np
import scipy
from scipy.spatial import cKDTree


def main():
    with open(sys.argv[1], "rb") as f:
        n, d = (int(v) for v in np.fromfile(f, np.uint64, 2))
        radius = float(np.fromfile(f, np.float64, 1)[0])
        x = np.fromfile(f, np.float32, n * d).reshape(n, d).astype(np.float64)
    print(json.dumps({"version": scipy.__version__}), flush=True)
    for line in sys.stdin:
        words = line.split(None, 3)
        check = words[3].strip() if len(words) > 3 else ""
        start = time.perf_counter()
        pairs = cKDTree(x).query_pairs(radius, output_type="ndarray")
        seconds = time.perf_counter() - start
        if check:
            # Of each row: the number of neighbours and two sums of hashes of them.
            i, j = pairs[:, 0], pairs[:, 1]
            sums = np.empty((n, 3), np.float32)
            sums[:, 0] = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
            for c, factor in enumerate((2654435761, 2246822519)):
                ids = np.arange(n, dtype=np.uint32)
                h = ((ids * np.uint32(factor)) >> np.uint32(20)).astype(np.float64)
                sums[:, c + 1] = np.bincount(i, h[j], minlength=n) + np.bincount(j, h[i], minlength=n)
            sums.tofile(check)
        del pairs
        print(json.dumps({"seconds": [seconds]}), flush=True)


main()
