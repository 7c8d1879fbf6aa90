#!/usr/bin/env python3
"""The same bits for any number of threads.

    python3 examples/python/reproducible.py

In other libraries for maps users have to choose: a fixed seed and one thread, or all threads and a
map that differs from run to run. Here work is divided by the data, never by the number of threads,
and sums are added in a fixed order. So threads only change how long a result takes.
"""

import hashlib
import sys

import numpy as np
from sklearn.datasets import load_digits

from privatemail import GaussianGraph, GaussianOperator, KernelEmbedding, SupervisedEmbedding

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
V = np.random.RandomState(0).normal(size=(len(X), 3))


def graph(n_jobs):
    found = GaussianGraph(mean_neighbours=20, n_jobs=n_jobs).fit_transform(X)
    return np.concatenate([found.indptr, found.indices, found.data.view(np.int32)])


RESULTS = {
    "map": lambda n_jobs: KernelEmbedding(n_jobs=n_jobs).fit_transform(X),
    "steps": lambda n_jobs: KernelEmbedding(
        method="steps", mean_neighbours=20, random_state=7, n_jobs=n_jobs
    ).fit_transform(X),
    "new rows": lambda n_jobs: KernelEmbedding(n_jobs=n_jobs).fit(X[:1500]).transform(X[1500:]),
    "search": lambda n_jobs: SupervisedEmbedding(n_jobs=n_jobs).fit(X, y).gallery_,
    "graph": graph,
    "kernel": lambda n_jobs: GaussianOperator(X, sigma=20, n_jobs=n_jobs) @ V,
}


def digest(result):
    return hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest()[:16]


differ = False
print(f"{'':10}{'1 thread':20}{'2 threads':20}{'4 threads':20}")
for name, compute in RESULTS.items():
    found = [digest(compute(n_jobs)) for n_jobs in (1, 2, 4)]
    print(f"{name:10}" + "".join(f"{text:20}" for text in found))
    differ = differ or len(set(found)) > 1
print("results differ" if differ else "the same bits for 1, 2 and 4 threads")
sys.exit(1 if differ else 0)
