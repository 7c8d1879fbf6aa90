#!/usr/bin/env python3
"""scikit-learn and privatemail on the same data: time, peak memory and results.

    python3 python/benchmarks/side_by_side.py --n 20000

prints a table in Markdown. Every contestant runs in a separate process, --repeat times, and the
fastest run and the smallest peak count. Its memory is the peak of the process less its memory with
data and library loaded. With --check the script exits with 1 unless ours takes less time and less
memory than scikit-learn's in every comparison.

The automatic choice of a recipe by SupervisedEmbedding is a measurement that LDA does not make.
It has a separate line and is not compared; a given recipe is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

Arrays = Dict[str, np.ndarray]


class Contestant(NamedTuple):
    """A line of the table."""

    task: str
    name: str
    ours: bool
    # run is measured. quality then describes the result in a word for the table.
    run: Callable[[Arrays], Any]
    quality: Callable[[Arrays, Any], str]
    compared: bool = True


# ---- The data -------------------------------------------------------------------------------


def noisy_digits(n: int) -> Arrays:
    """The digits of scikit-learn, repeated with noise until there are n.

    The noise has a standard deviation of 3 of the 16 grey levels. With less, the copies of a digit
    are nearer to each other than to all other rows, and the graph falls into parts.
    """
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    rows = np.resize(np.arange(len(X)), n)
    noise = 3 * np.random.RandomState(0).normal(size=(n, X.shape[1]))
    return {"X": (X[rows] + noise).astype(np.float32), "y": y[rows]}


def roll(n: int) -> Arrays:
    """A swiss roll, and the radius at which its rows have about 20 neighbours."""
    from sklearn.datasets import make_swiss_roll
    from sklearn.neighbors import NearestNeighbors

    X = make_swiss_roll(n, noise=0.05, random_state=0)[0].astype(np.float32)
    distances, _ = NearestNeighbors(n_neighbors=21).fit(X).kneighbors(X[:1000])
    return {"X": X, "radius": np.float64(distances[:, -1].mean())}


def vectors(n: int) -> Arrays:
    """The digits with eight vectors to multiply, and the gamma "scale" of scikit-learn."""
    data = noisy_digits(n)
    X = data["X"]
    data["V"] = np.random.RandomState(1).normal(size=(n, 8)).astype(np.float32)
    data["gamma"] = np.float64(1 / (X.shape[1] * X.var()))
    return data


def classes(n: int) -> Arrays:
    """Twenty classes in 256 columns, half of them informative; a fifth of the rows is new."""
    from sklearn.datasets import make_classification
    from sklearn.model_selection import train_test_split

    X, y = make_classification(
        n_samples=n + n // 4,
        n_features=256,
        n_informative=32,
        n_redundant=96,
        n_classes=20,
        n_clusters_per_class=1,
        class_sep=2.0,
        random_state=0,
    )
    names = ("X", "X_new", "y", "y_new")
    parts = train_test_split(X.astype(np.float32), y, train_size=n, random_state=0)
    return dict(zip(names, parts))


# ---- What comes out -------------------------------------------------------------------------


def accuracy(places: np.ndarray, y: np.ndarray) -> str:
    """The share of rows whose nearest other row has their label."""
    from sklearn.neighbors import NearestNeighbors

    ids = NearestNeighbors(n_neighbors=1).fit(places).kneighbors(return_distance=False)
    return f"1-NN {np.mean(y[ids[:, 0]] == y):.3f}"


def new_accuracy(data: Arrays, out: Tuple[np.ndarray, np.ndarray]) -> str:
    """The share of new rows whose nearest row of the gallery has their label."""
    from sklearn.neighbors import KNeighborsClassifier

    gallery, images = out
    nearest = KNeighborsClassifier(n_neighbors=1).fit(gallery, data["y"])
    return f"1-NN {nearest.score(images, data['y_new']):.3f}"


def entries(graph: Any) -> str:
    return f"{graph.nnz} entries"


def same_graph(reference: Callable[[Arrays], Any]) -> Callable[[Arrays, Any], str]:
    """Compare a graph with that of scikit-learn, except for the diagonal, which only ours has."""

    def quality(data: Arrays, graph: Any) -> str:
        wanted = reference(data).tocoo()
        rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        others = rows != graph.indices
        found = set(zip(rows[others].tolist(), graph.indices[others].tolist()))
        both = sum(pair in found for pair in zip(wanted.row.tolist(), wanted.col.tolist()))
        return f"{others.sum()} entries, {both / max(wanted.nnz, others.sum()):.6f} the same"

    return quality


def product_error(data: Arrays, out: np.ndarray) -> str:
    """The largest error among 200 rows, relative to the product of the sizes."""
    from sklearn.metrics.pairwise import rbf_kernel

    some = np.random.RandomState(2).choice(len(data["X"]), 200, replace=False)
    X, V = data["X"].astype(np.float64), data["V"].astype(np.float64)
    K = rbf_kernel(X[some], X, gamma=float(data["gamma"]))
    error = np.abs(out[some] - K @ V) / (K @ np.abs(V))
    return f"error {error.max():.0e}"


# ---- The contestants ------------------------------------------------------------------------


def spectral_embedding(data: Arrays) -> np.ndarray:
    from sklearn.manifold import SpectralEmbedding

    embedding = SpectralEmbedding(
        affinity="nearest_neighbors", n_neighbors=10, random_state=0, n_jobs=-1
    )
    return embedding.fit_transform(data["X"])


def kernel_embedding(data: Arrays) -> np.ndarray:
    from privatemail import KernelEmbedding

    return KernelEmbedding(n_neighbors=10).fit_transform(data["X"])


def sklearn_nearest(data: Arrays) -> Any:
    from sklearn.neighbors import kneighbors_graph

    return kneighbors_graph(data["X"], 10, mode="distance", n_jobs=-1)


def our_nearest(data: Arrays) -> Any:
    from privatemail import GaussianGraph

    return GaussianGraph(n_neighbors=10, mode="distance").fit_transform(data["X"])


def sklearn_radius(data: Arrays) -> Any:
    from sklearn.neighbors import radius_neighbors_graph

    return radius_neighbors_graph(data["X"], float(data["radius"]), mode="distance", n_jobs=-1)


def our_radius(data: Arrays) -> Any:
    from privatemail import GaussianGraph

    graph = GaussianGraph(radius=float(data["radius"]), mode="distance")
    return graph.fit_transform(data["X"])


def sklearn_product(data: Arrays) -> np.ndarray:
    from sklearn.metrics.pairwise import rbf_kernel

    return rbf_kernel(data["X"], gamma=float(data["gamma"])) @ data["V"]


def our_product(data: Arrays) -> np.ndarray:
    from privatemail import GaussianOperator

    return GaussianOperator(data["X"], gamma=float(data["gamma"])) @ data["V"]


def lda(data: Arrays) -> Tuple[np.ndarray, np.ndarray]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis().fit(data["X"], data["y"])
    return model.transform(data["X"]), model.transform(data["X_new"])


def supervised(**options: Any) -> Callable[[Arrays], Tuple[np.ndarray, np.ndarray]]:
    def run(data: Arrays) -> Tuple[np.ndarray, np.ndarray]:
        from privatemail import SupervisedEmbedding

        model = SupervisedEmbedding(**options).fit(data["X"], data["y"])
        return model.gallery_, model.transform(data["X_new"])

    return run


TASKS: Dict[str, Callable[[int], Arrays]] = {
    "map of digits, 64 columns": noisy_digits,
    "10 nearest, 64 columns": noisy_digits,
    "radius, 3 columns": roll,
    "kernel times 8 vectors, 64 columns": vectors,
    "20 classes, 256 columns": classes,
}
MAP, NEAREST, RADIUS, PRODUCT, CLASSES = TASKS

CONTESTANTS: List[Contestant] = [
    Contestant(
        MAP,
        "SpectralEmbedding",
        False,
        spectral_embedding,
        lambda data, out: accuracy(out, data["y"]),
    ),
    Contestant(
        MAP, "KernelEmbedding", True, kernel_embedding, lambda data, out: accuracy(out, data["y"])
    ),
    Contestant(
        NEAREST, "kneighbors_graph", False, sklearn_nearest, lambda data, out: entries(out)
    ),
    Contestant(NEAREST, "GaussianGraph", True, our_nearest, same_graph(sklearn_nearest)),
    Contestant(
        RADIUS, "radius_neighbors_graph", False, sklearn_radius, lambda data, out: entries(out)
    ),
    Contestant(RADIUS, "GaussianGraph", True, our_radius, same_graph(sklearn_radius)),
    Contestant(PRODUCT, "rbf_kernel(X) @ V", False, sklearn_product, product_error),
    Contestant(PRODUCT, "GaussianOperator(X) @ V", True, our_product, product_error),
    Contestant(CLASSES, "LinearDiscriminantAnalysis", False, lda, new_accuracy),
    Contestant(
        CLASSES,
        'SupervisedEmbedding("discriminate")',
        True,
        supervised(recipe="discriminate", measure=False),
        new_accuracy,
    ),
    Contestant(
        CLASSES, "SupervisedEmbedding()", True, supervised(), new_accuracy, compared=False
    ),
]


# ---- Measuring ------------------------------------------------------------------------------


def memory_now(what: str) -> int:
    """Return the memory of this process in bytes: VmRSS, or VmHWM for its peak.

    getrusage does not serve: there a process begins with the peak of the one that started it.
    """
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith(what + ":"):
                return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {what}")


def forget_peak() -> None:
    """Reset the peak of this process to its current memory."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def child(number: int, file: str) -> None:
    """Measure one contestant and print the measurements."""
    contestant = CONTESTANTS[number]
    with np.load(file) as stored:
        data = dict(stored)
    import sklearn.discriminant_analysis  # noqa: F401  imports are not measured
    import sklearn.manifold  # noqa: F401

    if contestant.ours:
        import privatemail

        privatemail.default_engine().workers  # loads the library
    forget_peak()
    before, began = memory_now("VmRSS"), time.perf_counter()
    out = contestant.run(data)
    seconds, memory = time.perf_counter() - began, memory_now("VmHWM") - before
    print(
        json.dumps(
            {"seconds": seconds, "bytes": memory, "quality": contestant.quality(data, out)}
        )
    )


def has_avx512() -> bool:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as cpu:
            return "avx512f" in cpu.read()
    except OSError:
        return False


def measure(number: int, file: str, repeat: int) -> dict:
    """Run a contestant in separate processes."""
    environment = dict(os.environ)
    if has_avx512():  # an OpenBLAS that does not know the processor would be slow
        environment.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    runs = []
    for _ in range(repeat):
        command = [sys.executable, os.path.abspath(__file__), "--child", str(number), file]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        runs.append(json.loads(done.stdout))
    return {
        "seconds": min(run["seconds"] for run in runs),
        "bytes": min(run["bytes"] for run in runs),
        "quality": runs[0]["quality"],
    }


def behind(results: Dict[Contestant, dict]) -> List[str]:
    """Return the cases in which ours does not take less time and less memory."""
    found = []
    for ours in (c for c in results if c.ours and c.compared):
        for theirs in (c for c in results if not c.ours and c.task == ours.task):
            for what in ("seconds", "bytes"):
                if results[ours][what] >= results[theirs][what]:
                    found.append(f"{ours.task}: {ours.name} is behind {theirs.name} in {what}")
    return found


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=20000, help="rows")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each contestant")
    parser.add_argument("--check", action="store_true", help="exit with 1 where ours is behind")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        child(int(options.child[0]), options.child[1])
        return 0

    results: Dict[Contestant, dict] = {}
    print(f"{options.n} rows, {os.cpu_count()} processors\n")
    print("| task | by | seconds | MiB | result |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "data.npz")
        for task, make in TASKS.items():
            np.savez(file, **make(options.n))
            for number, contestant in enumerate(CONTESTANTS):
                if contestant.task != task:
                    continue
                found = results[contestant] = measure(number, file, options.repeat)
                print(
                    f"| {task} | {contestant.name} | {found['seconds']:.2f} "
                    f"| {found['bytes'] / 2**20:.0f} | {found['quality']} |",
                    flush=True,
                )
    found = behind(results)
    print("\n" + ("\n".join(found) or "Ours takes less time and less memory in every comparison."))
    return 1 if options.check and found else 0


if __name__ == "__main__":
    sys.exit(main())
