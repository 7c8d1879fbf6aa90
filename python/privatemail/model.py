"""The result of a fit: a map for rows without labels."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import numpy as np

from . import _arrays, _call, _library, _settings
from .exceptions import HandleError, SettingError

if TYPE_CHECKING:
    from .engine import Engine


class Model:
    """A fitted map. :meth:`Engine.fit` makes it, :meth:`open` reads its file.

    It pickles as the bytes of its file. A model from a pickle is read at its first use, so a server
    may load one before it forks.

    Attributes
    ----------
    report : dict
        The library's report about the fit. It is empty for an opened model; :meth:`describe`
        describes the file.
    """

    def __init__(self, handle: Optional[_call.Handle], report: Optional[Dict[str, Any]] = None):
        self._read = handle
        self._unread: Optional[bytes] = None
        self._known: Optional[Tuple[int, int, int]] = None  # its size, once requested
        self._labels: Optional[np.ndarray] = None  # its classes, once requested
        self.report: Dict[str, Any] = report or {}

    @property
    def _handle(self) -> _call.Handle:
        unread = self._unread
        if unread is not None:  # two threads may both read it, which is harmless
            self._read = Model.from_bytes(unread)._read
            self._unread = None
        if self._read is None:
            raise HandleError("the model was closed")
        return self._read

    @classmethod
    def open(cls, path: Any) -> "Model":
        """Opens a file of :meth:`save` or of the command ``privatemail fit``."""
        name = _settings.path(path)
        handle = _call.Handle("model")
        _library.check(_library.get().pm_model_open(name, handle.new))
        return cls(handle)

    @classmethod
    def from_bytes(cls, data: Any) -> "Model":
        """Returns the model in the bytes of a file."""
        held = np.frombuffer(data, np.uint8)
        handle = _call.Handle("model")
        _library.check(_library.get().pm_model_read(_arrays.pointer(held), held.size, handle.new))
        return cls(handle)

    def to_bytes(self) -> bytes:
        """Returns the bytes of the file."""
        unread = self._unread
        if unread is not None:
            return unread
        return _call.read(_library.get().pm_model_write, self._handle.value)

    def save(self, path: Any) -> None:
        """Writes the model to a file, which other programs can open immediately."""
        _call.Call().run("pm_model_save", self._handle.value, _settings.path(path))

    def transform(
        self, X: Any, engine: Optional["Engine"] = None, out: Optional[np.ndarray] = None
    ) -> np.ndarray:
        """Places rows by the map.

        Parameters
        ----------
        X : array-like of shape (rows, n_features_in)
        engine : Engine, optional
            The engine to use. Default: that of :func:`default_engine`.
        out : float32 array of shape (rows, n_columns), optional

        Returns
        -------
        numpy.ndarray of shape (rows, n_columns), float32
        """
        if engine is None:
            from .engine import default_engine

            engine = default_engine()
        rows = _arrays.as_rows(X, "X", engine.max_memory)
        result = _arrays.as_out(out, rows.array.shape[0], self.n_columns)
        call = engine._call(rows.copied, work=rows.array.size * result.array.shape[1])
        call.run("pm_model_apply", engine._engine(), self._handle.value, rows.ref, result.ref)
        return result.array

    @property
    def classes(self) -> np.ndarray:
        """The labels of fitted rows, ascending.

        It is empty for a model of an earlier version, which cannot predict classes.
        """
        handle = self._handle.value  # a closed model has no classes
        if self._labels is None:
            function, count = _library.get().pm_model_classes, ctypes.c_size_t()
            _library.check(function(handle, None, 0, ctypes.byref(count)))
            labels = np.empty(count.value, np.int32)
            if labels.size:
                _library.check(
                    function(handle, _arrays.pointer(labels), labels.size, ctypes.byref(count))
                )
            labels.flags.writeable = False
            self._labels = labels
        return self._labels

    @property
    def class_names(self) -> Optional[List[str]]:
        """The names of ``classes``, in their order. None if classes are numbers."""
        function = _library.get().pm_model_class_name
        names = [
            _call.read(function, self._handle.value, int(label)).rstrip(b"\0").decode()
            for label in self.classes
        ]
        return names if any(names) else None

    def predict(
        self, X: Any, n_neighbors: int = 8, engine: Optional["Engine"] = None
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Predicts the classes of rows by the fitted rows nearest to their images.

        The nearest of n has n votes, the next n - 1, and the last one 1. The class with most votes
        wins, and among classes with equally many the one of the nearest row.

        Parameters
        ----------
        X : array-like of shape (rows, n_features_in)
        n_neighbors : int
            How many rows with a label vote.
        engine : Engine, optional
            The engine to use. Default: that of :func:`default_engine`.

        Returns
        -------
        labels : numpy.ndarray of shape (rows,), int32
        votes : numpy.ndarray of shape (rows, len(classes)), float32
            The share of the votes that each class has.
        """
        if engine is None:
            from .engine import default_engine

            engine = default_engine()
        voters = _settings.integer(n_neighbors, "n_neighbors")
        if voters < 1:
            raise SettingError("n_neighbors is below 1")
        rows = _arrays.as_rows(X, "X", engine.max_memory)
        count = rows.array.shape[0]
        labels = np.empty(count, np.int32)
        # The library refuses a model without classes; a matrix needs at least one column.
        votes = _arrays.as_out(None, count, max(1, len(self.classes)))
        work = (rows.array.shape[1] + self.n_rows) * count * self.n_columns
        call = engine._call(rows.copied, work=work)
        call.run(
            "pm_model_predict",
            engine._engine(),
            self._handle.value,
            rows.ref,
            voters,
            _arrays.pointer(labels),
            None,
            votes.ref,
        )
        return labels, votes.array

    def rows(self) -> np.ndarray:
        """Returns the fitted rows, among which images of queries find their neighbours.

        Labels have moved them if the recipe has such a step. So they do not show how well the map
        places unseen rows.
        """
        count, _, output = self._size()
        result = _arrays.as_out(None, count, output)
        _library.check(_library.get().pm_model_rows(self._handle.value, result.ref))
        return result.array

    def describe(self) -> Dict[str, Any]:
        """Returns a description of the model: its recipe, sizes and measurements."""
        return _call.describe(_library.get().pm_model_describe, self._handle.value)

    @property
    def n_rows(self) -> int:
        """The number of fitted rows."""
        return self._size()[0]

    @property
    def n_features_in(self) -> int:
        """The number of columns of rows to place."""
        return self._size()[1]

    @property
    def n_columns(self) -> int:
        """The number of columns of their images."""
        return self._size()[2]

    def _size(self) -> Tuple[int, int, int]:
        handle = self._handle.value  # a closed model has no size
        if self._known is None:
            rows, features, columns = ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int64()
            _library.check(_library.get().pm_model_size(
                handle, ctypes.byref(rows), ctypes.byref(features), ctypes.byref(columns)
            ))  # fmt: skip
            self._known = rows.value, features.value, columns.value
        return self._known

    def close(self) -> None:
        """Frees the memory of the model."""
        self._unread = None
        if self._read is not None:
            self._read.close()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _restored, (self.to_bytes(), self.report)


def _restored(data: bytes, report: Dict[str, Any]) -> Model:
    model = Model(None, report)
    model._unread = data
    return model
