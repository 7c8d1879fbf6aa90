"""Methods of Engine that embed rows."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional

import numpy as np

from . import _arrays, _settings
from ._base import EngineBase


class Result(NamedTuple):
    """Points with the report of the call that computed them.

    Attributes
    ----------
    points : numpy.ndarray
        The points, float32, one row for each row of X.
    report : dict
        The library's report about the call: the graph, its certificate, steps, values.
    """

    points: np.ndarray
    report: Dict[str, Any]


class EmbeddingMethods(EngineBase):
    """Embeddings of rows, and of new rows among them."""

    def embed(
        self,
        X: Any,
        y: Any = None,
        *,
        form: str = "paper",
        coefficient: float = 0.0,
        sigma: Optional[float] = None,
        gamma: Optional[float] = None,
        mean_neighbours: Optional[float] = None,
        n_neighbors: Optional[int] = None,
        radius: Optional[float] = None,
        cutoff_weight: Optional[float] = None,
        tolerance: Optional[float] = None,
        operator: Optional[str] = None,
        isolated: Optional[str] = None,
        normalize_rows: bool = False,
        table: Optional[str] = None,
        allow_unlabelled: bool = False,
        n_components: int = 2,
        steps: Optional[int] = None,
        sigma_q: Optional[float] = None,
        seed: int = 1,
        stop: Optional[float] = None,
        normalize: Optional[str] = None,
        start: Any = None,
        out: Optional[np.ndarray] = None,
    ) -> Result:
        """Takes a few steps of the iteration on the Gaussian graph of X.

        One of sigma, gamma, mean_neighbours and n_neighbors is required, or radius alone.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The features. C-contiguous float32 is not copied.
        y : array-like of n integers, optional
            Labels, needed if coefficient is not 0. -1 means no label, with allow_unlabelled.
        form : {"paper", "attract"}
            The form of a step. In form "paper" steps begin at random points of n_components
            columns, in form "attract" at X.
        coefficient : float
            Weight of the labels: alpha in form "paper", beta in form "attract".
        sigma, gamma : float, optional
            Bandwidth of exp(-d**2 / (2 sigma**2)), or of exp(-gamma d**2).
        mean_neighbours : float, optional
            Instead: the bandwidth at which rows have this many neighbours on average.
        n_neighbors : int, optional
            Instead: the graph of this many nearest neighbours, with a bandwidth for each row.
        radius : float, optional
            Cuts the graph at this distance. Alone, it implies the bandwidth whose weight there
            is 0.001.
        cutoff_weight : float, optional
            Cuts the graph where weights are below this.
        tolerance : float, optional
            Allowed error of a row's weights. Default 1e-4.
        operator : {"csr", "pairs", "dense", "poly", "grid"}, optional
            How to compute products with the graph. Default: the cheapest that meets the tolerance.
        isolated : str, optional
            Handling of rows without neighbours: "keep" (default), "repair" or "fail".
        normalize_rows : bool
            Divides each row by its norm first.
        table : str, optional
            Weights between labels. Default "equal" in form "paper", "balanced" in "attract".
        allow_unlabelled : bool
            Accepts labels of -1.
        n_components : int
            Columns of the random start.
        steps : int, optional
            Number of steps. Default 5 in form "paper", 1 in form "attract".
        sigma_q : float, optional
            Standard deviation of the random start. Default 1e-8.
        seed : int
            Seed of the random start. Any integer; its lowest 64 bits count.
        stop : float, optional
            Ends the steps at this relative change.
        normalize : str, optional
            Rescales after each step.
        start : array-like of n rows, optional
            Points of the start.
        out : float32 array, optional
            Where to write the points.

        Returns
        -------
        Result
            The same bits for every n_jobs.

        Examples
        --------
        >>> import numpy as np
        >>> from privatemail.engine import Engine
        >>> X = np.random.default_rng(0).standard_normal((100, 3)).astype(np.float32)
        >>> points, report = Engine().embed(X, mean_neighbours=20, sigma_q=1.0)
        >>> points.shape
        (100, 2)
        """
        return self._embed("pm_embed", X, y, out, False, dict(
            form=form, coefficient=coefficient, sigma=sigma, gamma=gamma,
            mean_neighbours=mean_neighbours, n_neighbors=n_neighbors, radius=radius,
            cutoff_weight=cutoff_weight, tolerance=tolerance, operator=operator,
            isolated=isolated, normalize_rows=normalize_rows, table=table,
            allow_unlabelled=allow_unlabelled, n_components=n_components, steps=steps,
            sigma_q=sigma_q, seed=seed, stop=stop, normalize=normalize, start=start,
        ))  # fmt: skip

    def converge(
        self, X: Any, y: Any = None, *, out: Optional[np.ndarray] = None, **settings: Any
    ) -> Result:
        """Returns the leading eigenvectors of the graph of X, one per column.

        Parameters
        ----------
        X, y, out
            As for :meth:`embed`.
        **settings
            Keywords of :meth:`embed`, except for steps, sigma_q, normalize and start, which are a
            TypeError. The default form is "attract", and stop is the allowed residual, by default
            1e-5.

        Returns
        -------
        Result
            The report has the eigenvalues.

        Examples
        --------
        >>> import numpy as np
        >>> from privatemail.engine import Engine
        >>> X = np.random.default_rng(0).standard_normal((100, 3)).astype(np.float32)
        >>> Engine().converge(X, mean_neighbours=20, n_components=3).points.shape
        (100, 3)
        """
        settings.setdefault("form", "attract")
        return self._embed("pm_converge", X, y, out, True, settings, _settings.CONVERGE)

    def map(self, X: Any, *, out: Optional[np.ndarray] = None, **settings: Any) -> Result:
        """Returns a map for pictures, made from leading eigenvectors.

        Parameters
        ----------
        X, out
            As for :meth:`embed`.
        **settings
            Keywords of :meth:`embed`: those of the graph, from sigma to normalize_rows, and
            n_components, seed and stop. Others are a TypeError.

        Examples
        --------
        >>> import numpy as np
        >>> from privatemail.engine import Engine
        >>> X = np.random.default_rng(0).standard_normal((100, 3)).astype(np.float32)
        >>> Engine().map(X, n_neighbors=10).points.shape
        (100, 2)
        """
        return self._embed("pm_map", X, _NO_LABELS, out, True, settings, _settings.MAP)

    def plan(self, X: Any, *, map: bool = False, **settings: Any) -> Dict[str, Any]:
        """Returns what :meth:`embed` would do with X, and its cost.

        Parameters
        ----------
        X
            As for :meth:`embed`.
        map : bool
            Plans :meth:`map` instead.
        **settings
            Keywords of :meth:`embed`, or of :meth:`map`.
        """
        rows = _arrays.as_rows(X, "X", self.max_memory, collapse=True)
        table = _settings.MAP if map else _settings.EMBEDDING
        given = _settings.Settings(settings, self.max_memory, table)
        call = self._call(rows.copied + given.copied)
        call.run("pm_plan", self._engine(), rows.ref, given.ref, int(bool(map)))
        return call.report()

    def extend(
        self, X: Any, embedding: Any, queries: Any, k: int = 10, out: Optional[np.ndarray] = None
    ) -> np.ndarray:
        """Places new rows in an embedding of X, by their k nearest rows of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
        embedding : array-like of shape (n, m)
            The points of X.
        queries : array-like of shape (q, d)
            The new rows.
        k : int
            How many nearest rows of X place a query.
        out : float32 array of shape (q, m), optional

        Returns
        -------
        numpy.ndarray of shape (q, m), float32
        """
        rows = _arrays.as_rows(X, "X", self.max_memory, collapse=True)
        points = _arrays.as_rows(embedding, "embedding", self.max_memory)
        asked = _arrays.as_rows(queries, "queries", self.max_memory)
        result = _arrays.as_out(out, asked.array.shape[0], points.array.shape[1])
        call = self._call(
            rows.copied + points.copied + asked.copied,
            work=rows.array.size * len(asked.array) + points.array.size,
        )
        call.run("pm_extend", self._engine(), rows.ref, points.ref, asked.ref,
                 _settings.integer(k, "k"), result.ref)  # fmt: skip
        return result.array

    def _embed(
        self,
        name: str,
        X: Any,
        y: Any,
        out: Optional[np.ndarray],
        reduces: bool,
        settings: Dict[str, Any],
        table: _settings.Table = _settings.EMBEDDING,
    ) -> Result:
        rows = _arrays.as_rows(X, "X", self.max_memory, collapse=True)
        given = _settings.Settings(settings, self.max_memory, table)
        n, d = rows.array.shape
        result = _arrays.as_out(out, n, given.columns(d, reduces))
        arguments = [self._engine(), rows.ref]
        if y is not _NO_LABELS:
            labels = None if y is None else _arrays.as_labels(y, n)
            arguments.append(_arrays.pointer(labels))
        call = self._call(rows.copied + given.copied)
        call.run(name, *arguments, given.ref, result.ref)
        return Result(result.array, call.report())


# Stands for the labels of functions that take none.
_NO_LABELS = object()
