"""The engine: workers and a memory limit, with its methods."""

from __future__ import annotations

import ctypes
import json
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from . import _arrays, _call, _header, _library, _progress, _settings
from ._base import workers
from ._embedding import EmbeddingMethods, Result
from ._neighbours import NeighbourMethods
from ._private import PrivateMethods
from .kernel_product import KernelProduct
from .model import Model

__all__ = ["Engine", "KernelProduct", "Result", "default_engine"]


class Engine(EmbeddingMethods, NeighbourMethods, PrivateMethods):
    """Workers and a memory limit. All methods may be called by several threads at once.

    The engine of the library is created at the first call, so a process may fork between
    ``Engine()`` and that call. A process that forks later cannot use the library: see
    :class:`~privatemail.exceptions.ForkedError`. Ctrl-C on the main thread ends a call. An engine
    pickles by its parameters.

    Parameters
    ----------
    n_jobs : int, optional
        Worker threads. None and -1 mean all processors, -2 all but one. For joblib None means 1,
        unlike here. Results have the same bits for every number.
    max_memory : int, optional
        Bytes that calls may take together. Default: three quarters of the available memory.
    level : str, optional
        Lowers the level of instructions, such as "avx2".
    measure : bool
        Chooses operators by the measured speed of this machine. By default the choice is the
        same on every machine.
    verbose : bool or callable
        True shows progress on standard error, with tqdm if it is installed. A function gets (stage,
        done, total), from threads of the library, one call at a time. An exception of the function
        ends the call, and the caller gets it.

    Examples
    --------
    >>> from privatemail.engine import Engine
    >>> with Engine(n_jobs=2) as engine:
    ...     engine.workers
    2
    """

    @property
    def workers(self) -> int:
        """The number of worker threads."""
        count = ctypes.c_int32()
        _library.check(_library.get().pm_engine_workers(self._engine(), ctypes.byref(count)))
        return count.value

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        recipe: Optional[str] = None,
        goal: Optional[str] = None,
        normalize_rows: bool = False,
        measure: bool = True,
        seed: int = 1,
        class_names: Optional[Sequence[str]] = None,
        column_names: Optional[Sequence[str]] = None,
    ) -> Model:
        """Learns a map that brings rows of one label together, for rows without labels.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of n integers
            Labels, -1 for none.
        recipe : str, optional
            Such as "classic" or "root,unit-rows,discriminate". Default: the one that finds most on
            held-out rows.
        goal : str, optional
            The measure that chooses the recipe: "r1", the share of rows whose nearest row has their
            label (the default), "p8", the share of the eight nearest that have it, "r8", how often
            one of them has it, or "map", the average precision of the hundred nearest.
        normalize_rows : bool
            Divides every row by its norm, also the rows that the model places later.
        measure : bool
            Also measures a given recipe.
        seed : int
            Decides which rows are held out. Any integer; its lowest 64 bits count.
        class_names, column_names : sequence of str, optional
            Names of labels 0, 1 and so on, and of the columns of X, which the model keeps.

        Returns
        -------
        Model
            Its report has the measurements.
        """
        rows = _arrays.as_rows(X, "X", self.max_memory, collapse=True)
        labels = _arrays.as_labels(y, rows.array.shape[0])
        names = _names(class_names, column_names)
        settings = _header.FitSettings(
            struct_size=ctypes.sizeof(_header.FitSettings),
            recipe=_settings.text(recipe, "recipe"),
            goal=_settings.text(goal, "goal"),
            normalize_rows=_settings.flag(normalize_rows, "normalize_rows"),
            unmeasured=1 - _settings.flag(measure, "measure"),
            seed=_settings.seed(seed, "seed"),
            names=_arrays.pointer(names),
            names_size=names.size,
        )
        call = self._call(rows.copied)
        handle = _call.Handle("model")
        call.run(
            "pm_fit",
            self._engine(),
            rows.ref,
            _arrays.pointer(labels),
            ctypes.byref(settings),
            handle.new,
        )
        return Model(handle, call.report())

    def close(self) -> None:
        """Ends the workers, after running calls have ended. Later calls raise HandleError."""
        with self._lock:
            self._closed = True
            handle, self._handle = self._handle, None
        if handle is not None:
            handle.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return Engine, (self.n_jobs, self.max_memory, self.level, self.measure, self.verbose)


def _names(classes: Optional[Sequence[str]], columns: Optional[Sequence[str]]) -> np.ndarray:
    """Returns the JSON with names for pm_fit, as bytes."""
    given = {"classes": classes, "columns": columns}
    lists = {key: [str(name) for name in all_] for key, all_ in given.items() if all_ is not None}
    return np.frombuffer(json.dumps(lists).encode(), np.uint8)


_defaults: Dict[Tuple[int, Optional[int], Any], Engine] = {}


def default_engine(
    n_jobs: Optional[int] = None,
    max_memory: Optional[int] = None,
    verbose: _progress.Verbose = False,
) -> Engine:
    """Returns the engine of this process with these parameters, the same one each time.

    >>> from privatemail.engine import default_engine
    >>> default_engine(n_jobs=2) is default_engine(n_jobs=2)
    True
    """
    if callable(verbose):  # the caller's own function, which no other caller should share
        return Engine(n_jobs, max_memory, verbose=verbose)
    key = (workers(n_jobs), max_memory, bool(verbose))
    engine = _defaults.get(key)
    if engine is None:  # setdefault needs no lock, which could stay locked after a fork
        engine = _defaults.setdefault(key, Engine(n_jobs, max_memory, verbose=verbose))
    if engine._closed:
        engine = _defaults[key] = Engine(n_jobs, max_memory, verbose=verbose)
    return engine
