"""A map of rows without labels."""

from __future__ import annotations

import warnings
from typing import Any, Optional

import numpy as np

from ._arrays import Rows
from ._estimator import Estimator, RandomState, neighbours_within, seed_of

METHODS = ("map", "eigenvectors", "steps")
# The number of fitted rows that place a new one.
PLACING_NEIGHBOURS = 10


class KernelEmbedding(Estimator):
    """Embeds rows in a few columns by the graph of their neighbours, without labels.

    Parameters
    ----------
    n_components : int, default=2
        Columns of the embedding.
    method : {"map", "eigenvectors", "steps"}, default="map"
        "map" makes a map to look at, which shows neighbours and clusters. It is a sum of many
        leading eigenvectors of the graph. "eigenvectors" gives the leading ones themselves, with
        rows divided by their norm, for clustering. "steps" takes a few steps of the published
        iteration from random numbers.
    n_neighbors : int, default=None
        The graph connects every row with this many nearest rows, and every row has a separate
        bandwidth. Default: 10, or all other rows if there are fewer, unless ``mean_neighbours`` or
        ``sigma`` is given.
    mean_neighbours : float, default=None
        The graph has one bandwidth, at which rows have this many neighbours on average.
    sigma : float, default=None
        The graph has this bandwidth: weights are exp(-d^2 / (2 sigma^2)).
    steps : int, default=5
        Steps of method "steps".
    n_jobs, max_memory, verbose
        As for :class:`SupervisedEmbedding`.
    random_state : int, RandomState or None, default=None
        The random numbers of method "steps". None is the same as 1. The other methods draw none.

    Attributes
    ----------
    embedding_ : ndarray of float32, shape (n_samples, n_components)
        The embedding of the fitted rows.
    report_ : dict
        The report of the fit: the graph, and for eigenvectors their values and residuals.
    n_features_in_, feature_names_in_
        As for :class:`SupervisedEmbedding`.

    Notes
    -----
    Distances between far places of a map say little, and a map has no unit.

    ``fit`` keeps X itself if it is C-contiguous float32, as scikit-learn's neighbours do, and
    ``transform`` reads it: do not write to it in between.

    ``transform`` places a row that equals a fitted row at the place of that row, and any other row
    at the weighted mean of the places of its 10 nearest fitted rows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from privatemail import KernelEmbedding
    >>> X, y = load_digits(return_X_y=True)
    >>> embedding = KernelEmbedding().fit(X[:500])
    >>> embedding.embedding_.shape, embedding.transform(X[500:]).shape
    ((500, 2), (1297, 2))
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: str = "map",
        n_neighbors: Optional[int] = None,
        mean_neighbours: Optional[float] = None,
        sigma: Optional[float] = None,
        steps: int = 5,
        n_jobs: Optional[int] = None,
        max_memory: Optional[int] = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.n_neighbors = n_neighbors
        self.mean_neighbours = mean_neighbours
        self.sigma = sigma
        self.steps = steps
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> "KernelEmbedding":
        """Embed rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        KernelEmbedding
            The estimator itself.
        """
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}")
        rows = self._rows(X, fitting=True)
        engine = self._engine()
        graph = self._graph(len(rows.array))
        if self.method == "map":
            result = engine.map(rows, n_components=self.n_components, **graph)
        elif self.method == "eigenvectors":
            result = engine.converge(
                rows, form="attract", n_components=self.n_components, **graph
            )
        else:
            # The steps are linear, so the scale of the start is that of the embedding.
            result = engine.embed(
                rows,
                n_components=self.n_components,
                steps=self.steps,
                sigma_q=1.0,
                seed=seed_of(self.random_state),
                **graph,
            )
        parts = len(result.report.get("components") or ())
        if parts > 1:
            warnings.warn(
                f"the graph has {parts} parts that no weight connects: where a part lies in the "
                "map, and how far from another, means nothing; more neighbours would connect them",
                stacklevel=2,
            )
        self._fit_X = rows.array
        self.embedding_ = result.points
        self.report_ = result.report
        self._n_features_out = self.embedding_.shape[1]
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return ``embedding_``."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Place rows in the embedding.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)

        Returns
        -------
        ndarray of float32, shape (n_queries, n_components)
        """
        rows = self._rows(X, fitting=False)
        engine = self._engine()
        k = min(PLACING_NEIGHBOURS, len(self._fit_X))
        distances, ids = engine.nearest(self._fit_X, rows, k=k)
        placed = self.embedding_[ids[:, 0]]
        new = distances[:, 0] > 0
        if new.any():
            near = np.unique(ids[new])  # they contain all nearest rows: no second search
            fitted = self._fit_X[near]
            placed[new] = engine.extend(
                Rows(fitted, fitted.nbytes), self.embedding_[near], rows.array[new], k=k
            )
        return placed

    def _graph(self, rows: int) -> dict:
        given = {
            name: getattr(self, name)
            for name in ("n_neighbors", "mean_neighbours", "sigma")
            if getattr(self, name) is not None
        }
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} exclude each other")
        if "n_neighbors" in given or not given:
            return {"n_neighbors": neighbours_within(self.n_neighbors, rows, "n_neighbors")}
        return given
