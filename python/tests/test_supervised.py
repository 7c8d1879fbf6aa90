"""SupervisedEmbedding: labels, recipes, galleries and files."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from privatemail import FileError, SettingError, SupervisedEmbedding, SystemCallError
from privatemail.supervised import encode_classes


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        ([3, 5, 3], [0, 1, 0], [3, 5]),
        ([-1, 1, -1], [0, 1, 0], [-1, 1]),
        ([-1, None, 1], [0, -1, 1], [-1, 1]),
        (np.array([-1, 1], np.int8), [0, 1], [-1, 1]),
        (pd.Series([3, pd.NA, 5, 3], dtype="Int64"), [0, -1, 1, 0], [3, 5]),
        (pd.Series([-1, 1], dtype="Int64"), [0, 1], [-1, 1]),
        (pd.Series([3, np.nan, 5]), [0, -1, 1], [3.0, 5.0]),
        (pd.Series(["b", pd.NA, "a", None]), [1, -1, 0, -1], ["a", "b"]),
        (pd.Series(["b", pd.NA, "a"], dtype="string"), [1, -1, 0], ["a", "b"]),
        (pd.Series(["b", None, "a"], dtype="category"), [1, -1, 0], ["a", "b"]),
        (pd.Series([True, pd.NA, False], dtype="boolean"), [1, -1, 0], [False, True]),
        (pd.Series(pd.to_datetime(["2021-01-01", None, "2020-01-01"])), [1, -1, 0], None),
        ([2**80, 5, None], [1, 0, -1], [5, 2**80]),
        (np.array([3, 5], dtype=np.uint8), [0, 1], [3, 5]),
        ([1.0, float("nan"), 2.0], [0, -1, 1], [1.0, 2.0]),
        ([-1.0, 2.0], [0, 1], [-1.0, 2.0]),
        (["b", "a", "b"], [1, 0, 1], ["a", "b"]),
        (["b", None, "a"], [1, -1, 0], ["a", "b"]),
        (["b", float("nan"), "a"], [1, -1, 0], ["a", "b"]),
        ([3, None, 5], [0, -1, 1], [3, 5]),
        ([True, False], [1, 0], [False, True]),
        ([[3], [5]], [0, 1], [3, 5]),
    ],
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_classes(y, codes, classes):
    found, names = encode_classes(y)
    assert found.dtype == np.int32
    assert found.tolist() == codes
    assert classes is None or names.tolist() == classes


@pytest.mark.parametrize(
    "y",
    [
        [3, -1, 5, 3, -1],
        np.array([3, -1, 5, 3, -1], dtype=object),
        pd.Series([3, -1, 5, 3, pd.NA], dtype="Int64"),
        [0, -1, 1, 0, None],
    ],
    ids=["list", "objects", "nullable", "None"],
)
def test_a_number_that_may_be_a_class(y):
    with pytest.warns(UserWarning, match=r"-1 in [12] of 5 rows.*None or NaN") as caught:
        codes, classes = encode_classes(y)
    assert len(caught) == 1
    assert codes.tolist() == [0, -1, 1, 0, -1] and len(classes) == 2


def test_two_classes_of_opposite_sign():
    """As for any classifier of scikit-learn, and without a warning."""
    X, _, y, _ = wine()
    y = np.minimum(y, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        signs = SupervisedEmbedding("discriminate", measure=False).fit(X, 2 * y - 1)
    assert signs.classes_.tolist() == [-1, 1]
    plain = SupervisedEmbedding("discriminate", measure=False).fit(X, y)
    np.testing.assert_array_equal(signs.transform(X), plain.transform(X))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([3, 3], "greater than one"),
        ([-1, 0], "rows with -1"),
        ([-1, None], "rows with -1"),
        ([-1, -1], "0 class"),
        ([0.5, 1.7], "continuous"),
        (["a", 3, None], "different types"),
        ([[1, 2], [3, 4]], "1d"),
    ],
)
def test_labels_that_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        encode_classes(y)


def wine():
    X, y = load_wine(return_X_y=True)
    return train_test_split(X.astype(np.float32), y, random_state=0)


def test_finds_more_than_raw_rows():
    X, X_new, y, y_new = wine()

    def score(gallery, queries):
        return KNeighborsClassifier(1).fit(gallery, y).score(queries, y_new)

    embedding = SupervisedEmbedding().fit(X, y)
    assert score(embedding.gallery_, embedding.transform(X_new)) > score(X, X_new) + 0.1
    assert embedding.recipe_ not in ("", "raw")
    held = embedding.held_out_
    assert held["rows"] == len(X)
    assert held["result"]["r_at_1"] > held["raw"]["r_at_1"] + 0.1
    assert embedding.classes_.tolist() == [0, 1, 2]


def test_recipe_that_is_given():
    X, X_new, y, _ = wine()
    embedding = SupervisedEmbedding("raw", measure=False).fit(X, y)
    assert embedding.recipe_ == "raw"
    assert embedding.held_out_ is None
    np.testing.assert_array_equal(embedding.gallery_, X)
    np.testing.assert_array_equal(embedding.transform(X_new), X_new)
    assert SupervisedEmbedding("raw").fit(X, y).held_out_ is not None
    for recipe in ("no-such-word", "steps=-1", 3):
        with pytest.raises(SettingError, match="recipe|steps"):
            SupervisedEmbedding(recipe).fit(X, y)


def test_names_of_classes_do_not_matter():
    X, X_new, y, _ = wine()
    wanted = SupervisedEmbedding("classic").fit(X, y).transform(X_new)
    names = np.array(["barbera", "chianti", "nebbiolo"])
    for labels in (names[y], names[y].astype(object), y + 10, y.astype(np.float64)):
        found = SupervisedEmbedding("classic").fit(X, labels).transform(X_new)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.filterwarnings("ignore:y has -1")
def test_rows_without_labels():
    X, y = load_digits(return_X_y=True)
    X = X[:400].astype(np.float32)
    labels = y[:400].copy()
    labels[::3] = -1
    embedding = SupervisedEmbedding("discriminate,steps=1", measure=False).fit(X, labels)
    assert embedding.classes_.tolist() == list(range(10))
    assert embedding.gallery_.shape == (400, 9)
    # The map depends only on the labelled rows; unlabelled rows are moved by their neighbours.
    with_names = np.array([str(v) for v in labels], dtype=object)
    with_names[labels == -1] = None
    again = SupervisedEmbedding("discriminate,steps=1", measure=False).fit(X, with_names)
    np.testing.assert_array_equal(again.gallery_, embedding.gallery_)


def test_gallery_is_moved_and_images_are_not():
    X, _, y, _ = wine()
    still = SupervisedEmbedding("scaled", measure=False).fit(X, y)
    np.testing.assert_array_equal(still.gallery_, still.transform(X))
    moved = SupervisedEmbedding("scaled,steps=1", measure=False)
    images = moved.fit_transform(X, y)
    np.testing.assert_array_equal(images, moved.transform(X))
    assert np.abs(moved.gallery_ - images).max() > 0.1
    moved.gallery_[:] = 0  # a copy
    assert np.abs(moved.gallery_).max() > 0


def test_normalize_rows():
    X, X_new, y, _ = wine()
    embedding = SupervisedEmbedding("raw", normalize_rows=True).fit(X, y)
    np.testing.assert_allclose(
        embedding.transform(X_new), X_new / np.linalg.norm(X_new, axis=1)[:, None], rtol=1e-5
    )
    X[3] = 0
    with pytest.raises(ValueError, match="row 4"):
        SupervisedEmbedding("raw", normalize_rows=True).fit(X, y)


def test_save_and_load(monkeypatch, tmp_path):
    X, X_new, y, _ = wine()
    embedding = SupervisedEmbedding("classic").fit(X, y)
    embedding.save(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    loaded = SupervisedEmbedding.load("model", n_jobs=1)
    monkeypatch.chdir("/")  # a relative path is resolved at load
    assert "model_" not in vars(loaded)  # nothing was opened yet
    np.testing.assert_array_equal(loaded.transform(X_new), embedding.transform(X_new))
    np.testing.assert_array_equal(loaded.gallery_, embedding.gallery_)
    assert loaded.recipe_ == embedding.recipe_
    assert loaded.held_out_ == embedding.held_out_
    assert loaded.n_features_in_ == 13
    assert loaded.n_jobs == 1
    np.testing.assert_array_equal(loaded.classes_, embedding.classes_)
    np.testing.assert_array_equal(loaded.predict(X_new), embedding.predict(X_new))
    np.testing.assert_array_equal(loaded.predict_proba(X_new), embedding.predict_proba(X_new))
    assert not hasattr(loaded, "feature_names_in_")  # the rows had no names
    with pytest.raises(ValueError, match="13 features"):
        loaded.transform(X_new[:, :5])


@pytest.mark.parametrize(
    "first", ["gallery_", "recipe_", "n_features_in_", "get_feature_names_out"]
)
def test_what_a_loaded_model_has_without_a_transform(tmp_path, first):
    X, _, y, _ = wine()
    SupervisedEmbedding("scaled").fit(X, y).save(tmp_path / "model")
    loaded = SupervisedEmbedding.load(tmp_path / "model")
    value = getattr(loaded, first)
    assert value is not None and (not callable(value) or len(value()) == 13)


def test_pickle_of_a_model_that_was_not_opened_yet(tmp_path):
    X, X_new, y, _ = wine()
    embedding = SupervisedEmbedding("scaled").fit(X, y)
    embedding.save(tmp_path / "model")
    data = pickle.dumps(SupervisedEmbedding.load(tmp_path / "model"))
    (tmp_path / "model").unlink()
    np.testing.assert_array_equal(
        pickle.loads(data).transform(X_new), embedding.transform(X_new)
    )


def test_fit_after_load_forgets_the_file(tmp_path):
    X, X_new, y, _ = wine()
    SupervisedEmbedding("scaled").fit(X, y).save(tmp_path / "model")
    loaded = SupervisedEmbedding.load(tmp_path / "model").set_params(recipe="raw").fit(X, y)
    np.testing.assert_array_equal(loaded.transform(X_new), X_new)


def test_files_that_cannot_be_loaded(tmp_path):
    with pytest.raises(FileNotFoundError):
        SupervisedEmbedding.load(tmp_path / "nowhere")
    (tmp_path / "text").write_text("no model")
    loaded = SupervisedEmbedding.load(tmp_path / "text")
    with pytest.raises(FileError):
        loaded.transform([[1.0]])
    X, _, y, _ = wine()
    with pytest.raises((OSError, SystemCallError)):
        SupervisedEmbedding("raw").fit(X, y).save(tmp_path / "no" / "folder")
    with pytest.raises(NotFittedError):
        SupervisedEmbedding().save(tmp_path / "model")


def test_nothing_is_there_before_fit():
    for name in ("gallery_", "model_", "recipe_", "held_out_", "classes_", "n_features_in_"):
        assert not hasattr(SupervisedEmbedding(), name)


def test_grid_search_over_recipes():
    X, X_new, y, y_new = wine()
    pipeline = make_pipeline(SupervisedEmbedding(measure=False), KNeighborsClassifier(1))
    recipes = ["raw", "scaled", "standardize,discriminate"]
    search = GridSearchCV(pipeline, {"supervisedembedding__recipe": recipes}, cv=3)
    assert search.fit(X, y).best_params_["supervisedembedding__recipe"] != "raw"
    assert search.score(X_new, y_new) > 0.9


def test_threads_open_a_loaded_model_at_once(monkeypatch, tmp_path):
    """Two threads of a server make the first call at the same time."""
    import threading

    from privatemail.model import Model

    X, y = load_wine(return_X_y=True)
    fitted = SupervisedEmbedding("scaled", measure=False).fit(X, y)
    fitted.save(tmp_path / "model")
    loaded = SupervisedEmbedding.load(tmp_path / "model")
    both = threading.Barrier(2)
    opened = Model.open

    def together(path):
        both.wait(60)
        model = opened(path)
        both.wait(60)
        return model

    monkeypatch.setattr(Model, "open", together)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(loaded.transform(X))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    for result in results:
        np.testing.assert_array_equal(result, fitted.transform(X))


@pytest.mark.parametrize("state, seed", [(None, 1), (7, 7)])
def test_random_state_is_the_seed_of_the_fit(monkeypatch, state, seed):
    from privatemail import Engine

    seen = []
    fit = Engine.fit

    def watched(self, *arguments, **settings):
        seen.append(settings["seed"])
        return fit(self, *arguments, **settings)

    monkeypatch.setattr(Engine, "fit", watched)
    X, y = load_wine(return_X_y=True)
    SupervisedEmbedding("scaled", measure=False, random_state=state).fit(X, y)
    assert seen == [seed]


def test_predict_is_a_vote_of_the_nearest_rows():
    X, X_new, y, y_new = wine()
    y = y.astype(object)
    y[::9] = None  # rows without a label do not vote
    embedding = SupervisedEmbedding("standardize,discriminate", measure=False).fit(X, y)
    images, gallery = embedding.transform(X_new), embedding.gallery_
    labelled = np.flatnonzero([label is not None for label in y])
    for n_neighbors in (1, 4, 8, 10_000):
        embedding.set_params(n_neighbors=n_neighbors)
        shares, classes = embedding.predict_proba(X_new), embedding.predict(X_new)
        for image, share, class_ in zip(images, shares, classes):
            squared = ((gallery[labelled].astype(np.float64) - image) ** 2).sum(axis=1)
            nearest = labelled[np.argsort(squared, kind="stable")[:n_neighbors]]
            votes = np.arange(len(nearest), 0, -1)
            want = [votes[y[nearest] == c].sum() / votes.sum() for c in embedding.classes_]
            np.testing.assert_allclose(share, want, atol=1e-6)
            best = np.flatnonzero(np.isclose(want, max(want)))
            assert class_ == next(label for label in y[nearest] if label in embedding.classes_[best])
    assert embedding.set_params(n_neighbors=8).score(X_new, y_new) > 0.9


@pytest.mark.parametrize(
    "names",
    [
        np.array([10, 20, 40]),
        np.array(["ant", "bee", "fly, black"]),
        np.array([-1, 0, 1]) * 3,
        np.array([2**40, 2**41, 2**42]),
        np.array([0.5, 1.0, 1.5]),
    ],
    ids=repr,
)
def test_classes_of_every_kind(tmp_path, names):
    X, X_new, y, y_new = wine()
    if names.dtype.kind == "f":  # scikit-learn treats them as a regression
        names = names * 2
    plain = SupervisedEmbedding("discriminate", measure=False).fit(X, y)
    embedding = SupervisedEmbedding("discriminate", measure=False).fit(X, names[y])
    np.testing.assert_array_equal(embedding.classes_, names)
    np.testing.assert_array_equal(embedding.gallery_, plain.gallery_)  # names change no bit
    np.testing.assert_array_equal(embedding.predict(X_new), names[plain.predict(X_new)])
    assert embedding.score(X_new, names[y_new]) == plain.score(X_new, y_new)
    embedding.save(tmp_path / "model")
    loaded = SupervisedEmbedding.load(tmp_path / "model")
    # Integers that can be labels are loaded unchanged, everything else as text.
    labels = names.dtype.kind == "i" and 0 <= names[0] and names[-1] < 2**31
    kept = names if labels else np.array([str(name) for name in names])
    assert loaded.classes_.tolist() == kept.tolist()
    np.testing.assert_array_equal(loaded.predict(X_new), kept[plain.predict(X_new)])
    again = pickle.loads(pickle.dumps(embedding))
    np.testing.assert_array_equal(again.predict(X_new), embedding.predict(X_new))


def test_labels_that_are_no_numbers_from_0_choose_the_same_recipe():
    X, _, y, _ = wine()
    plain = SupervisedEmbedding().fit(X, y)
    other = SupervisedEmbedding().fit(X, 7 * y + 3)
    assert plain.recipe_ == other.recipe_ and plain.held_out_ == other.held_out_
    np.testing.assert_array_equal(plain.gallery_, other.gallery_)


def test_names_of_columns_are_kept(tmp_path):
    X, X_new, y, _ = wine()
    columns = [f"c{i}" for i in range(X.shape[1])]
    embedding = SupervisedEmbedding("scaled", measure=False).fit(pd.DataFrame(X, columns=columns), y)
    embedding.save(tmp_path / "model")
    loaded = SupervisedEmbedding.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == columns
    loaded.predict(pd.DataFrame(X_new, columns=columns))
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(pd.DataFrame(X_new, columns=columns[::-1]))


def test_predict_refuses():
    X, _, y, _ = wine()
    with pytest.raises(NotFittedError):
        SupervisedEmbedding().predict(X)
    embedding = SupervisedEmbedding("scaled", measure=False, n_neighbors=0).fit(X, y)
    with pytest.raises(SettingError, match="n_neighbors"):
        embedding.predict(X)
    with pytest.raises(ValueError, match="features"):
        embedding.set_params(n_neighbors=8).predict(X[:, :3])


def test_the_goal_is_kept_and_checked():
    """The goal is the measure that chooses the recipe; an unknown one is refused."""
    X, y = load_iris(return_X_y=True)
    for goal in ("r1", "p8", "r8", "map"):
        held = SupervisedEmbedding(goal=goal).fit(X, y).held_out_
        assert held["goal"] == goal
        figure = {"r1": "r_at_1", "p8": "p_at_8", "r8": "r_at_8", "map": "map_at_100"}[goal]
        best = [trial[figure] for trial in held["best"]]
        assert best == sorted(best, reverse=True)
    with pytest.raises(Exception, match="no goal"):
        SupervisedEmbedding(goal="best").fit(X, y)
