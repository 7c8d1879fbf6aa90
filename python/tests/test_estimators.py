"""Rules for all estimators: scikit-learn's checks, tags, pickles, seeds and bits."""

import pickle
import types
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_digits
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from privatemail import GaussianGraph, KernelEmbedding, SupervisedEmbedding
from privatemail._estimator import neighbours_within, seed_of
from privatemail.exceptions import OutOfMemoryError

ESTIMATORS = [
    SupervisedEmbedding(),
    SupervisedEmbedding("scaled"),
    SupervisedEmbedding("discriminate", measure=False),
    SupervisedEmbedding("classic", measure=False),
    KernelEmbedding(),
    KernelEmbedding(n_components=1, method="eigenvectors", n_neighbors=3),
    KernelEmbedding(method="eigenvectors", mean_neighbours=6),
    KernelEmbedding(method="steps", mean_neighbours=4, steps=2, random_state=3),
    GaussianGraph(),
    GaussianGraph(n_neighbors=3),
    GaussianGraph(n_neighbors=3, mode="distance"),
    GaussianGraph(n_neighbors=2, mode="connectivity"),
    GaussianGraph(radius=2),
    GaussianGraph(radius=2, sigma=1, mode="distance"),
    GaussianGraph(radius=2, mode="connectivity"),
    GaussianGraph(mean_neighbours=4),
    GaussianGraph(sigma=1, mode="distance"),
]


# Without the choice of a recipe, which takes a second.
QUICK = ESTIMATORS[1:]


def dense(result):
    return result.toarray() if hasattr(result, "toarray") else result


def digits(n=300):
    X, y = load_digits(return_X_y=True)
    return X[:n].astype(np.float32), y[:n]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_checks_of_scikit_learn(estimator):
    with warnings.catch_warnings():
        # Unconnected parts of a graph, and checks that are skipped without pandas.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(estimator)


@pytest.mark.filterwarnings("ignore:the graph has")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_bits_for_any_number_of_threads(estimator):
    X, y = digits(150)
    results = []
    for n_jobs in (1, 2, 3):
        fitted = clone(estimator).set_params(n_jobs=n_jobs).fit(X[:100], y[:100])
        results.append((dense(fitted.transform(X[100:])), dense(fitted.transform(X[:100]))))
    for new, old in results[1:]:
        np.testing.assert_array_equal(new, results[0][0])
        np.testing.assert_array_equal(old, results[0][1])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_pickle_places_rows_where_the_original_does(estimator):
    X, y = digits(150)
    fitted = clone(estimator).fit(X[:100], y[:100])
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(dense(again.transform(X)), dense(fitted.transform(X)))
    assert again.get_params() == fitted.get_params()
    assert list(again.get_feature_names_out()) == list(fitted.get_feature_names_out())


@pytest.mark.filterwarnings("ignore:the graph has")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_fit_transform_is_transform_of_the_fitted_rows(estimator):
    X, y = digits()
    made = dense(clone(estimator).fit_transform(X[:150], y[:150]))
    again = dense(clone(estimator).fit(X[:150], y[:150]).transform(X[:150]))
    np.testing.assert_allclose(again, made, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("estimator", QUICK, ids=repr)
def test_rows_of_other_types_and_layouts(estimator):
    X, y = digits(150)
    wanted = dense(clone(estimator).fit(X, y).transform(X))
    wide = np.zeros((150, 70), dtype=np.float32)
    wide[:, :64] = X
    same = [X.astype(np.float64), X.astype(np.float16), X.astype(np.int16), np.asfortranarray(X)]
    for rows in same + [X.tolist(), wide[:, :64], X[::-1].copy()[::-1], X.astype(">f4")]:
        np.testing.assert_array_equal(dense(clone(estimator).fit(rows, y).transform(rows)), wanted)


@pytest.mark.filterwarnings("ignore:the graph has")
@pytest.mark.parametrize("estimator", QUICK, ids=repr)
def test_values_beyond_float32_are_an_error(estimator):
    X, y = digits(100)
    X = X.astype(np.float64)
    X[7, 3] = 1e300
    with pytest.raises(ValueError, match="row 8") as error:
        clone(estimator).fit(X, y)
    assert "1e300" not in str(error.value)
    fitted = clone(estimator).fit(X[10:], y[10:])
    with pytest.raises(ValueError, match="row 2 of X"):
        fitted.transform(X[6:9])


def test_names_of_columns():
    X, y = digits(100)
    names = SupervisedEmbedding("raw").fit(X, y).get_feature_names_out()
    assert names.dtype == object and len(names) == 64
    assert list(names[:2]) == ["supervisedembedding0", "supervisedembedding1"]
    assert list(KernelEmbedding().fit(X).get_feature_names_out()) == [
        "kernelembedding0",
        "kernelembedding1",
    ]
    assert len(GaussianGraph().fit(X).get_feature_names_out()) == 100


class Frame:
    """The parts of a data frame that scikit-learn reads for names."""

    def __init__(self, values, columns):
        self.values, self.columns, self.shape = values, columns, values.shape

    def __array__(self, dtype=None):
        return np.asarray(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)


@pytest.mark.parametrize("kind", [SupervisedEmbedding, KernelEmbedding, GaussianGraph])
def test_names_of_features(kind):
    X, y = digits(60)
    names = [f"pixel {i}" for i in range(64)]
    fitted = kind().fit(Frame(X, names), y)
    assert fitted.feature_names_in_.tolist() == names
    assert not hasattr(kind().fit(X, y), "feature_names_in_")
    np.testing.assert_array_equal(
        dense(fitted.transform(Frame(X, names))), dense(kind().fit(X, y).transform(X))
    )
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(Frame(X, names[::-1]))


def test_set_output_keeps_arrays():
    X, y = digits(100)
    estimator = SupervisedEmbedding("raw").set_output(transform="default")
    assert isinstance(estimator.fit(X, y).transform(X), np.ndarray)


@pytest.mark.parametrize(
    ("estimator", "needs_labels"),
    [(SupervisedEmbedding(), True), (KernelEmbedding(), False), (GaussianGraph(), False)],
    ids=repr,
)
def test_tags_of_later_versions(monkeypatch, estimator, needs_labels):
    def tags(self):
        return types.SimpleNamespace(
            transformer_tags=types.SimpleNamespace(preserves_dtype=["float64"]),
            target_tags=types.SimpleNamespace(required=False),
        )

    monkeypatch.setattr(BaseEstimator, "__sklearn_tags__", tags, raising=False)
    monkeypatch.delattr(TransformerMixin, "__sklearn_tags__", raising=False)
    found = estimator.__sklearn_tags__()
    assert found.transformer_tags.preserves_dtype == ["float32"]
    assert found.target_tags.required is needs_labels


def test_random_state():
    assert seed_of(None) == seed_of(1) == seed_of(np.int64(1)) == 1
    assert seed_of(2**70) == 2**70
    for kind in (np.random.RandomState, np.random.default_rng):
        assert seed_of(kind(5)) == seed_of(kind(5)) != seed_of(kind(6))
    for wrong in (1.0, "1", [1]):
        with pytest.raises(ValueError, match="random_state"):
            seed_of(wrong)


def test_random_state_decides_the_random_start():
    X, _ = digits(100)

    def made(random_state):
        embedding = KernelEmbedding(method="steps", random_state=random_state)
        return embedding.fit_transform(X)

    np.testing.assert_array_equal(made(None), made(1))
    assert not np.array_equal(made(1), made(2))
    np.testing.assert_array_equal(
        made(np.random.RandomState(4)), made(np.random.RandomState(4))
    )


def test_number_of_neighbours():
    assert neighbours_within(None, 100, "k") == 10
    assert neighbours_within(None, 4, "k") == 3
    assert neighbours_within(np.int32(3), 4, "k") == 3
    for wrong in (0, -1, 4, 1.5, True, "3"):
        with pytest.raises(ValueError, match="k must be"):
            neighbours_within(wrong, 4, "k")


@pytest.mark.parametrize("kind", [SupervisedEmbedding, KernelEmbedding, GaussianGraph])
def test_memory_is_kept(kind):
    X, y = digits()
    with pytest.raises(MemoryError):
        kind(max_memory=1000).fit(X.astype(np.float64), y)


SECRET = "Smith7351"
EACH = [SupervisedEmbedding("raw"), KernelEmbedding(), GaussianGraph()]


@pytest.mark.parametrize("estimator", EACH, ids=repr)
@pytest.mark.parametrize(
    "X",
    [
        np.array([[SECRET, 1], [2, 3], [4, 5]], dtype=object),
        [[SECRET, "a"], ["b", "c"], ["d", "e"]],
        np.array([7351.0, 7352.0, 7353.0]),
        np.float64(7351.5),
        np.array([[7351 + 1j, 7352], [7353, 7354], [7355, 7356]]),
    ],
    ids=["objects", "texts", "one row", "one number", "complex"],
)
def test_errors_have_no_values_of_features(estimator, X):
    with pytest.raises(ValueError) as caught:
        clone(estimator).fit(X, [0, 1, 1])
    error = caught.value
    while error is not None:
        assert "7351" not in str(error)
        error = error.__context__


@pytest.mark.parametrize(
    "y",
    [
        np.array([7351 + 1j, 7352, 7353]),
        np.array([7351.5, 7352.5, 7353.5]),
        np.array([7351, "a", 2], object),
    ],
    ids=["complex", "continuous", "mixed"],
)
def test_errors_have_no_labels(y):
    with pytest.raises(ValueError) as caught:
        SupervisedEmbedding("raw").fit(np.eye(3), y)
    assert "7351" not in str(caught.value)


@pytest.mark.parametrize("estimator", EACH, ids=repr)
def test_masked_entries_are_refused(estimator):
    X, y = digits(30)
    with pytest.raises(ValueError, match="X has masked entries"):
        clone(estimator).fit(np.ma.masked_array(X, mask=X == 3), y)
    fitted = clone(estimator).fit(np.ma.masked_array(X), y)
    with pytest.raises(ValueError, match="X has masked entries"):
        fitted.transform(np.ma.masked_array(X, mask=X == 3))


def test_masked_labels_are_refused():
    X, y = digits(30)
    with pytest.raises(ValueError, match="y has masked entries"):
        SupervisedEmbedding("raw").fit(X, np.ma.masked_array(y, mask=y == 3))


def least_memory(run) -> int:
    """Return the least memory with which run(memory) is not refused."""
    low, high = 0, 1 << 30
    while low + 1 < high:
        middle = (low + high) // 2
        try:
            run(middle)
            high = middle
        except OutOfMemoryError:
            low = middle
    return high


@pytest.mark.filterwarnings("ignore:the graph has")
@pytest.mark.parametrize(
    "estimator",
    [
        SupervisedEmbedding("scaled", measure=False),
        KernelEmbedding(method="steps"),
        GaussianGraph(),
        GaussianGraph(mode="distance"),
        GaussianGraph(radius=20),
    ],
    ids=repr,
)
def test_conversions_are_counted(estimator):
    """Converted rows also need the memory of the copy."""
    X, y = digits(200)

    def run(rows, memory):
        clone(estimator).set_params(max_memory=memory).fit_transform(rows, y)

    least = least_memory(lambda memory: run(X, memory))
    assert least > 1000  # the library itself has refused less
    for converted in (X.astype(np.float64), X.astype(np.float16), X.astype(np.int8), X[:, ::-1]):
        with pytest.raises(OutOfMemoryError):
            run(converted, least + X.nbytes // 2)
        run(converted, least + 2 * X.nbytes)
