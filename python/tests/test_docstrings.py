"""Every example of every docstring runs, and everything public is documented."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import privatemail

MODULES = ["privatemail"] + [
    f"privatemail.{module.name}" for module in pkgutil.iter_modules(privatemail.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0


@pytest.mark.parametrize("name", privatemail.__all__)
def test_what_is_public_is_documented(name):
    thing = getattr(privatemail, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing):
        for method, _ in inspect.getmembers(thing, inspect.isfunction):
            if not method.startswith("_") and thing.__module__.startswith("privatemail"):
                assert inspect.getdoc(getattr(thing, method)), f"{name}.{method}"


def test_help_names_what_is_there():
    for name in ("SupervisedEmbedding", "KernelEmbedding", "GaussianGraph", "GaussianOperator"):
        assert name in privatemail.__doc__
    for name in ("privatize", "continue_", "sensitivity", "Ledger", "spawn", "n_jobs", "max_memory"):
        assert name in privatemail.__doc__
