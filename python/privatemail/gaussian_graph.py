"""The graph of neighbouring rows as a sparse matrix."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

import numpy as np
from scipy import sparse

from ._arrays import Rows, joined
from ._estimator import Estimator, neighbours_within
from ._settings import number
from ._tuned_weights import tuned_weights

MODES = ("gaussian", "distance", "connectivity")
# The weight of two rows whose distance is the radius, if no bandwidth is given.
LEAST_WEIGHT = 1e-3
# Rows that get their diagonal at a time, which takes little memory compared with the graph.
ROWS_AT_ONCE = 1 << 16
# Rows that move at a time, through a copy.
ROWS_MOVED = 1 << 10
# Up to this many new rows are compared with every fitted row. For more, the graph of all rows is
# faster, as it does not compare rows that are far from each other.
FEW_ROWS = 64


class GaussianGraph(Estimator):
    """Weights or distances between neighbouring rows, as a sparse matrix.

    ``fit_transform(X)`` has an entry for each two rows of X that are neighbours and for each row
    with itself. ``transform(X)`` has one for each row of X and fitted row that are neighbours. At
    most one of ``n_neighbors``, ``mean_neighbours``, ``radius`` and ``sigma`` defines neighbours,
    but a radius and a sigma may be given together. The default is ``n_neighbors`` of 10, or of all
    other rows if there are fewer.

    Parameters
    ----------
    radius : float, default=None
        Neighbours are rows at this distance or less. ``sigma`` gives their weight; without it,
        weights fall to 0.001 at the radius.
    mean_neighbours : float, default=None
        As ``radius``, with the radius at which a row has this many neighbours on average. A sample
        of the rows decides the radius, so the mean over all rows is not exactly this number.
    n_neighbors : int, default=None
        Neighbours are a row and its nearest rows. In modes "distance" and "connectivity" the matrix
        is that of ``sklearn.neighbors.KNeighborsTransformer``: in mode "distance" a row has
        ``n_neighbors + 1`` entries, and the first entry of a fitted row is its own; in mode
        "connectivity" it has ``n_neighbors`` entries. In mode "gaussian" two fitted rows are
        neighbours if one is among the nearest of the other, and the matrix is symmetric; a row that
        equals a fitted row has the entries of that row (the first of several), and any other row
        those of its ``n_neighbors`` nearest fitted rows.
    sigma : float, default=None
        The bandwidth of the weight exp(-d^2 / (2 sigma^2)). Without a radius, neighbours are rows
        with a weight of 0.001 or more. It is not used for ``n_neighbors``: every row has a separate
        bandwidth, and weights are exp(-d^2 / (s t)), at least 0.001, where s and t are the
        distances of the two rows to their 7th neighbour, or their last.
    mode : {"gaussian", "distance", "connectivity"}, default="gaussian"
        The kind of entries: the weight, the Euclidean distance, or 1. The entry of a row with
        itself is 1 in modes "gaussian" and "connectivity", and an explicit 0 in mode "distance".
    n_jobs, max_memory, verbose
        As for :class:`SupervisedEmbedding`.

    Attributes
    ----------
    n_samples_fit_ : int
        Fitted rows.
    radius_ : float or None
        The radius. None for ``n_neighbors``.
    sigma_ : float or None
        The bandwidth. None for ``n_neighbors``.
    n_features_in_, feature_names_in_
        As for :class:`SupervisedEmbedding`.

    Notes
    -----
    In mode "gaussian" the matrix of the fitted rows is an affinity for
    ``SpectralClustering(affinity="precomputed")``. In mode "distance" it is an input for estimators
    with ``metric="precomputed"``, such as ``DBSCAN``, ``KNeighborsClassifier`` and ``Isomap``.
    Entries of a row are ordered nearest first in mode "distance", as these estimators expect, and
    by column otherwise.

    ``fit`` keeps X itself if it is C-contiguous float32, as scikit-learn's neighbours do, and
    ``transform`` reads it: do not write to it in between.

    ``transform`` of up to 64 rows compares them with all fitted rows. Without ``n_neighbors``, for
    more rows it builds the graph of all fitted and new rows, and takes about as long as
    ``fit_transform``. The entries are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from privatemail import GaussianGraph
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> GaussianGraph(radius=2, mode="distance").fit_transform(X).toarray()
    array([[0., 1., 0.],
           [1., 0., 2.],
           [0., 2., 0.]], dtype=float32)
    >>> GaussianGraph(n_neighbors=1, mode="distance").fit(X).transform([[2.6]]).toarray().round(1)
    array([[0. , 1.6, 0.4]], dtype=float32)
    """

    def __init__(
        self,
        *,
        radius: Optional[float] = None,
        mean_neighbours: Optional[float] = None,
        n_neighbors: Optional[int] = None,
        sigma: Optional[float] = None,
        mode: str = "gaussian",
        n_jobs: Optional[int] = None,
        max_memory: Optional[int] = None,
        verbose: bool = False,
    ) -> None:
        self.radius = radius
        self.mean_neighbours = mean_neighbours
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.mode = mode
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> "GaussianGraph":
        """Keep the rows, and decide the radius.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        GaussianGraph
            The estimator itself.
        """
        rows = self._prepare(X)
        if self.mean_neighbours is not None or self._is_tuned():
            self._fitted_graph(rows)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sparse.csr_matrix:
        """Fit, and return the graph of the rows, shape (n_samples, n_samples)."""
        rows = self._prepare(X)
        if self._nearest and not self._is_tuned():
            return self._nearest_of_fitted(rows)
        return self._fitted_graph(rows)

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the graph between rows and fitted rows.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)

        Returns
        -------
        csr_matrix of float32, shape (n_queries, n_samples_fit)
        """
        rows = self._rows(X, fitting=False)
        if self._is_tuned():
            return self._tuned_graph(rows)
        if self._nearest:
            return self._nearest_of_new(rows)
        return self._graph_of_new(rows)

    def _prepare(self, X: Any) -> Rows:
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}")
        given = [
            name
            for name in ("n_neighbors", "mean_neighbours", "radius", "sigma")
            if getattr(self, name) is not None
        ]
        if len(given) > 1 and given != ["radius", "sigma"]:
            raise ValueError(f"{' and '.join(given)} exclude each other")
        for name in ("radius", "sigma"):  # fit may not need them, but transform would fail
            value = getattr(self, name)
            if value is not None and not 0 < number(value, name) < math.inf:
                raise ValueError(f"{name} is not a positive finite number")
        rows = self._rows(X, fitting=True)
        n = len(rows.array)
        self._nearest = 0
        if given in ([], ["n_neighbors"]):
            self._nearest = neighbours_within(self.n_neighbors, n, "n_neighbors")
        self._fit_X = rows.array
        self._graph: Optional[sparse.csr_matrix] = None  # not the graph of an earlier fit
        self.n_samples_fit_ = self._n_features_out = n
        self.radius_, self.sigma_ = self._reach()
        return rows

    def _is_tuned(self) -> bool:
        return self._nearest > 0 and self.mode == "gaussian"

    def _reach(self) -> Tuple[Optional[float], Optional[float]]:
        """Return the radius and the bandwidth, if the parameters determine them."""
        ratio = math.sqrt(-2 * math.log(LEAST_WEIGHT))  # of the radius to the bandwidth
        if self.radius is None and self.sigma is not None:
            return self.sigma * ratio, self.sigma
        if self.radius is not None:
            return self.radius, self.radius / ratio if self.sigma is None else self.sigma
        return None, None

    def _fitted_graph(self, rows: Rows) -> sparse.csr_matrix:
        """Return the graph of the fitted rows with its diagonal."""
        if self._nearest:
            reach = {"n_neighbors": self._nearest}
        elif self.radius_ is None:
            reach = {"mean_neighbours": self.mean_neighbours}
        else:
            reach = self._radius_and_sigma()
        graph, report = self._engine().graph(rows, weights=self.mode, **reach)
        if "mean_neighbours" in reach:
            self.radius_, self.sigma_ = report["graph"]["radius"], report["graph"]["sigma"]
        graph = with_diagonal(graph, 0 if self.mode == "distance" else 1)
        if self._is_tuned():
            self._graph = graph
        return self._in_order(graph)

    def _radius_and_sigma(self) -> dict:
        # A radius alone gives the same bandwidth as for the fitted rows, bit for bit.
        reach = {"radius": self.radius_}
        if self.sigma is not None:
            reach["sigma"] = self.sigma
        return reach

    def _graph_of_new(self, new: Rows) -> sparse.csr_matrix:
        """Return the part of the graph of all rows with the new rows and the columns of fitted
        rows."""
        n = self.n_samples_fit_
        engine = self._engine()
        if len(new.array) <= FEW_ROWS:
            reach = self._radius_and_sigma()
            graph, _ = engine.graph(self._fit_X, new, weights=self.mode, **reach)
            return self._in_order(graph)
        rows = joined(self._fit_X, new.array, engine.max_memory)
        graph, _ = engine.graph(rows, weights=self.mode, **self._radius_and_sigma())
        return self._in_order(graph[n:, :n])

    def _in_order(self, graph: sparse.csr_matrix) -> sparse.csr_matrix:
        return nearest_first(graph) if self.mode == "distance" else graph

    def _entries(self) -> int:
        """Return how many entries KNeighborsTransformer gives a row."""
        return self._nearest + (self.mode == "distance")

    def _nearest_of_fitted(self, rows: Rows) -> sparse.csr_matrix:
        """Return the entries of each fitted row itself and its nearest others.

        The library searches rows among themselves with a tree if they have few columns, so this
        takes much less time than passing them as new rows.
        """
        n, k = self.n_samples_fit_, self._entries()
        if k == 1:
            return sparse.identity(n, dtype=np.float32, format="csr")
        # The library writes into the memory of the matrix, so there is no other copy of its
        # answers.
        ids = np.empty(n * k, dtype=index_type(n * k))
        distances = np.empty(n * k, dtype=np.float32)
        others = slice(n * (k - 1))
        self._engine().nearest(
            rows,
            k=k - 1,
            out=(distances[others].reshape(n, k - 1), ids[others].reshape(n, k - 1)),
        )
        ids, distances = with_first(ids, n), with_first(distances, n)
        ids[:, 0], distances[:, 0] = np.arange(n), 0
        return self._nearest_matrix(distances, ids)

    def _nearest_of_new(self, rows: Rows) -> sparse.csr_matrix:
        return self._nearest_matrix(*self._engine().nearest(self._fit_X, rows, k=self._entries()))

    def _nearest_matrix(self, distances: np.ndarray, ids: np.ndarray) -> sparse.csr_matrix:
        if self.mode == "connectivity":
            distances.fill(1)
        graph = rows_of(ids, distances, self.n_samples_fit_)
        if self.mode == "connectivity":
            graph.sort_indices()
        return graph

    def _tuned_graph(self, rows: Rows) -> sparse.csr_matrix:
        """Return the weights between rows and fitted rows, with a separate bandwidth for each
        row."""
        if self._graph is None:  # fit had another mode
            self._fitted_graph(Rows(self._fit_X, 0))
        distances, ids = self._engine().nearest(self._fit_X, rows, k=self._nearest)
        equal = distances[:, 0] == 0
        new = ~equal
        weights = tuned_weights(self._engine(), self._fit_X, distances[new], ids[new])
        graph = sparse.vstack(
            [self._graph[ids[equal, 0]], rows_of(ids[new], weights, self.n_samples_fit_)],
            format="csr",
        )
        place = np.empty(len(equal), dtype=np.intp)
        place[np.concatenate([np.flatnonzero(equal), np.flatnonzero(new)])] = np.arange(len(equal))
        graph = graph[place]
        graph.sort_indices()
        return graph


def index_type(largest: int) -> type:
    """Return the type of indices of a sparse matrix for this largest number."""
    return np.int32 if largest < 2**31 else np.int64


def with_first(flat: np.ndarray, n: int) -> np.ndarray:
    """Return flat as n rows with room for an additional first entry.

    The rows lie at the beginning of flat. They move within it, the last ones first.

    >>> with_first(np.array([1, 2, 3, 4, 0, 0]), 2)[:, 1:]
    array([[1, 2],
           [3, 4]])
    """
    wide = flat.reshape(n, -1)
    narrow = flat[: flat.size - n].reshape(n, -1)
    for last in range(n, 0, -ROWS_MOVED):
        part = slice(max(last - ROWS_MOVED, 0), last)
        wide[part, 1:] = narrow[part].copy()
    return wide


def rows_of(ids: np.ndarray, entries: np.ndarray, columns: int) -> sparse.csr_matrix:
    """Return the matrix whose row i has entries[i] in the columns ids[i]."""
    q, k = ids.shape
    index = index_type(max(q * k, columns))
    indices = ids.astype(index, copy=False).ravel()
    indptr = np.arange(0, q * k + 1, k, dtype=index)
    return sparse.csr_matrix((entries.ravel(), indices, indptr), shape=(q, columns))


def with_diagonal(graph: sparse.csr_matrix, value: float) -> sparse.csr_matrix:
    """Return a square graph, columns ascending, with an added entry for each row with itself.

    The given graph has no such entries. scipy would drop an entry that is 0.

    >>> with_diagonal(sparse.csr_matrix([[0.0, 2.0], [2.0, 0.0]]), 0).nnz
    4
    """
    n, nnz = graph.shape[0], graph.nnz
    index = index_type(nnz + n)
    indices = np.empty(nnz + n, dtype=index)
    data = np.empty(nnz + n, dtype=graph.data.dtype)
    for first in range(0, n, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, n)
        lo, hi = graph.indptr[first], graph.indptr[last]
        numbers = np.arange(first, last)
        row = np.repeat(numbers, np.diff(graph.indptr[first : last + 1]))
        column = graph.indices[lo:hi]
        # An entry moves by one for each diagonal before it.
        place = np.arange(lo, hi) + row + (column > row)
        indices[place], data[place] = column, graph.data[lo:hi]
        below = np.bincount(row[column < row] - first, minlength=last - first)
        place = graph.indptr[first:last] + numbers + below
        indices[place], data[place] = numbers, value
    indptr = graph.indptr.astype(index) + np.arange(n + 1, dtype=index)
    return sparse.csr_matrix((data, indices, indptr), shape=graph.shape)


def nearest_first(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """Order the entries of each row in place by value, float32 of 0 or more, and equal ones by
    column."""
    graph.sort_indices()
    for first in range(0, graph.shape[0], ROWS_AT_ONCE):
        part = graph.indptr[first : first + ROWS_AT_ONCE + 1]
        span = slice(part[0], part[-1])
        row = np.repeat(np.arange(len(part) - 1, dtype=np.uint64), np.diff(part))
        # Numbers of 0 or more are ordered like their bits, so one sort handles rows and values.
        key = row << np.uint64(32) | graph.data[span].view(np.uint32)
        order = np.argsort(key, kind="stable")
        graph.data[span] = graph.data[span][order]
        graph.indices[span] = graph.indices[span][order]
    graph.has_sorted_indices = False
    return graph
