"""Methods of Engine that find neighbours and build graphs."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

import numpy as np

from . import _arrays, _call, _library, _settings
from ._base import EngineBase
from .exceptions import OutOfMemoryError, SettingError
from .kernel_product import KernelProduct

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_WEIGHTS = ("gaussian", "distance", "connectivity")


class NeighbourMethods(EngineBase):
    """Nearest rows, graphs of neighbours, and products with the full kernel."""

    def nearest(
        self,
        X: Any,
        queries: Any = None,
        k: int = 8,
        out: Optional[Tuple[np.ndarray, np.ndarray]] = None,
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Returns the k nearest rows of X for every query, nearest first.

        Parameters
        ----------
        X : array-like of shape (n, d)
        queries : array-like of shape (q, d), optional
            None means the rows of X, where no row is its own neighbour.
        k : int
        out : tuple of two contiguous arrays of shape (q, k), optional
            Where to write distances, in float32, and ids, in int32 or int64. After an exception a
            part may have been written.

        Returns
        -------
        distances : numpy.ndarray of shape (q, k), float32
            Euclidean distances.
        ids : numpy.ndarray of shape (q, k), int64 unless ``out`` says otherwise
            Numbers of rows of X. Among rows at equal distance the lower number comes first.

        Examples
        --------
        >>> from privatemail.engine import Engine
        >>> distances, ids = Engine().nearest([[0.0], [1.0], [3.0]], k=1)
        >>> ids.ravel().tolist(), distances.ravel().tolist()
        ([1, 0, 1], [1.0, 1.0, 2.0])
        """
        rows = _arrays.as_rows(X, "X", self.max_memory, collapse=True)
        asked = None if queries is None else _arrays.as_rows(queries, "queries", self.max_memory)
        wanted = _settings.integer(k, "k")
        count = (rows if asked is None else asked).array.shape[0]
        if not 1 <= wanted <= rows.array.shape[0]:  # before memory is allocated for them
            raise SettingError(
                f"k is {wanted}, want a number from 1 to the {rows.array.shape[0]} rows of X"
            )
        distances, ids = (None, None) if out is None else out
        distances = _arrays.filled(distances, (count, wanted), (np.float32,), "out[0]")
        ids = _arrays.filled(ids, (count, wanted), (np.int64, np.int32), "out[1]")
        call = self._call(
            rows.copied + (0 if asked is None else asked.copied), work=rows.array.size * count
        )
        call.run("pm_nearest", self._engine(), rows.ref, None if asked is None else asked.ref,
                 wanted, ids.itemsize, _arrays.pointer(ids), _arrays.pointer(distances))  # fmt: skip
        return distances, ids

    def graph(
        self,
        X: Any,
        queries: Any = None,
        *,
        weights: str = "gaussian",
        sigma: Optional[float] = None,
        gamma: Optional[float] = None,
        mean_neighbours: Optional[float] = None,
        n_neighbors: Optional[int] = None,
        radius: Optional[float] = None,
        cutoff_weight: Optional[float] = None,
        tolerance: Optional[float] = None,
        isolated: Optional[str] = None,
        normalize_rows: bool = False,
    ) -> Tuple["csr_matrix", Dict[str, Any]]:
        """Builds the truncated graph of X. It is symmetric and has no diagonal.

        Parameters
        ----------
        X : array-like of shape (n, d)
        queries : array-like of shape (q, d), optional
            Builds the graph between these rows and those of X, with the entries of the graph of all
            these rows. It needs radius, and also accepts sigma or gamma and normalize_rows. Each
            query is compared with each row of X, so it is for few queries.
        weights : {"gaussian", "distance", "connectivity"}
            The kind of entries: weights, Euclidean distances, or ones.
        sigma, gamma, mean_neighbours, n_neighbors, radius, cutoff_weight, tolerance, isolated, \
normalize_rows
            As for :meth:`embed`.

        Returns
        -------
        graph : scipy.sparse.csr_matrix of shape (n, n), or (q, n) with queries, float32
            The columns ascend within a row. A pair of equal rows has the distance 0, which is
            stored.
        report : dict
            The bandwidth, the certificate and more. It is empty with queries.

        Examples
        --------
        >>> from privatemail.engine import Engine
        >>> graph, report = Engine().graph([[0.0], [1.0], [3.0]], radius=1.5, weights="distance")
        >>> graph.toarray().tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        """
        if weights not in _WEIGHTS:
            raise SettingError(f"weights is not one of {', '.join(_WEIGHTS)}")
        rows = _arrays.as_rows(X, "X", self.max_memory, collapse=True)
        given = _settings.Settings(dict(
            sigma=sigma, gamma=gamma, mean_neighbours=mean_neighbours, n_neighbors=n_neighbors,
            radius=radius, cutoff_weight=cutoff_weight, tolerance=tolerance, isolated=isolated,
            normalize_rows=normalize_rows,
        ))  # fmt: skip
        graph = _call.Handle("graph")
        report: Dict[str, Any] = {}
        if queries is None:
            call = self._call(rows.copied)
            call.run("pm_graph_new", self._engine(), rows.ref, given.ref, graph.new)
            report = call.report()
        else:
            asked = _arrays.as_rows(queries, "queries", self.max_memory)
            call = self._call(
                rows.copied + asked.copied, work=rows.array.size * len(asked.array)
            )
            call.run(
                "pm_graph_between", self._engine(), rows.ref, asked.ref, given.ref, graph.new
            )
        try:
            return self._csr(graph, rows, weights), report
        finally:
            graph.close()

    def _csr(self, graph: _call.Handle, rows: _arrays.Rows, weights: str) -> "csr_matrix":
        """Copies a graph of the library to a scipy matrix."""
        from scipy.sparse import csr_matrix

        library = _library.get()
        count, stored = ctypes.c_int64(), ctypes.c_int64()
        _library.check(
            library.pm_graph_size(graph.value, ctypes.byref(count), ctypes.byref(stored))
        )
        n, entries, columns = count.value, stored.value, len(rows.array)
        index = np.dtype(np.int32 if max(n, columns, entries) < 2**31 else np.int64)
        size = entries * (index.itemsize + 4) + (n + 1) * index.itemsize
        if self.max_memory is not None and size > self.max_memory:
            raise OutOfMemoryError(
                f"the matrix of {entries} entries needs {size} bytes, "
                f"but the engine has {self.max_memory}"
            )
        indptr, indices = np.empty(n + 1, index), np.empty(entries, index)
        data = (np.ones if weights == "connectivity" else np.empty)(entries, np.float32)
        _library.check(library.pm_graph_copy(
            graph.value, index.itemsize, _arrays.pointer(indptr), _arrays.pointer(indices),
            _arrays.pointer(data) if weights == "gaussian" else None,
        ))  # fmt: skip
        if weights == "distance":
            call = self._call(rows.copied, work=entries * rows.array.shape[1])
            call.run(
                "pm_graph_distances", self._engine(), graph.value, rows.ref, _arrays.pointer(data)
            )
        matrix = csr_matrix((data, indices, indptr), shape=(n, columns), copy=False)
        matrix.has_sorted_indices = True
        return matrix

    def operator(
        self,
        X: Any,
        *,
        sigma: Optional[float] = None,
        gamma: Optional[float] = None,
        tolerance: Optional[float] = None,
        operator: Optional[str] = None,
        isolated: Optional[str] = None,
    ) -> KernelProduct:
        """Prepares products with the full kernel of X, without forming it.

        Parameters
        ----------
        X : array-like of shape (n, d)
        sigma, gamma : float, optional
            Bandwidth of exp(-d**2 / (2 sigma**2)), or of exp(-gamma d**2). One is required.
        tolerance : float, optional
            Allowed error of a row's weights. Default 1e-4.
        operator : str, optional
            How to compute products. Default: the cheapest way that meets the tolerance.
        isolated : str, optional
            Handling of rows that miss the tolerance: "keep" (default), "repair" or "fail".

        Returns
        -------
        KernelProduct

        Examples
        --------
        >>> import numpy as np
        >>> from privatemail.engine import Engine
        >>> product = Engine().operator([[0.0], [1.0]], gamma=1.0)
        >>> np.allclose(product.apply([[1.0], [0.0]]).ravel(), [1, np.exp(-1)], atol=1e-4)
        True
        """
        rows = _arrays.as_rows(X, "X", self.max_memory, collapse=True)
        given = _settings.Settings(dict(
            sigma=sigma, gamma=gamma, tolerance=tolerance, operator=operator, isolated=isolated
        ))  # fmt: skip
        call = self._call(rows.copied)
        handle = _call.Handle("operator")
        call.run("pm_operator_new", self._engine(), rows.ref, given.ref, handle.new)
        return KernelProduct(self, handle, rows.array.shape, call.report())
