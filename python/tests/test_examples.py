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


def test_side_by_side():
    said = run(SIDE_BY_SIDE, "--n", 600, "--repeat", 1)
    lines = [line.split(" | ") for line in said.splitlines() if line.startswith("| ")]
    assert len(lines) == 2 + 11
    results = {(line[0], line[1]): line[4] for line in lines[2:]}
    same = [result for (_, name), result in results.items() if name == "GaussianGraph"]
    assert len(same) == 2 and all("1.000000 the same" in result for result in same)
    errors = [float(r.split()[1]) for r in results.values() if r.startswith("error")]
    assert len(errors) == 2 and max(errors) < 1e-4


def test_where_ours_is_behind():
    spec = importlib.util.spec_from_file_location("side_by_side", SIDE_BY_SIDE)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    results = {c: {"seconds": 1 if c.ours else 2, "bytes": 1 if c.ours else 2} for c in script.CONTESTANTS}
    assert script.behind(results) == []
    ours = [c for c in script.CONTESTANTS if c.ours]
    for contestant in ours:
        for what in ("seconds", "bytes"):
            worse = {**results, contestant: {**results[contestant], what: 2}}
            found = script.behind(worse)
            assert len(found) == (1 if contestant.compared else 0)
            assert all(what in line and contestant.name in line for line in found)
