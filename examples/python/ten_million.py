#!/usr/bin/env python3
"""Points in the plane by the million: the graph of those that are near each other.

    python3 examples/python/ten_million.py --n 10000000

Approximate searches are made for many columns, and points in the plane by the ten million are
hard for them. Here the graph is exact: cells of the plane have the points in them, so it takes
time and memory in proportion to the points and their neighbours. The points below are uniform
with a dense spot in the middle. A mean number of neighbours is asked for, and the radius
follows.
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
# The engine gives the graph as the library has it, without a diagonal. GaussianGraph would put
# the entry of each point with itself in between, which takes a second copy.
graph, report = Engine(verbose=sys.stderr.isatty()).graph(
    points, mean_neighbours=options.mean_neighbours, weights="distance"
)
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(f"{options.n} points, {graph.nnz / options.n:.2f} neighbours on average")
radius = report["graph"]["radius"]
print(f"radius {radius:.3g}, {seconds:.1f} s, {peak:.2f} GiB at the peak of the process")

# A few points against the plain computation: the radius decides, so near is near exactly.
for i in rng.integers(options.n, size=5):
    distance = np.linalg.norm(points.astype(np.float64) - points[i].astype(np.float64), axis=1)
    near = np.flatnonzero(distance <= radius)
    if not np.array_equal(near[near != i], graph.indices[graph.indptr[i] : graph.indptr[i + 1]]):
        sys.exit(f"point {i} has other neighbours")
print("the neighbours of 5 points are those of the plain computation")
