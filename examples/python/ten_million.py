#!/usr/bin/env python3
"""Millions of points in the plane: the graph of near points.

    python3 examples/python/ten_million.py --n 10000000

Approximate searches are made for many columns, and ten million points in the plane are hard for
them. Here the graph is exact: the points are sorted into cells of the plane, so it takes time and
memory in proportion to the points and their neighbours. The points below are uniform with a dense
spot in the middle. The mean number of neighbours is given, and determines the radius.
"""

import argparse
import resource
import sys
import time

import numpy as np

from privatemail import Engine

parser = argparse.ArgumentParser(description="The graph of many points in the plane.")
parser.add_argument("--n", type=int, default=10_000_000, help="points")
parser.add_argument("--mean-neighbours", type=float, default=8.0)
options = parser.parse_args()

rng = np.random.default_rng(0)
points = rng.random((options.n, 2), dtype=np.float32)
spot = options.n // 100
points[:spot] = 0.5 + 0.02 * rng.standard_normal((spot, 2), dtype=np.float32)

began = time.perf_counter()
# The engine returns the graph of the library, without a diagonal. GaussianGraph would insert the
# entry of each point with itself, which takes a second copy.
graph, report = Engine(verbose=sys.stderr.isatty()).graph(
    points, mean_neighbours=options.mean_neighbours, weights="distance"
)
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(f"{options.n} points, {graph.nnz / options.n:.2f} neighbours on average")
radius = report["graph"]["radius"]
print(f"radius {radius:.3g}, {seconds:.1f} s, {peak:.2f} GiB at the peak of the process")

# A few points are compared with the plain computation: the radius decides exactly which points are
# near.
for i in rng.integers(options.n, size=5):
    distance = np.linalg.norm(points.astype(np.float64) - points[i].astype(np.float64), axis=1)
    near = np.flatnonzero(distance <= radius)
    if not np.array_equal(near[near != i], graph.indices[graph.indptr[i] : graph.indptr[i + 1]]):
        sys.exit(f"point {i} has other neighbours")
print("the neighbours of 5 points are those of the plain computation")
