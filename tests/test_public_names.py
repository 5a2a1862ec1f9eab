"""The public surface: what is promised is there, and nothing else."""

import inspect

import clubcascade as cc


def test_public_names_are_the_ones_there_are():
    public = set(cc._AT_FIRST_USE) | {
        name
        for name, value in vars(cc).items()
        if not name.startswith("_") and (not inspect.ismodule(value) or name in cc.__all__)
    }
    assert public == set(cc.__all__)
    assert all(hasattr(cc, name) for name in cc.__all__)
