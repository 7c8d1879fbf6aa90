"""Private first steps, their cost, and computations from them."""

from __future__ import annotations

from typing import Any, Dict, Optional

from ._embedding import Result
from .engine import default_engine
from .ledger import Ledger
from .release import Release


def sensitivity(
    n: int, d: int, *, epsilon: float, delta: float, relation: str, **settings: Any
) -> Dict[str, Any]:
    """Return the cost of a private first step of n rows of d features. It reads no rows.

    Parameters
    ----------
    n, d : int
        Rows and features, public numbers.
    epsilon, delta, relation
        As for :func:`privatize`.
    **settings
        Other keywords of :func:`privatize`. One of sigma and gamma is needed. Those of labels,
        units and ledgers are ignored.

    Returns
    -------
    dict
        How far one record can move the step, the noise for epsilon and delta, and the size of a
        typical entry of the step for comparison.

    Examples
    --------
    >>> from privatemail import sensitivity
    >>> assessment = sensitivity(
    ...     1000, 64, epsilon=1, delta=1e-6, relation="features-replace", sigma=1
    ... )
    >>> assessment["operator"]
    'dense'
    """
    return default_engine().sensitivity(
        n, d, epsilon=epsilon, delta=delta, relation=relation, **settings
    )


def privatize(
    X: Any,
    y: Any = None,
    *,
    epsilon: float,
    delta: float,
    relation: str,
    label_mode: str,
    unit: Optional[str],
    ledger: Optional[Ledger],
    n_jobs: Optional[int] = None,
    max_memory: Optional[int] = None,
    **settings: Any,
) -> Release:
    """Take the first step of the iteration on private rows, and add noise to it.

    Take two data sets that differ in one row; the relation says how. Let P[S] be the
    probability that the release falls into a set S of outcomes with one of them, P'[S] with the
    other. Then P[S] <= e^epsilon P'[S] + delta for every S. With ``records`` that many rows differ,
    and if labels are randomised, ``label_epsilon`` times that number is added to epsilon. This is
    proved for ideal noise; our noise comes from ChaCha8, which is assumed to be a good generator.
    The numbers of rows, columns and classes, the bandwidth, alpha and the seed are public: choose
    them without looking at private rows. docs/privacy.md of the project has the whole promise and
    its limits.

    Settings on which the promise depends have no default, so none is made by accident.

    Parameters
    ----------
    X : array of shape (n, n_features)
        The rows, each of norm 1. With ``normalize_rows=True`` rows are divided by their norm first.
    y : array of n integers, default=None
        Labels from 0 to ``classes - 1``. They are not renumbered: if labels are private, so is
        which labels occur.
    epsilon, delta : float
        The promise about the noise. With epsilon above 10 or delta above 1e-3 there is no
        meaningful formal protection.
    relation : {"replace-one", "null", "features-replace", "features-null"}
        Which data sets are neighbours: one row is replaced, or is a row of zeros, together with its
        label. For relations that begin with "features-" the label is public and stays.
    label_mode : {"public", "dropped", "randomised"}
        Handling of labels after the release. "public" needs a relation in which labels are public.
        "dropped" uses no labels in later steps. "randomised" replaces each label at random, for
        ``label_epsilon`` on top of epsilon.
    unit : str or None
        The name whose budget pays. Rows that are released together share one name, in every release
        with them. None is for uncounted releases.
    ledger : Ledger or None
        The ledger that counts. None needs ``uncounted=True``: nothing is counted, and the
        disclosures of several releases of the same rows add up unnoticed.
    n_jobs, max_memory
        As for :class:`SupervisedEmbedding`.
    **settings
        Other keywords of :meth:`Engine.privatize`. One of sigma and gamma is needed, and
        ``classes`` if labels are used.

    Returns
    -------
    Release
        It may be published as far as the promise goes. Results computed from it and from public
        numbers keep the promise.

    Raises
    ------
    PrivacyError
        Nothing is proved for these settings, or one is missing.
    BudgetError
        The ledger has too little left. Nothing was spent.
    SpentError
        The call failed after the ledger had paid. Its attribute ``release`` has the release if
        there is one: keep it. So has KeyboardInterrupt, if Ctrl-C came after the payment; if there
        is no release, its cause is this error.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from privatemail import Ledger, continue_, privatize
    >>> X = np.random.default_rng(0).standard_normal((200, 8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "ledger")
    ...     with Ledger.create(path, epsilon=2, delta=1e-5, kind="gdp") as ledger:
    ...         release = privatize(
    ...             X, epsilon=1, delta=1e-6, relation="features-replace", label_mode="dropped",
    ...             unit="patients", new_unit=True, ledger=ledger, normalize_rows=True, sigma=1,
    ...         )
    >>> release.points().shape
    (200, 2)
    >>> continue_(release, mean_neighbours=20, steps=2).points.shape
    (200, 2)
    """
    return default_engine(n_jobs=n_jobs, max_memory=max_memory).privatize(
        X,
        y,
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        label_mode=label_mode,
        unit=unit,
        ledger=ledger,
        **settings,
    )


def continue_(
    release: Release,
    y: Any = None,
    *,
    n_jobs: Optional[int] = None,
    max_memory: Optional[int] = None,
    **settings: Any,
) -> Result:
    """Take later steps from only a release and public labels.

    It reads no private rows. So the promise of the release holds for the result too, as long as
    labels and settings are public, and nothing is spent.

    Parameters
    ----------
    release : Release
    y : array of n integers, default=None
        Public labels. Private labels must not be given here.
    n_jobs, max_memory
        As for :class:`SupervisedEmbedding`.
    **settings
        Keywords of :meth:`Engine.continue_`: ``coefficient`` for another alpha than the
        release has, and sigma, gamma, mean_neighbours, cutoff_weight, tolerance, operator,
        isolated, steps, stop and normalize as for :meth:`Engine.embed`.

    Returns
    -------
    Result
        ``points`` and ``report``.
    """
    return default_engine(n_jobs=n_jobs, max_memory=max_memory).continue_(release, y, **settings)
