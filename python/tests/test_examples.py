"""The examples and the comparison with scikit-learn run, on little data."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples" / "python"
SIDE_BY_SIDE = ROOT / "python" / "benchmarks" / "side_by_side.py"


def run(file, *arguments, path=None):
    environment = dict(os.environ)
    if path is not None:
        paths = [str(path), environment.get("PYTHONPATH")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    done = subprocess.run(
        [sys.executable, str(file), *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_digits_with_pictures(tmp_path):
    said = run(EXAMPLES / "digits.py", tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"map.png", "new-digits.png"}
    assert "cg converged" in said and "left of the budget" in said


def test_digits_without_matplotlib(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError")
    said = run(EXAMPLES / "digits.py", tmp_path, path=tmp_path)
    assert "wrote" not in said
    assert any(set("0123456789") <= set(page) for page in said.split("lie nearest"))


def test_reproducible():
    assert "the same bits for 1, 2 and 4 threads" in run(EXAMPLES / "reproducible.py")


@pytest.mark.parametrize("n", [1000, 50000])
def test_ten_million(n):
    said = run(EXAMPLES / "ten_million.py", "--n", n)
    assert f"{n} points" in said and "those of the plain computation" in said


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("side_by_side", SIDE_BY_SIDE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_contestants(script):
    """Every contestant, in this process."""
    results = {}
    for task, make in script.TASKS.items():
        data = make(300)
        for contestant in script.CONTESTANTS:
            if contestant.task == task:
                out = contestant.run(data)
                results[contestant.task, contestant.name] = contestant.quality(data, out)
    assert len(results) == len(script.CONTESTANTS) == 11
    same = [result for (_, name), result in results.items() if name == "GaussianGraph"]
    assert len(same) == 2 and all("1.000000 the same" in result for result in same)
    errors = [float(r.split()[1]) for r in results.values() if r.startswith("error")]
    assert len(errors) == 2 and max(errors) < 1e-4
    accuracies = [float(r.split()[1]) for r in results.values() if r.startswith("1-NN")]
    assert len(accuracies) == 5 and min(accuracies) > 0.3


def test_contestant_in_a_process_of_its_own(script, tmp_path):
    script.np.savez(tmp_path / "data.npz", **script.vectors(2000))
    names = [contestant.name for contestant in script.CONTESTANTS]
    number = names.index("rbf_kernel(X) @ V")
    found = script.measure(number, str(tmp_path / "data.npz"), 1)
    assert found["seconds"] > 0 and found["quality"].startswith("error")
    assert found["bytes"] > 4 * 2000 * 2000  # the matrix that it forms


def test_where_ours_is_behind(script):
    results = {
        contestant: dict.fromkeys(("seconds", "bytes"), 1 if contestant.ours else 2)
        for contestant in script.CONTESTANTS
    }
    assert script.behind(results) == []
    for contestant in (c for c in results if c.ours):
        for what in ("seconds", "bytes"):
            found = script.behind({**results, contestant: {**results[contestant], what: 2}})
            assert len(found) == (1 if contestant.compared else 0)
            assert all(what in line and contestant.name in line for line in found)


@pytest.mark.parametrize("what", ["seconds", "bytes"])
def test_check_fails_where_ours_is_behind(script, monkeypatch, capsys, what):
    def measured(number, file, repeat):
        found = {"seconds": 2.0, "bytes": 2.0, "quality": ""}
        if script.CONTESTANTS[number].ours:
            found.update(seconds=1.0, bytes=1.0)
            found[what] = took
        return found

    monkeypatch.setattr(script, "measure", measured)
    monkeypatch.setattr(script, "TASKS", {task: lambda n: {} for task in script.TASKS})
    for took, code in ((1.0, 0), (2.0, 1)):
        assert script.main(["--check"]) == code
        assert script.main([]) == 0
    assert what in capsys.readouterr().out
