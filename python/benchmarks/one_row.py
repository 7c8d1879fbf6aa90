#!/usr/bin/env python3
"""Times calls for a single new row, next to similar ones of scikit-learn.

    python3 python/benchmarks/one_row.py --n 20000

Prints microseconds, the least of some rounds. Every call is made on the main thread, as in an
interactive program. Engines have a limit, so that none asks the system for one.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, Callable, Dict

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import (
    KNeighborsTransformer,
    NearestNeighbors,
    RadiusNeighborsTransformer,
)

from privatemail import Engine, GaussianGraph, GaussianOperator, KernelEmbedding, SupervisedEmbedding

MAX_MEMORY = 4 << 30
Call = Callable[[np.ndarray], Any]


def microseconds(call: Callable[[], Any], rounds: int = 7) -> float:
    """Returns the least mean of some rounds of about 50 ms."""
    call()
    began = time.perf_counter()
    call()
    count = max(1, int(0.05 / max(time.perf_counter() - began, 1e-7)))
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - began) / count)
    return 1e6 * best


def calls(X: np.ndarray, y: np.ndarray, radius: float) -> Dict[str, Call]:
    engine = Engine(max_memory=MAX_MEMORY)
    ours = {"max_memory": MAX_MEMORY}
    model = engine.fit(X, y, recipe="discriminate", measure=False)
    product = GaussianOperator(X[:1000], sigma=1.0, **ours)
    vector = np.ones(1000)
    supervised = SupervisedEmbedding("discriminate", measure=False, **ours)
    return {
        "Model.transform": lambda row: model.transform(row, engine=engine),
        "SupervisedEmbedding.transform": supervised.fit(X, y).transform,
        "  LinearDiscriminantAnalysis.transform": LinearDiscriminantAnalysis().fit(X, y).transform,
        "  PCA.transform": PCA().fit(X).transform,
        "Engine.nearest, k=10": lambda row: engine.nearest(X, row, k=10),
        "  NearestNeighbors.kneighbors": NearestNeighbors(n_neighbors=10).fit(X).kneighbors,
        "  NearestNeighbors(brute).kneighbors": NearestNeighbors(
            n_neighbors=10, algorithm="brute"
        ).fit(X).kneighbors,
        "GaussianGraph(n_neighbors=10, distance)": GaussianGraph(
            n_neighbors=10, mode="distance", **ours
        ).fit(X).transform,
        "GaussianGraph(n_neighbors=10)": GaussianGraph(n_neighbors=10, **ours).fit(X).transform,
        "  KNeighborsTransformer": KNeighborsTransformer(n_neighbors=10).fit(X).transform,
        "GaussianGraph(radius)": GaussianGraph(radius=radius, **ours).fit(X).transform,
        "GaussianGraph(radius, distance)": GaussianGraph(
            radius=radius, mode="distance", **ours
        ).fit(X).transform,
        "  RadiusNeighborsTransformer": RadiusNeighborsTransformer(radius=radius).fit(X).transform,
        "KernelEmbedding.transform": KernelEmbedding(method="steps", **ours).fit(X).transform,
        "GaussianOperator of 1000 rows @ v": lambda row: product @ vector,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--n", type=int, default=20000, help="fitted rows (default: 20000)")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # parts of graphs that nothing connects
    rng = np.random.default_rng(0)
    for columns, radius in ((3, 0.3), (64, 9.5)):
        X = rng.standard_normal((given.n, columns)).astype(np.float32)
        y = rng.integers(0, 10, given.n)
        X[:, 0] += y
        row = X[:1] + np.float32(0.01)
        print(f"{given.n} rows of {columns} columns")
        for name, call in calls(X, y, radius).items():
            print(f"  {name:42} {microseconds(lambda: call(row)):10.1f}", flush=True)


if __name__ == "__main__":
    main()
