"""Search among labelled rows: a map for new rows and a gallery."""

from __future__ import annotations

import numbers
import os
import warnings
from typing import Any, List, Optional, Tuple, Union

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ._arrays import Rows, is_missing, refuse_masked
from ._estimator import Estimator, RandomState, seed_of
from .model import Model

Path = Union[str, "os.PathLike[str]"]


class SupervisedEmbedding(ClassifierMixin, Estimator):
    """Learns a map from labelled rows that brings rows of the same class together.

    ``fit`` learns a map from rows to images: roots, norms, scales and a linear projection,
    as given by a *recipe*. Without a recipe it compares many on held-out rows, and takes the one
    with which the nearest row of most of them has their class. ``transform`` places rows by the
    map, without labels. Some recipes then move the fitted rows a little towards others of their
    class; the result is ``gallery_``. To find rows similar to new ones, search their images there.
    ``predict`` predicts the classes of new rows by the nearest rows of ``gallery_``, and ``score``
    returns how often it is right.

    Parameters
    ----------
    recipe : str, default="auto"
        "auto", or words with commas between, such as "discriminate" or
        "root,unit-rows,discriminate,ridge=1,unit-images,steps=1,beta=3". The first word may be
        the name of a recipe: "raw", "scaled", "classic" or "deep".
    goal : str, default="r1"
        The measure with which "auto" chooses: "r1", how often the nearest row has the class, "p8",
        the share of the 8 nearest that have it, "r8", how often one of them has it, or "map", the
        average precision of the 100 nearest.
    normalize_rows : bool, default=False
        Every row is divided by its norm first. Then a row of zeros is an error.
    n_neighbors : int, default=8
        How many of the nearest rows of ``gallery_`` with a label vote in ``predict``. ``fit`` and
        ``transform`` do not use it.
    measure : bool, default=True
        Whether a given recipe is measured on held-out rows. "auto" always is.
    n_jobs : int, default=None
        Threads. None and -1 use all processors. The result has the same bits for any number.
    max_memory : int, default=None
        Bytes that the computation may take. None means three quarters of the available memory.
    random_state : int, RandomState or None, default=None
        Decides which rows are held out. None is the same as 1.
    verbose : bool, default=False
        Shows progress.

    Attributes
    ----------
    recipe_ : str
        The recipe that was used.
    held_out_ : dict or None
        Measurements on held-out rows. "raw" is for unchanged rows, "scaled" for columns of equal
        spread, and "result" for a choice that had not seen the rows on which it is measured. Each
        has the share of rows whose nearest row has their class, "r_at_1", the share with one among
        the 8 nearest, "r_at_8", and the share of these 8 that have it, "p_at_8". "best" has the
        best recipes. None if nothing was measured, for example if there are too few rows.
    gallery_ : ndarray of float32, shape (n_samples, n_columns)
        The fitted rows, among which to search for images. Labels have moved them if the recipe has
        steps, so a score computed only on them is too good: hold rows out before ``fit``. Each
        access makes a copy.
    classes_ : ndarray
        The classes, in order. A loaded model has those of its file: integers, or text if classes
        have names.
    model_ : Model
        The model itself.
    n_features_in_ : int
        Features of ``fit``.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names.

    Notes
    -----
    A row without a label has None, NaN or the NA of pandas in ``y``. If ``y`` has integers, -1 also
    means no label, as in scikit-learn's semi-supervised estimators, and a warning says so. But if
    ``y`` only has -1 and 1, they are two classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from privatemail import SupervisedEmbedding
    >>> X, X_new, y, y_new = train_test_split(*load_wine(return_X_y=True), random_state=0)
    >>> embedding = SupervisedEmbedding().fit(X, y)
    >>> embedding.transform(X_new).shape[0] == len(X_new)
    True
    >>> bool(embedding.score(X_new, y_new) > 0.9)
    True
    """

    def __init__(
        self,
        recipe: str = "auto",
        *,
        goal: str = "r1",
        normalize_rows: bool = False,
        n_neighbors: int = 8,
        measure: bool = True,
        n_jobs: Optional[int] = None,
        max_memory: Optional[int] = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.recipe = recipe
        self.goal = goal
        self.normalize_rows = normalize_rows
        self.n_neighbors = n_neighbors
        self.measure = measure
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> "SupervisedEmbedding":
        """Learn the map and move the gallery.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Classes: integers, strings or other values that can be sorted.

        Returns
        -------
        SupervisedEmbedding
            The estimator itself.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit, and return the images of X by the map.

        These are the rows that ``transform`` returns for X. They differ from ``gallery_``, which
        labels have moved.
        """
        rows = self._fit(X, y, **fit_params)
        return self.model_.transform(rows, engine=self._engine())

    def transform(self, X: Any) -> np.ndarray:
        """Place rows by the map.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of float32, shape (n_samples, n_columns)
        """
        self._open()
        rows = self._rows(X, fitting=False)
        return self.model_.transform(rows, engine=self._engine())

    def predict(self, X: Any) -> np.ndarray:
        """Predict the classes of rows.

        The ``n_neighbors`` nearest rows of ``gallery_`` with a label vote: the nearest of n has n
        votes, the next n - 1, and the last one 1. The class with most votes wins, and among equal
        ones that of the nearest row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of ``classes_``.
        """
        labels, _ = self._vote(X)
        return self.classes_[np.searchsorted(self.model_.classes, labels)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of the votes of ``predict`` that each class has.

        Shares say how far the nearest rows agree. They are not calibrated probabilities.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            A column for each of ``classes_``; rows add up to 1.
        """
        _, votes = self._vote(X)
        votes = votes.astype(np.float64)
        return votes / votes.sum(axis=1, keepdims=True)

    def _vote(self, X: Any) -> Tuple[np.ndarray, np.ndarray]:
        self._open()
        rows = self._rows(X, fitting=False)
        if not len(self.model_.classes):
            raise ValueError(
                "the model does not know the classes of its rows: its file was written by an "
                "earlier version; fit it again"
            )
        return self.model_.predict(rows, self.n_neighbors, engine=self._engine())

    def save(self, path: Path) -> None:
        """Write the model to a file for ``load`` and the command ``privatemail``.

        The file has the map, the recipe, the measurements, the gallery with the class of each row,
        and ``feature_names_in_``. Keep it as private as X and y. Classes are saved as integers or
        as text; other values become their text. The parameters are not in the file; a pickle has
        them, and the unchanged classes.
        """
        self._fitted_model().save(path)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        n_neighbors: int = 8,
        n_jobs: Optional[int] = None,
        max_memory: Optional[int] = None,
        verbose: bool = False,
    ) -> "SupervisedEmbedding":
        """Return an estimator with the model of a file.

        The file is opened at the first use, so a server may load before it forks.

        Parameters
        ----------
        path : str or path
            A file of ``save`` or of ``privatemail fit``.
        n_neighbors, n_jobs, max_memory, verbose
            As for the class.
        """
        path = os.path.abspath(os.fspath(path))
        os.stat(path)  # a missing file is an error here, not at the first use
        loaded = cls(n_neighbors=n_neighbors, n_jobs=n_jobs, max_memory=max_memory, verbose=verbose)
        loaded._path = path
        return loaded

    @property
    def gallery_(self) -> np.ndarray:
        """The fitted rows, among which to search for images, as a copy."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("gallery_ exists only after fit")
        return self._fitted_model().rows()

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__ or "_path" in self.__dict__

    def __getattr__(self, name: str) -> Any:
        # Attributes of a loaded model exist once its file is open.
        if name in _OF_A_FILE:
            self._open()
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def __getstate__(self) -> dict:
        self._open()  # a pickle may be loaded where the file does not exist
        return super().__getstate__()

    def _more_tags(self) -> dict:
        return {**super()._more_tags(), "requires_y": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _fit(self, X: Any, y: Any) -> Rows:
        if y is None:
            raise ValueError(
                "SupervisedEmbedding requires y to be passed, but the target y is None"
            )
        rows = self._rows(X, fitting=True)
        codes, classes = encode_classes(y)
        check_consistent_length(rows.array, codes)
        self.__dict__.pop("_path", None)
        labels, names = model_classes(codes, classes)
        columns = getattr(self, "feature_names_in_", None)
        model = self._engine().fit(
            rows,
            labels,
            class_names=names,
            column_names=columns,
            recipe=None if self.recipe == "auto" else self.recipe,
            goal=self.goal,
            normalize_rows=self.normalize_rows,
            measure=self.measure,
            seed=seed_of(self.random_state),
        )
        self.classes_ = classes
        self._take(model)
        return rows

    def _take(self, model: Model) -> None:
        about = model.describe()
        self.model_ = model
        self.recipe_ = about["recipe"]
        self.held_out_ = about.get("held_out")
        self.n_features_in_ = model.n_features_in
        self._n_features_out = model.n_columns

    def _open(self) -> None:
        # Two threads may both open it, which is harmless.
        path = self.__dict__.get("_path")
        if path is not None:
            model = Model.open(path)
            columns = model.describe()["about"].get("column_names")
            if columns is not None:
                self.feature_names_in_ = np.asarray(columns, dtype=object)
            names = model.class_names
            self.classes_ = np.asarray(names if names else model.classes)
            self._take(model)
            self.__dict__.pop("_path", None)

    def _fitted_model(self) -> Model:
        check_is_fitted(self)
        return self.model_


# Attributes of a loaded model, which exist once its file is open.
_OF_A_FILE = (
    "model_",
    "recipe_",
    "held_out_",
    "classes_",
    "feature_names_in_",
    "n_features_in_",
    "_n_features_out",
)


def model_classes(
    codes: np.ndarray, classes: np.ndarray
) -> Tuple[np.ndarray, Optional[List[str]]]:
    """Return the labels for the classes of rows in a model, and their names.

    Integers of 0 or more are labels themselves, and have no names.

    >>> codes = np.array([1, -1, 0], dtype=np.int32)
    >>> model_classes(codes, np.array([3, 7]))
    (array([ 7, -1,  3], dtype=int32), None)
    >>> model_classes(codes, np.array(["ant", "bee"]))
    (array([ 1, -1,  0], dtype=int32), ['ant', 'bee'])
    """
    if classes.dtype.kind in "iu" and 0 <= classes[0] and classes[-1] < 2**31:
        return np.where(codes < 0, -1, classes[codes]).astype(np.int32), None
    names = [str(value) for value in classes]
    return codes, names if len(set(names)) == len(names) else None


def encode_classes(y: Any) -> Tuple[np.ndarray, np.ndarray]:
    """Return the number of each row's class, -1 for none, and the classes in order.

    >>> codes, classes = encode_classes(["cat", None, "ant", "cat"])
    >>> codes, classes
    (array([ 1, -1,  0,  1], dtype=int32), array(['ant', 'cat'], dtype=object))
    """
    y, labelled = read_labels(y)
    if y.dtype.kind != "O":  # for objects it only accepts texts
        check_classification_targets(y[labelled])
    try:
        classes, places = np.unique(y[labelled], return_inverse=True)
    except TypeError as err:
        raise ValueError("y has classes of different types, which cannot be sorted") from err
    if len(classes) < 2:
        hint = "" if labelled.all() else "; rows with -1, NaN, None or NA have no label"
        raise ValueError(
            "the number of classes has to be greater than one, "
            f"but y has {len(classes)} class{hint}"
        )
    codes = np.full(len(y), -1, dtype=np.int32)
    codes[labelled] = places
    return codes, classes


def as_labels(y: Any) -> np.ndarray:
    """Return y as an array. A list with None becomes an array of objects."""
    refuse_masked(y, "y")
    labels = np.asarray(y)
    if labels.dtype.kind == "c":  # the text of scikit-learn would show them
        raise ValueError("Complex data not supported: y has complex labels")
    if labels.dtype.kind in "US" and not isinstance(y, np.ndarray):
        # next to a text, numpy turns all numbers into texts, and NaN into "nan"
        return np.asarray(y, dtype=object)
    return labels


def read_labels(y: Any) -> Tuple[np.ndarray, np.ndarray]:
    """Return the labels, and which rows have one.

    >>> read_labels([3, None, 5])[1].tolist(), read_labels([-1, 1])[1].tolist()
    ([True, False, True], [True, True])
    """
    y = column_or_1d(as_labels(y), warn=True)
    labelled = ~missing(y)
    if y.dtype.kind == "O":
        y = as_integers(y, labelled)
    if y.dtype.kind != "i" or not (y == -1).any():
        return y, labelled
    no_label = labelled & (y == -1)
    others = np.unique(y[labelled & ~no_label])
    if others.tolist() == [1]:  # two classes, as for all of scikit-learn's classifiers
        return y, labelled
    if len(others) > 1:
        warnings.warn(
            f"y has -1 in {np.count_nonzero(no_label)} of {len(y)} rows, which means no "
            "label, as in scikit-learn's semi-supervised estimators. If -1 is a class, give it "
            "another number or a text; if not, None or NaN in its place avoids this "
            "warning",
            stacklevel=5,
        )
    return y, labelled & ~no_label


def missing(y: np.ndarray) -> np.ndarray:
    """Return which entries are None, NaN, NaT or the NA of pandas."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind in "mM":
        return np.isnat(y)
    if y.dtype.kind == "O":
        return np.fromiter(map(is_missing, y), dtype=bool, count=len(y))
    return np.zeros(len(y), dtype=bool)


def as_integers(y: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    """Return objects that are integers as an array of integers, others unchanged."""
    integers = (numbers.Integral, np.integer)
    for value in y[labelled]:
        if not isinstance(value, integers) or isinstance(value, bool):
            return y
    out = np.zeros(len(y), dtype=np.int64)
    try:
        out[labelled] = y[labelled]
    except OverflowError:
        return y
    return out
