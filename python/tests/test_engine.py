"""Methods of Engine agree with plain references, and with the bits of the command."""

from __future__ import annotations

import pickle
import subprocess

import numpy as np
import pytest
from conftest import ROOT
from sklearn.datasets import load_digits

from privatemail.engine import Engine, default_engine
from privatemail.exceptions import (
    HandleError,
    LabelsError,
    NonFiniteError,
    OutOfMemoryError,
    ReentrantError,
    SettingError,
    ShapeError,
    ZeroRowError,
)


@pytest.fixture(scope="module")
def engine():
    with Engine(n_jobs=2) as engine:
        yield engine


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float32), y


@pytest.fixture(scope="module")
def command(tmp_path_factory, digits):
    """Returns a function that runs the command on the digits and returns the array that it
    writes."""
    folder = tmp_path_factory.mktemp("command")
    program = folder / "privatemail"
    subprocess.run(["go", "build", "-o", str(program), "./cmd/privatemail"], cwd=ROOT, check=True)
    np.save(folder / "features.npy", digits[0])
    np.save(folder / "labels.npy", digits[1].astype(np.int32))

    def run(*arguments: str) -> np.ndarray:
        subprocess.run(
            [str(program), "embed", str(folder), "-out", "z.npy", "-quiet", *arguments],
            cwd=folder,
            check=True,
        )
        return np.load(folder / "z.npy")

    return run


def squared(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)


def rows(n=120, d=3, seed=5) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_the_bits_of_the_command(command, digits):
    X, y = digits
    cases = {
        "paper": (
            command("-form", "paper", "-mean-neighbours", "20", "-seed", "9"),
            lambda e: e.embed(X, mean_neighbours=20, seed=9),
        ),
        "attract": (
            command("-mean-neighbours", "20", "-beta", "3"),
            lambda e: e.embed(X, y, form="attract", coefficient=3, mean_neighbours=20),
        ),
        "labels": (
            command("-sigma", "6", "-alpha", "0.6", "-dim", "3", "-steps", "2", "-sigma-q", "1"),
            lambda e: e.embed(X, y, coefficient=0.6, sigma=6, n_components=3, steps=2, sigma_q=1.0),
        ),
        "map": (command(), lambda e: e.map(X, n_neighbors=10)),
    }
    for n_jobs in (1, 2, 3):
        with Engine(n_jobs=n_jobs) as engine:
            for name, (wanted, ours) in cases.items():
                assert same(ours(engine).points, wanted), (name, n_jobs)


def test_a_step_of_the_published_iteration(engine):
    """One step from the start: X - 1/2 D^-1 L X with the Laplacian of the graph, in float64."""
    X, start = rows(), rows(120, 2, seed=6)
    weights = np.exp(-squared(X, X) / 2)
    np.fill_diagonal(weights, 0)
    degrees = weights.sum(axis=1)
    laplacian = np.diag(degrees) - weights
    points, report = engine.embed(X, sigma=1.0, steps=1, start=start)
    wanted = start - 0.5 * (laplacian @ start) / degrees[:, None]
    assert np.allclose(points, wanted, atol=1e-3 * np.abs(wanted).max())
    assert report["graph"]["sigma"] == 1.0 and len(report["trace"]) == 1


def test_every_layout_gives_the_same_bits(engine):
    X = rows()
    wide = np.zeros((120, 9), np.float32)
    wide[:, 2:5] = X
    wanted = engine.embed(X, sigma=1.0, sigma_q=1.0).points
    for given in (
        wide[:, 2:5],
        X.astype(np.float64),
        np.asfortranarray(X),
        X.tolist(),
        X.astype(">f4"),
        X[::-1][::-1],
    ):
        assert same(engine.embed(given, sigma=1.0, sigma_q=1.0).points, wanted)
    frozen = X.copy()
    frozen.flags.writeable = False
    assert same(engine.embed(frozen, sigma=1.0, sigma_q=1.0).points, wanted)


def test_out(engine):
    X = rows()
    wanted = engine.embed(X, sigma=1.0).points
    wide = np.full((120, 6), 7, np.float32)
    result = engine.embed(X, sigma=1.0, out=wide[:, 1:3])
    assert np.shares_memory(result.points, wide) and (result.points == wanted).all()
    assert (wide[:, 0] == 7).all() and (wide[:, 3:] == 7).all()
    with pytest.raises(ShapeError):
        engine.embed(X, sigma=1.0, out=np.zeros((120, 3), np.float32))
    with pytest.raises(ShapeError, match="overlap|memory|alias|share"):
        engine.embed(X, sigma=1.0, form="attract", out=X)


def test_seeds(engine):
    X = rows()
    first = engine.embed(X, sigma=1.0).points
    assert same(first, engine.embed(X, sigma=1.0, seed=1).points)
    assert same(first, engine.embed(X, sigma=1.0, seed=2**64 + 1).points)
    assert not same(first, engine.embed(X, sigma=1.0, seed=0).points)


def test_converge(engine):
    X = rows(60)
    weights = np.exp(-squared(X, X) / 2)
    np.fill_diagonal(weights, 0)
    degrees = weights.sum(axis=1)
    symmetric = weights / np.sqrt(degrees[:, None] * degrees[None, :])
    largest = np.sort(np.linalg.eigvalsh(symmetric))[::-1]
    points, report = engine.converge(X, sigma=1.0, n_components=3, operator="dense")
    assert points.shape == (60, 3) and points.dtype == np.float32
    # The library leaves out the constant, whose value is 1.
    assert np.allclose(report["values"], largest[1:4], atol=1e-3)


def test_plan(engine):
    X = rows(500)
    plan = engine.plan(X, mean_neighbours=10)
    graph = engine.embed(X, mean_neighbours=10).report["graph"]
    assert plan["candidates"][0]["operator"] == graph["operator"]
    assert engine.plan(X, map=True, n_neighbors=10)["nearest"] == 10


@pytest.mark.parametrize("queries", [None, rows(17, seed=9)])
def test_nearest(engine, queries):
    X = rows()
    distances, ids = engine.nearest(X, queries, k=7)
    table = squared(X if queries is None else queries, X)
    if queries is None:
        np.fill_diagonal(table, np.inf)
    wanted = np.argsort(table, axis=1, kind="stable")[:, :7]
    assert ids.dtype == np.int64 and distances.dtype == np.float32
    assert (ids == wanted).all()
    assert np.allclose(distances, np.sqrt(np.take_along_axis(table, wanted, 1)), rtol=1e-6)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("queries", [None, rows(17, seed=9)])
def test_nearest_into_arrays_of_the_caller(engine, queries, index):
    X = rows()
    wanted_distances, wanted_ids = engine.nearest(X, queries, k=7)
    out = np.zeros_like(wanted_distances), np.zeros_like(wanted_ids, dtype=index)
    distances, ids = engine.nearest(X, queries, k=7, out=out)
    assert distances is out[0] and ids is out[1]
    assert (distances == wanted_distances).all() and (ids == wanted_ids).all()


@pytest.mark.parametrize("place", [0, 1])
def test_nearest_refuses_arrays_of_the_caller(engine, place):
    X = rows()
    good = [np.empty((len(X), 3), np.float32), np.empty((len(X), 3), np.int32)]
    locked = good[place].copy()
    locked.flags.writeable = False
    for bad, error in (
        (good[place].tolist(), TypeError),
        (good[place][1:], ShapeError),
        (good[place].astype(np.float64), TypeError),
        (np.asfortranarray(good[place]), TypeError),
        (locked, TypeError),
    ):
        out = [*good]
        out[place] = bad
        with pytest.raises(error, match=rf"out\[{place}\]"):
            engine.nearest(X, k=3, out=tuple(out))


def test_nearest_among_equals(engine):
    X = np.zeros((5, 2), np.float32)
    distances, ids = engine.nearest(X, k=2)
    assert ids.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1]] and not distances.any()


@pytest.mark.parametrize("k", [0, -1, 121, 2**40, 1.5])
def test_nearest_refuses(engine, k):
    with pytest.raises(SettingError, match="k is"):
        engine.nearest(rows(), k=k)


def test_graph(engine):
    X = rows()
    table = squared(X, X)
    near = (np.sqrt(table) <= 0.8) & ~np.eye(len(X), dtype=bool)
    wanted = {
        "connectivity": near.astype(float),
        "distance": np.where(near, np.sqrt(table), 0),
        "gaussian": np.where(near, np.exp(-table / (2 * 0.5**2)), 0),
    }
    for weights, matrix in wanted.items():
        graph, report = engine.graph(X, weights=weights, radius=0.8, sigma=0.5)
        assert graph.format == "csr"
        assert graph.dtype == np.float32 and graph.indices.dtype == np.int32
        assert graph.has_canonical_format and graph.nnz == near.sum() == report["graph"]["nnz"]
        assert np.allclose(graph.toarray(), matrix, rtol=1e-5, atol=1e-7), weights
    with pytest.raises(SettingError, match="weights"):
        engine.graph(X, weights="cosine", radius=1)


def test_graph_of_nearest_neighbours(engine):
    X = rows()
    graph, _ = engine.graph(X, weights="connectivity", n_neighbors=4)
    _, ids = engine.nearest(X, k=4)
    wanted = np.zeros((120, 120), bool)
    np.put_along_axis(wanted, ids, True, axis=1)
    assert ((graph.toarray() > 0) == (wanted | wanted.T)).all()


@pytest.mark.parametrize("setting", [{"sigma": 1.0}, {"gamma": 0.5}])
@pytest.mark.parametrize("columns", [1, 5])
def test_operator(engine, setting, columns):
    X, V = rows(), rows(120, columns, seed=8)
    kernel = np.exp(-squared(X, X) / 2)
    with engine.operator(X, **setting) as product:
        assert product.shape == (120, 120) and product.report["graph"]["operator"]
        got = product.apply(V)
        out = np.empty_like(got)
        assert product.apply(V.astype(np.float64), out=out) is out and (out == got).all()
        with pytest.raises(ShapeError):
            product.apply(V[:5])
    bound = 2e-4 * (kernel @ np.abs(V)).max()
    assert np.abs(got - kernel @ V).max() <= bound
    with pytest.raises(HandleError):
        product.apply(V)


def test_extend(engine):
    X, embedding = rows(), rows(120, 2, seed=3)
    got = engine.extend(X, embedding, X[:9], k=1)
    assert np.allclose(got, embedding[:9], atol=1e-6)
    queries = rows(7, seed=4)
    assert engine.extend(X, embedding, queries, k=5, out=np.zeros((7, 2), np.float32)).any()
    with pytest.raises(ShapeError):
        engine.extend(X, embedding[:5], queries)


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({}, SettingError, "required"),
        ({"sigma": -1}, SettingError, "bandwidth"),
        ({"sigma": float("nan")}, SettingError, ""),
        ({"sigma": 1, "gamma": 1}, SettingError, "sigma"),
        ({"sigma": 1, "form": "spectral"}, SettingError, "form"),
        ({"sigma": 1, "operator": "fft"}, SettingError, "fft"),
        ({"sigma": 1, "coefficient": 1}, LabelsError, "label"),
        ({"sigma": 1, "start": np.ones((3, 2))}, ShapeError, "start"),
        ({"sigma": 1, "n_neighbors": -1}, SettingError, ""),
        ({"sigma": 1, "steps": -1}, SettingError, "steps"),
    ],
)
def test_errors_of_settings(engine, change, error, text):
    with pytest.raises(error, match=text):
        engine.embed(rows(), **change)


def test_errors_of_rows(engine):
    X = rows()
    X[40, 1] = np.nan
    with pytest.raises(NonFiniteError, match="row 41,"):
        engine.embed(X, sigma=1)
    X[40] = 0
    with pytest.raises(ZeroRowError, match="row 41"):
        engine.embed(X, sigma=1, normalize_rows=True)
    for shape in [(0, 3), (3, 0)]:
        with pytest.raises(ShapeError):
            engine.embed(np.zeros(shape, np.float32), sigma=1)
    with pytest.raises(LabelsError):
        engine.embed(X, np.full(120, -1), sigma=1, coefficient=1)
    with pytest.raises(SettingError, match="level"):
        Engine(level="none").embed(X, sigma=1)


def test_copies_count_against_the_memory():
    X = rows(2000, 40)

    def enough(given, memory) -> bool:
        with Engine(n_jobs=1, max_memory=memory) as engine:
            try:
                engine.embed(given, sigma=1.0, operator="dense")
            except OutOfMemoryError:
                return False
        return True

    small, large = 0, 64 * X.nbytes  # enough for float32 rows, which are not copied
    while large - small > 64:
        middle = (small + large) // 2
        small, large = (small, middle) if enough(X, middle) else (middle, large)
    copied = X.astype(np.float64)
    assert enough(copied, large + X.nbytes)
    assert not enough(copied, large + X.nbytes - 128)


def test_progress_may_not_call_its_engine():
    X = rows()
    seen = []

    def again(stage, done, total):
        try:
            engine.nearest(X, k=1)
        except ReentrantError as error:
            seen.append(error)

    engine = Engine(verbose=again)
    engine.embed(X, sigma=1.0)
    assert seen


def test_pickled_engine():
    engine = Engine(n_jobs=3, max_memory=1 << 30, level="avx2", measure=True, verbose=True)
    other = pickle.loads(pickle.dumps(engine))
    for name in ("n_jobs", "max_memory", "level", "measure", "verbose"):
        assert getattr(other, name) == getattr(engine, name)
    assert other.workers == 3
    with default_engine(n_jobs=2) as closed:
        assert closed.workers == 2
    assert default_engine(n_jobs=2).workers == 2


def test_parameters_reach_the_library():
    given = Engine(n_jobs=3, max_memory=1 << 20, level="avx2", measure=True)._options
    assert (given.workers, given.max_memory, given.level, given.measure) == (3, 1 << 20, b"avx2", 1)
    assert Engine()._options.measure == 0


@pytest.mark.parametrize(
    "name, value",
    [
        ("form", "attract"),
        ("steps", 3),
        ("start", np.ones((30, 2), np.float32)),
        ("coefficient", 0.5),
        ("table", "equal"),
        ("sigma_q", 2.0),
        ("normalize", "centred"),
    ],
)
def test_keywords_that_a_map_does_not_read_are_refused(name, value):
    X = np.random.default_rng(5).standard_normal((30, 3)).astype(np.float32)
    for use in (lambda **k: Engine().map(X, **k), lambda **k: Engine().plan(X, map=True, **k)):
        use(n_neighbors=5)
        with pytest.raises(TypeError, match=name):
            use(n_neighbors=5, **{name: value})


@pytest.mark.parametrize(
    "name, value",
    [
        ("steps", 3),
        ("start", np.ones((30, 2), np.float32)),
        ("sigma_q", 2.0),
        ("normalize", "centred"),
    ],
)
def test_keywords_that_eigenvectors_do_not_read_are_refused(name, value):
    X = np.random.default_rng(5).standard_normal((30, 3)).astype(np.float32)
    Engine().converge(X, n_neighbors=5)
    with pytest.raises(TypeError, match=name):
        Engine().converge(X, n_neighbors=5, **{name: value})
