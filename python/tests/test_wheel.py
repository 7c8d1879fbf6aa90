"""The wheel: its contents, that it installs offline, and that it works outside of the tree."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser

import pytest
from conftest import PYTHON, ROOT, TIMEOUT

import privatemail
from privatemail import _library

spec = importlib.util.spec_from_file_location("build_wheel", PYTHON / "build_wheel.py")
build_wheel = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build_wheel)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, str(PYTHON / "build_wheel.py"), "-o", str(folder)],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        universal_newlines=True,
    )
    (path,) = folder.iterdir()
    assert done.stdout == f"{path}\n"
    return path


@pytest.fixture(scope="module")
def library(wheel, tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("library")
    with zipfile.ZipFile(wheel) as archive:
        return pathlib.Path(archive.extract(f"privatemail/{_library.NAME}", folder))


def test_name_and_metadata(wheel):
    version = _library.version()
    assert wheel.name == f"privatemail-{version}-py3-none-manylinux_2_17_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive:
        info = f"privatemail-{version}.dist-info"
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        names = archive.namelist()
        assert "Tag: py3-none-manylinux_2_17_x86_64\n" in archive.read(f"{info}/WHEEL").decode()
    assert (metadata["Name"], metadata["Version"]) == ("privatemail", version)
    assert metadata["Requires-Python"] == ">=3.8" and metadata["License"] == "BSD-3-Clause"
    required = {re.match(r"[\w-]+", line).group() for line in metadata.get_all("Requires-Dist")}
    assert required == {"numpy", "scipy", "scikit-learn", "tqdm"}
    assert metadata.get_payload().startswith("# PrivateMail for Python")
    modules = {f"privatemail/{path.name}" for path in (PYTHON / "privatemail").glob("*.py")}
    assert modules | {"privatemail/py.typed", f"privatemail/{_library.NAME}"} == {
        name for name in names if name.startswith("privatemail/")
    }
    # Licences of the linked code: Go's, and every module's.
    linked = {name for name in names if "/linked/" in name}
    assert {f"{info}/linked/go.txt", f"{info}/linked/gonum.org_v1_gonum.txt"} <= linked


def test_record(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        (record,) = [name for name in archive.namelist() if name.endswith("/RECORD")]
        listed = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(record).decode()))}
        assert set(listed) == set(archive.namelist())
        assert listed.pop(record) == ["", ""]
        for name, (digest, size) in listed.items():
            data = archive.read(name)
            wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert digest == f"sha256={wanted}" and int(size) == len(data), name


def test_same_bytes_again(wheel, library, tmp_path):
    again = build_wheel.build(str(tmp_path), str(library))
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_glibc(library, tmp_path):
    data = library.read_bytes()
    build_wheel.check_glibc(data)
    for wrong in (
        data.replace(b"\0GLIBC_2.2.5\0", b"\0GLIBC_2.34\0"), data + b"\0GLIBC_2.18\0", b"no library"
    ):
        with pytest.raises(SystemExit, match="the library needs"):
            build_wheel.check_glibc(wrong)
    # The view of the linker.
    shown = subprocess.run(
        ["objdump", "-T", str(library)], check=True, stdout=subprocess.PIPE, universal_newlines=True
    )
    found = re.findall(r"GLIBC_([\d.]+)", shown.stdout)
    needed = {tuple(map(int, version.split("."))) for version in found}
    assert needed and max(needed) <= (2, 17)


def test_other_machines(monkeypatch, tmp_path):
    monkeypatch.setattr(build_wheel.platform, "machine", lambda: "aarch64")
    with pytest.raises(SystemExit, match="aarch64"):
        build_wheel.build(str(tmp_path))


SMOKE = """
import doctest, importlib, pathlib, pickle, pkgutil
import numpy as np
import privatemail
from privatemail.engine import Engine

assert "site" in privatemail.__file__, privatemail.__file__
X = np.random.default_rng(0).standard_normal((200, 3)).astype(np.float32)
assert Engine().embed(X, mean_neighbours=20).points.shape == (200, 2)
tried = 0
for module in pkgutil.iter_modules(privatemail.__path__, "privatemail."):
    result = doctest.testmod(importlib.import_module(module.name))
    assert result.failed == 0, module.name
    tried += result.attempted
assert tried > 20, tried
print(privatemail.__file__)
"""


def test_installs_offline_and_works_outside_the_tree(wheel, tmp_path):
    site = tmp_path / "site"
    environment = dict(os.environ)
    for name in ("PYTHONPATH", _library.VARIABLE):
        environment.pop(name, None)
    install = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet"]
    install += ["--target", str(site), str(wheel)]
    subprocess.run(install, cwd=tmp_path, env=environment, check=True, timeout=TIMEOUT)
    environment["PYTHONPATH"] = str(site)
    done = subprocess.run(
        [sys.executable, "-c", SMOKE],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stdout
    assert str(site) in done.stdout


def test_pip_keeps_it_from_musl(wheel):
    """A system with musl has none of the tags of this wheel."""
    from pip._vendor.packaging import tags, utils

    _, _, _, ours = utils.parse_wheel_filename(wheel.name)
    assert not ours.isdisjoint(tags.sys_tags())
    platforms = [f"musllinux_1_{version}_x86_64" for version in range(5)] + ["linux_x86_64"]
    assert ours.isdisjoint(tags.compatible_tags(platforms=platforms))


def test_build_backend(tmp_path, library, monkeypatch):
    """The hook that pip calls for ``pip wheel ./python``."""
    monkeypatch.setattr(
        build_wheel, "build_library", lambda folder: pathlib.Path(shutil.copy(library, folder))
    )
    assert build_wheel.get_requires_for_build_wheel() == []
    name = build_wheel.build_wheel(str(tmp_path))
    assert (tmp_path / name).is_file()
    assert build_wheel.get_requires_for_build_sdist() == []
    name = build_wheel.build_sdist(str(tmp_path))
    assert name == f"privatemail-{privatemail.__version__}.tar.gz" and (tmp_path / name).is_file()


def test_version(library, monkeypatch, tmp_path):
    """The package, its metadata, the header and the library have the same version."""
    assert privatemail.__version__ == privatemail.version() == build_wheel.package_version()
    assert build_wheel.version_of(library) == privatemail.__version__
    monkeypatch.setattr(build_wheel, "version_of", lambda library: "9.9")
    with pytest.raises(SystemExit, match="the library is 9.9"):
        build_wheel.write_wheel(library, tmp_path)
    (tmp_path / "privatemail").mkdir()
    (tmp_path / "privatemail" / "_header.py").write_text('VERSION = "9.9"\n')
    monkeypatch.setattr(build_wheel, "PYTHON", tmp_path)
    with pytest.raises(SystemExit, match="the package is 9.9"):
        build_wheel.package_version()


def test_import_does_not_load_the_library_for_its_version(child):
    child("import privatemail; assert privatemail.__version__; assert privatemail._library._library is None")


def test_source_package(tmp_path):
    """The source package of a clean clone: pip builds the wheel from it and installs that, without
    an index."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", str(clone)], check=True)
    builder = [sys.executable, str(clone / "python" / "build_wheel.py"), "--sdist", "-o"]
    for folder in ("dist", "again"):
        subprocess.run([*builder, str(tmp_path / folder)], cwd=tmp_path, check=True)
    (path,) = (tmp_path / "dist").iterdir()
    assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    with tarfile.open(path) as archive:
        names = archive.getnames()
    top = path.name[: -len(".tar.gz")]
    assert {f"{top}/PKG-INFO", f"{top}/pyproject.toml", f"{top}/library/go.mod"} <= set(names)
    assert f"{top}/library/capi/pm.h" in names and all(name.startswith(top + "/") for name in names)
    assert not [name for name in names if name.endswith(("_test.go", ".so.1")) or "/tests/" in name]
    shutil.rmtree(clone)  # it is not needed
    subprocess.run(
        [sys.executable, "-m", "venv", "--system-site-packages", str(tmp_path / "venv")], check=True
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment.pop(_library.VARIABLE, None)
    python = str(tmp_path / "venv" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet"]
    install += ["--no-build-isolation", "--ignore-installed", str(path)]
    subprocess.run(install, cwd=tmp_path, env=environment, check=True, timeout=TIMEOUT)
    script = (
        "import importlib.metadata, privatemail; from privatemail import Engine;"
        "assert privatemail.__file__.startswith(__import__('sys').prefix), privatemail.__file__;"
        "assert importlib.metadata.version('privatemail') == privatemail.__version__;"
        "assert privatemail.version() == privatemail.__version__;"
        "print(Engine().nearest([[0.0], [1.0]], k=1)[1].tolist())"
    )
    done = subprocess.run(
        [python, "-c", script],
        cwd=tmp_path, env=environment, check=True, stdout=subprocess.PIPE, universal_newlines=True,
    )  # fmt: skip
    assert done.stdout == "[[1], [0]]\n"
