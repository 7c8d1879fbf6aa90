#!/usr/bin/env python3
"""Handwritten digits: a map, a search, clusters, a smoother and a private release.

    python3 examples/python/digits.py [FOLDER]

An editor that supports ``# %%`` shows the cells one by one, as a notebook. Pictures go to FOLDER,
by default the current one, if matplotlib is installed; otherwise maps are printed as text.
"""

# %%
import os
import sys
import tempfile

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from privatemail import (
    GaussianGraph,
    GaussianOperator,
    KernelEmbedding,
    Ledger,
    SupervisedEmbedding,
    continue_,
    privatize,
)

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
X, y = load_digits(return_X_y=True)
X_old, X_new, y_old, y_new = train_test_split(X.astype(np.float32), y, random_state=0)


# %% A picture of a map, or text without matplotlib.
def show(name, places, labels):
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        show_text(places, labels)
        return
    figure, axes = plt.subplots(figsize=(7, 6))
    dots = axes.scatter(places[:, 0], places[:, 1], c=labels, cmap="tab10", s=6)
    figure.colorbar(dots, ax=axes, ticks=range(10))
    axes.set_title(name)
    axes.set_xticks([])
    axes.set_yticks([])
    path = os.path.join(FOLDER, f"{name}.png")
    figure.savefig(path, dpi=100)
    plt.close(figure)
    print("wrote", path)


def show_text(places, labels, width=72, height=24):
    low, high = places.min(axis=0), places.max(axis=0)
    cells = ((places - low) / (high - low) * [width - 1, height - 1]).astype(int)
    page = np.full((height, width), " ")
    page[cells[:, 1], cells[:, 0]] = labels.astype(str)
    print("\n".join("".join(line) for line in page))


# %% A map of neighbours. It uses no labels; the colours only help to judge it.
embedding = KernelEmbedding().fit(X_old)
show("map", embedding.embedding_, y_old)

# %% New digits are placed in the map.
placed = embedding.transform(X_new)
show("new-digits", placed, y_new)
score = KNeighborsClassifier(1).fit(embedding.embedding_, y_old).score(placed, y_new)
print(f"in two columns, {score:.3f} of the new digits lie nearest to one of their kind")

# %% A search: fit looks for a recipe that finds more than raw rows, and reports its measurements.
model = SupervisedEmbedding().fit(X_old, y_old)
print(f"recipe {model.recipe_}: {model.score(X_new, y_new):.3f} of the new digits are recognised")
print("held out:", model.held_out_)

# %% The model is saved in a file, which services and the command privatemail can load.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "digits.model")
    model.save(path)
    loaded = SupervisedEmbedding.load(path)
    assert np.array_equal(loaded.transform(X_new), model.transform(X_new))

# %% Clusters from the graph of the nearest digits.
affinity = GaussianGraph(n_neighbors=10).fit_transform(X_old)
clustering = SpectralClustering(10, affinity="precomputed", random_state=0)
clusters = clustering.fit_predict(affinity)
print(f"adjusted Rand index of the clusters: {adjusted_rand_score(y_old, clusters):.3f}")

# %% Kernel ridge regression with the full kernel, without forming it: is it a seven?
gamma = 1 / (X_old.shape[1] * X_old.var())
kernel = GaussianOperator(X_old, gamma=gamma)
n = kernel.shape[0]
ridge = kernel + LinearOperator((n, n), matvec=lambda v: 0.1 * v, dtype=np.float64)
weights, failed = cg(ridge, np.where(y_old == 7, 1.0, -1.0))
right = np.mean((kernel @ weights > 0) == (y_old == 7))
print(f"cg {'did not converge' if failed else 'converged'}, {right:.3f} of the signs are right")

# %% A private release. The promise must be stated, and the ledger counts it.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "ledger")
    with Ledger.create(path, epsilon=2, delta=1e-5, kind="gdp") as ledger:
        release = privatize(
            X_old,
            epsilon=1,
            delta=1e-6,
            relation="features-replace",
            label_mode="dropped",
            unit="the digits",
            new_unit=True,
            ledger=ledger,
            normalize_rows=True,
            sigma=1,
        )
        print("left of the budget:", ledger.describe(unit="the digits"))
# The next steps need only the release, on any machine.
result = continue_(release, mean_neighbours=20, steps=2)
print("continued:", result.points.shape)
