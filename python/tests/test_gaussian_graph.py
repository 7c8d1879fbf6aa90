"""GaussianGraph compared with scikit-learn and plain numpy."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import EfficiencyWarning
from sklearn.manifold import Isomap
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsTransformer,
    RadiusNeighborsTransformer,
)
from sklearn.pipeline import make_pipeline

from privatemail import Engine, GaussianGraph, gaussian_graph
from privatemail._arrays import as_rows
from privatemail._tuned_weights import scales
from privatemail.gaussian_graph import nearest_first, with_diagonal, with_first


def rows(n=120, d=3, seed=0):
    return np.random.RandomState(seed).normal(size=(n, d)).astype(np.float32)


def between(A, B):
    return np.linalg.norm(A[:, None].astype(np.float64) - B[None].astype(np.float64), axis=2)


def stored(graph):
    """The entries that a matrix stores, including zeros."""
    mask = graph.copy()
    mask.data = np.ones_like(mask.data)
    return mask.toarray() > 0


@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("k", [1, 4])
def test_nearest_as_scikit_learn_has_them(d, mode, k):
    X, new = rows(d=d), rows(40, d, seed=1)
    theirs = KNeighborsTransformer(n_neighbors=k, mode=mode).fit(X)
    ours = GaussianGraph(n_neighbors=k, mode=mode).fit(X)
    for wanted, found in (
        (theirs.transform(X), GaussianGraph(n_neighbors=k, mode=mode).fit_transform(X)),
        (theirs.transform(X), ours.transform(X)),
        (theirs.transform(new), ours.transform(new)),
    ):
        assert found.shape == wanted.shape and found.nnz == wanted.nnz
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found.indptr, wanted.indptr)
        np.testing.assert_array_equal(stored(found), stored(wanted))
        np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=1e-5, atol=1e-6)
        if mode == "distance":
            np.testing.assert_array_equal(found.indices, wanted.indices)


@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_radius_as_scikit_learn_has_it(d, mode):
    X, new = rows(d=d), rows(40, d, seed=1)
    radius = float(np.quantile(between(X, X), 0.1))
    theirs = RadiusNeighborsTransformer(radius=radius, mode=mode).fit(X)
    ours = GaussianGraph(radius=radius, mode=mode).fit(X)
    for wanted, found in (
        (theirs.transform(X), GaussianGraph(radius=radius, mode=mode).fit_transform(X)),
        (theirs.transform(X), ours.transform(X)),
        (theirs.transform(new), ours.transform(new)),
    ):
        assert found.nnz == wanted.nnz
        np.testing.assert_array_equal(stored(found), stored(wanted))
        np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "parameters",
    [{"radius": 1.0}, {"radius": 1.0, "sigma": 0.7}, {"sigma": 0.4}, {"mean_neighbours": 9}],
)
def test_weights_of_one_bandwidth(parameters):
    X, new = rows(), rows(30, seed=1)
    graph = GaussianGraph(**parameters)
    for wanted, found in ((X, graph.fit_transform(X)), (new, graph.fit(X).transform(new))):
        d = between(wanted, X)
        weights = np.where(d <= graph.radius_, np.exp(-(d**2) / (2 * graph.sigma_**2)), 0)
        np.testing.assert_allclose(found.toarray(), weights, rtol=2e-5, atol=1e-7)
    if "sigma" not in parameters or "radius" not in parameters:
        assert np.exp(-((graph.radius_ / graph.sigma_) ** 2) / 2) == pytest.approx(1e-3)
    if "mean_neighbours" in parameters:
        assert graph.fit_transform(X).nnz / len(X) - 1 == pytest.approx(9, rel=0.2)


def test_pairs_at_the_radius_are_neighbours():
    X = np.array([[i, j] for i in range(12) for j in range(12)], dtype=np.float32)
    found = GaussianGraph(radius=5, mode="connectivity").fit_transform(X)
    np.testing.assert_array_equal(found.toarray(), between(X, X) <= 5)


def tuned(X, new, k):
    """Weights with a bandwidth for each row, by their definition."""

    def scale(d):
        return np.sort(d, axis=1)[:, min(7, k) - 1]

    d = between(X, X)
    np.fill_diagonal(d, np.inf)
    own, dq = scale(d), between(new, X)
    weights = np.maximum(np.exp(-(dq**2) / np.outer(scale(dq), own)), 1e-3)
    near = np.argsort(dq, axis=1)[:, :k]
    mask = np.zeros_like(dq, dtype=bool)
    np.put_along_axis(mask, near, True, axis=1)
    return np.where(mask, weights, 0)


@pytest.mark.parametrize("k", [1, 3, 7, 12])
def test_weights_with_a_bandwidth_for_each_row(k):
    X, new = rows(), rows(30, seed=1) * 2
    graph = GaussianGraph(n_neighbors=k)
    found = graph.fit_transform(X).toarray()
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), np.ones(len(X)))
    d = between(X, X)
    np.fill_diagonal(d, np.inf)
    near = d <= np.sort(d, axis=1)[:, k - 1 : k]
    np.testing.assert_array_equal(found > 0, near | near.T | np.eye(len(X), dtype=bool))
    own = np.sort(d, axis=1)[:, min(7, k) - 1]
    wanted = np.maximum(np.exp(-(d**2) / np.outer(own, own)), 1e-3)
    np.testing.assert_allclose(found[near], wanted[near], rtol=1e-4)
    assert graph.radius_ is None and graph.sigma_ is None

    np.testing.assert_allclose(graph.transform(new).toarray(), tuned(X, new, k), rtol=1e-4)
    # Rows that equal fitted ones have the weights of these, at any place.
    mixed = np.concatenate([new[:3], X[5:9], new[3:5], X[:1]])
    got = graph.transform(mixed).toarray()
    np.testing.assert_array_equal(got[[3, 4, 5, 6, 9]], found[[5, 6, 7, 8, 0]])
    np.testing.assert_allclose(got[[0, 1, 2, 7, 8]], tuned(X, new, k)[:5], rtol=1e-4)


def test_equal_rows():
    X = np.repeat(rows(10), 12, axis=0)
    for mode, own in (("distance", 0), ("gaussian", 1), ("connectivity", 1)):
        found = GaussianGraph(radius=1e-3, mode=mode).fit_transform(X)
        assert found.nnz == 10 * 12 * 12
        assert (found.data == own).all()
    found = GaussianGraph(n_neighbors=5, mode="distance").fit_transform(X)
    assert (found.indices[::6] == np.arange(len(X))).all()  # each row itself first
    assert found.nnz == 6 * len(X) and (found.data == 0).all()
    graph = GaussianGraph(n_neighbors=5)
    assert np.isfinite(graph.fit_transform(X).data).all()
    # The nearest five equal each other and have no scale, so the scale of the new row is used for
    # both.
    np.testing.assert_allclose(graph.transform(rows(10, seed=3)).data, np.exp(-1), rtol=1e-4)


def test_default_is_ten_nearest_or_all():
    X = rows()
    np.testing.assert_array_equal(
        GaussianGraph().fit_transform(X).toarray(),
        GaussianGraph(n_neighbors=10).fit_transform(X).toarray(),
    )
    assert GaussianGraph().fit_transform(X[:4]).nnz == 16


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_other_estimators_take_it():
    X, y = make_moons(300, noise=0.05, random_state=0)
    affinity = GaussianGraph(mean_neighbours=15).fit_transform(X)
    clusters = SpectralClustering(2, affinity="precomputed", random_state=0).fit_predict(affinity)
    assert adjusted_rand_score(y, clusters) == 1

    X, y = make_blobs(300, centers=3, cluster_std=0.5, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", EfficiencyWarning)  # entries that are not nearest first
        distances = GaussianGraph(radius=0.8, mode="distance").fit_transform(X)
        found = DBSCAN(eps=0.8, metric="precomputed").fit_predict(distances)
        np.testing.assert_array_equal(found, DBSCAN(eps=0.8).fit_predict(X))

        X, y = load_digits(return_X_y=True)
        ours = make_pipeline(
            GaussianGraph(n_neighbors=5, mode="distance"),
            KNeighborsClassifier(5, metric="precomputed"),
        ).fit(X[:600], y[:600])
        theirs = KNeighborsClassifier(5).fit(X[:600], y[:600])
        assert np.mean(ours.predict(X[600:]) == theirs.predict(X[600:])) > 0.995
        X = rows(200)
        ours = make_pipeline(
            GaussianGraph(n_neighbors=8, mode="distance"),
            Isomap(n_neighbors=8, metric="precomputed"),
        ).fit_transform(X)
    theirs = Isomap(n_neighbors=8).fit_transform(X)
    signs = np.sign((ours * theirs).sum(axis=0))
    assert np.abs(ours * signs - theirs).max() < 0.02 * np.abs(theirs).max()


def test_order_of_entries():
    X = rows()
    by_distance = GaussianGraph(radius=1, mode="distance").fit_transform(X)
    for i in range(len(X)):
        values = by_distance.data[by_distance.indptr[i] : by_distance.indptr[i + 1]]
        assert (np.diff(values) >= 0).all() and values[0] == 0
    nearest = {"n_neighbors": 4}
    for parameters in ({"radius": 1}, nearest, {**nearest, "mode": "connectivity"}):
        assert GaussianGraph(**parameters).fit_transform(X).has_canonical_format
        assert GaussianGraph(**parameters).fit(X).transform(X[:7] + 1).has_canonical_format


@pytest.mark.parametrize("rows_at_once", [1, 3, 1000])
def test_diagonal_and_order_by_blocks(monkeypatch, rows_at_once):
    from scipy import sparse

    monkeypatch.setattr("privatemail.gaussian_graph.ROWS_AT_ONCE", rows_at_once)
    random = np.random.RandomState(0)
    plain = (random.uniform(size=(9, 9)) * (random.uniform(size=(9, 9)) < 0.3)).astype(np.float32)
    np.fill_diagonal(plain, 0)
    plain[4] = 0
    graph = with_diagonal(sparse.csr_matrix(plain), 5)
    np.testing.assert_array_equal(graph.toarray(), plain + 5 * np.eye(9))
    assert graph.has_canonical_format
    graph = nearest_first(with_diagonal(sparse.csr_matrix(plain), 0))
    np.testing.assert_array_equal(graph.toarray(), plain)
    for i in range(9):
        assert (np.diff(graph.data[graph.indptr[i] : graph.indptr[i + 1]]) >= 0).all()


def test_scales_of_rows():
    d = np.zeros((3, 10), dtype=np.float32)
    d[0] = np.arange(10)
    d[1, 8:] = [4, 5]
    assert scales(d).tolist() == [6, 4, 0]
    assert scales(d[:, :2]).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mode": "weights"}, "mode must be one of"),
        ({"radius": 1.0, "n_neighbors": 3}, "exclude"),
        ({"mean_neighbours": 1.0, "sigma": 3}, "exclude"),
        ({"n_neighbors": 120}, "n_neighbors"),
        ({"radius": -1.0}, "radius"),
        ({"radius": float("nan")}, "radius"),
        ({"mean_neighbours": 500}, "500"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        GaussianGraph(**parameters).fit_transform(rows())


@pytest.mark.parametrize("name", ["radius", "sigma"])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "2"])
def test_fit_refuses_what_transform_could_not_use(name, value):
    with pytest.raises(ValueError, match=name):
        GaussianGraph(**{name: value}).fit(np.eye(3))


@pytest.mark.parametrize("given", [{"radius": 3.0}, {"n_neighbors": 4}, {"mean_neighbours": 8}])
def test_entries_that_stand_nearest_first_are_not_called_sorted(given):
    """Otherwise scipy would look for columns at wrong places, and add matrices incorrectly."""
    X = np.random.default_rng(3).standard_normal((80, 3))
    graph = GaussianGraph(mode="distance", **given).fit_transform(X)
    assert not graph.has_sorted_indices
    np.testing.assert_array_equal((graph + graph).toarray(), 2 * graph.toarray())


def test_mode_may_change_after_fit():
    """Also if an earlier fit, of other rows, had this mode."""
    X = np.random.default_rng(4).standard_normal((60, 3))
    wanted = GaussianGraph(n_neighbors=4).fit(X).transform(X).toarray()
    fresh = GaussianGraph(n_neighbors=4, mode="distance").fit(X)
    refitted = GaussianGraph(n_neighbors=4).fit(X[::-1]).set_params(mode="distance").fit(X)
    for graph in (fresh, refitted):
        graph.set_params(mode="gaussian")
        np.testing.assert_array_equal(graph.transform(X).toarray(), wanted)


@pytest.mark.parametrize("rows_moved", [1, 2, 3, 1000])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_rows_get_room_in_place(monkeypatch, rows_moved, width):
    monkeypatch.setattr("privatemail.gaussian_graph.ROWS_MOVED", rows_moved)
    for n in (1, 2, 7):
        rows = np.arange(n * width).reshape(n, width)
        flat = np.concatenate([rows.ravel(), np.full(n, -1)])
        wide = with_first(flat, n)
        assert np.shares_memory(wide, flat) and wide.shape == (n, width + 1)
        np.testing.assert_array_equal(wide[:, 1:], rows)


@pytest.mark.parametrize("mode", ["gaussian", "distance", "connectivity"])
@pytest.mark.parametrize(
    "reach", [{"radius": 22.0}, {"radius": 22.0, "sigma": 5.0}, {"sigma": 6.0}, {"mean_neighbours": 9}]
)
def test_few_new_rows_are_those_of_the_graph_of_all(monkeypatch, mode, reach):
    """The same bits, and without a graph of the fitted rows."""
    X = load_digits().data[:400].astype(np.float32)
    X[390] = X[7]  # a new row that equals a fitted one
    fitted = GaussianGraph(mode=mode, **reach).fit(X[:380])
    asked = []
    graph = Engine.graph

    def noted(self, X, queries=None, **settings):
        asked.append((len(as_rows(X, "X").array), None if queries is None else len(queries.array)))
        return graph(self, X, queries, **settings)

    monkeypatch.setattr(Engine, "graph", noted)
    few = fitted.transform(X[380:])
    assert asked == [(380, 20)]
    monkeypatch.setattr(gaussian_graph, "FEW_ROWS", 0)
    all_of_them = fitted.transform(X[380:])
    assert asked[1:] == [(400, None)]
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(few, name), getattr(all_of_them, name))
    assert few.shape == all_of_them.shape and few.dtype == np.float32 and few[10, 7] == (mode != "distance")


def test_new_rows_without_neighbours():
    fitted = GaussianGraph(radius=1.0).fit(np.zeros((5, 3), np.float32))
    assert fitted.transform(np.full((2, 3), 9.0)).nnz == 0
    with pytest.raises(ValueError, match="radius"):
        Engine().graph(np.zeros((5, 3)), np.zeros((1, 3)), sigma=1.0)
