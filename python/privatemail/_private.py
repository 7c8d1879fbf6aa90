"""Methods of Engine that keep rows private."""

from __future__ import annotations

import warnings
from typing import Any, Dict, Optional

import numpy as np

from . import _arrays, _call, _header, _settings
from ._base import EngineBase
from ._embedding import Result
from .ledger import Ledger
from .release import Release


class PrivateMethods(EngineBase):
    """Private first steps, their cost, and the steps after them."""

    def sensitivity(
        self, n: int, d: int, *, epsilon: float, delta: float, relation: str, **settings: Any
    ) -> Dict[str, Any]:
        """Returns the cost of a private first step of n rows of d features. It reads no rows.

        Parameters
        ----------
        n, d : int
        epsilon, delta, relation
            As for :meth:`privatize`.
        **settings
            Other keywords of :meth:`privatize`. Those of units and labels are ignored.

        Returns
        -------
        dict
            How far one record moves the step, the noise, and the proof.
        """
        given = _settings.Private(dict(settings, epsilon=epsilon, delta=delta, relation=relation))
        call = self._call()
        call.run("pm_sensitivity", _settings.integer(n, "n"), _settings.integer(d, "d"), given.ref)
        return call.report()

    def privatize(
        self,
        X: Any,
        y: Any = None,
        *,
        epsilon: float,
        delta: float,
        relation: str,
        label_mode: str,
        unit: Optional[str] = None,
        ledger: Optional[Ledger] = None,
        uncounted: bool = False,
        sigma: Optional[float] = None,
        gamma: Optional[float] = None,
        alpha: float = 0.0,
        table: Optional[str] = None,
        classes: Optional[int] = None,
        label_epsilon: Optional[float] = None,
        unit_kind: Optional[str] = None,
        new_unit: bool = False,
        other_relation: bool = False,
        records: Optional[int] = None,
        rule: Optional[str] = None,
        normalize_rows: bool = False,
        private_rows: Any = None,
        rest_public: bool = False,
        n_components: int = 2,
        sigma_q: Optional[float] = None,
        seed: int = 1,
        operator: Optional[str] = None,
        radius: Optional[float] = None,
    ) -> Release:
        """Takes one step of the iteration on rows, and adds noise that hides a record.

        Settings on which privacy depends have no default. docs/privacy.md says what is promised,
        and for whom.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of n integers, optional
        epsilon, delta : float
            The guarantee. A warning appears if epsilon is above 10, or delta is above 1e-3 or not
            far below 1 over the number of rows.
        relation : {"replace-one", "null", "features-replace", "features-null"}
            Which data sets are neighbours of each other.
        label_mode : {"public", "dropped", "randomised"}
            Handling of the labels.
        unit : str
            The unit whose budget is spent. Required, unless uncounted is True.
        ledger : Ledger
            The ledger that pays. None only if uncounted is True.
        uncounted : bool
            No ledger pays, and nothing is counted.
        sigma, gamma : float, optional
            The bandwidth, a public number. One is required.
        alpha : float
            Weight of the labels.
        table : {"equal", "different", "gaussian"}, optional
            Weights between labels. Default "equal".
        classes : int, optional
            The public number of classes.
        label_epsilon : float, optional
            Price of randomised labels, on top.
        unit_kind : {"record", "client"}, optional
            Default "record".
        new_unit : bool
            The ledger may not know the unit yet.
        other_relation : bool
            The release may protect other data sets than the unit's earlier ones, by another
            relation, records or private_rows. The unit's total then holds for the data sets that
            all of them protect. Without it such a release is a PrivacyError, and nothing is spent.
        records : int, optional
            Rows that change together. Default 1; required for a client.
        rule : {"analytic", "classical"}, optional
            How the noise follows from epsilon and delta. Default "analytic".
        normalize_rows : bool
            Divides each row by its norm first.
        private_rows : array-like of int, optional
            The rows that are private. Default: any row may be.
        rest_public : bool
            Only the one row of private_rows is private, all others are public.
        n_components, sigma_q, seed
            The public random start, as for :meth:`embed`.
        operator : {"dense", "poly", "background"}, optional
            Default: chosen by public numbers.
        radius : float, optional
            The radius of operator "background".

        Returns
        -------
        Release

        Raises
        ------
        PrivacyError
            Nothing is proved for these settings, or one is missing.
        BudgetError
            The ledger has too little left. Nothing was spent.
        SpentError
            The call failed after the ledger had paid. Its attribute release has the release if
            there is one. So has KeyboardInterrupt, if Ctrl-C came too late to stop the payment; if
            there is no release, this error is its cause.
        """
        rows = _arrays.as_rows(X, "X", self.max_memory)
        labels = None if y is None else _arrays.as_labels(y, rows.array.shape[0])
        given = _settings.Private(dict(
            epsilon=epsilon, delta=delta, relation=relation, label_mode=label_mode, unit=unit,
            uncounted=uncounted, sigma=sigma, gamma=gamma, alpha=alpha, table=table,
            classes=classes, label_epsilon=label_epsilon, unit_kind=unit_kind,
            new_unit=new_unit, other_relation=other_relation, records=records, rule=rule,
            normalize_rows=normalize_rows,
            private_rows=private_rows, rest_public=rest_public, n_components=n_components,
            sigma_q=sigma_q, seed=seed, operator=operator, radius=radius,
        ))  # fmt: skip
        call = self._call(rows.copied)
        handle = _call.Handle("release")
        if ledger is not None and not isinstance(ledger, Ledger):
            raise TypeError(
                f"ledger is a {type(ledger).__name__}, want a Ledger, "
                "or None if uncounted is True"
            )
        payer = None if ledger is None else ledger._handle.value
        _warn_if_weak(given.struct, rows.array.shape[0])  # before anything is spent
        try:
            call.run("pm_privatize", self._engine(), rows.ref, _arrays.pointer(labels), given.ref,
                     payer, handle.new)  # fmt: skip
            return Release(handle)
        except BaseException as error:  # also Ctrl-C, up to the return
            if handle:  # the ledger has paid for it
                setattr(error, "release", Release(handle))
            raise

    def continue_(
        self,
        release: Release,
        y: Any = None,
        *,
        coefficient: Optional[float] = None,
        out: Optional[np.ndarray] = None,
        **settings: Any,
    ) -> Result:
        """Takes later steps, from only the release and public labels: they cost no privacy.

        Parameters
        ----------
        release : Release
        y : array-like of integers, optional
            Public labels of the rows of the release.
        coefficient : float, optional
            Another alpha than that of the release.
        out : float32 array, optional
        **settings
            Keywords of :meth:`embed`: sigma, gamma, mean_neighbours, cutoff_weight, tolerance,
            operator, isolated, steps, stop and normalize. Others are a TypeError.

        Returns
        -------
        Result
        """
        if not isinstance(release, Release):
            raise TypeError(f"release is a {type(release).__name__}, want a Release")
        rows, columns = release.shape
        given = _settings.Settings(
            dict(settings, coefficient=coefficient), table=_settings.LATER
        )
        labels = None if y is None else _arrays.as_labels(y, rows)
        result = _arrays.as_out(out, rows, columns)
        call = self._call()
        call.run("pm_continue", self._engine(), release._handle.value, _arrays.pointer(labels),
                 given.ref, int(coefficient is not None), result.ref)  # fmt: skip
        return Result(result.array, call.report())


def _warn_if_weak(settings: _header.PrivateSettings, rows: int) -> None:
    """Warns of a guarantee that means little. It reads only public numbers, and does not consider
    the guarantee between two real rows under the relations with a zero row."""
    epsilon = settings.epsilon
    if settings.label_mode == b"randomised":
        epsilon += settings.label_epsilon * max(1, settings.records)
    if epsilon > 10 or settings.delta > 1e-3:
        warnings.warn(
            f"epsilon {epsilon:g} and delta {settings.delta:g} give no meaningful formal "
            "protection: epsilon should be at most 10, and delta at most 0.001",
            stacklevel=3,
        )
    if settings.delta * rows > 0.1:
        warnings.warn(
            f"delta {settings.delta:g} should be far below 1/(number of people), but there are "
            f"{rows} rows",
            stacklevel=3,
        )
