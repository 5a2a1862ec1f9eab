"""What tests of several rooms use."""

import pytest
from hypothesis import settings

from clubcascade.kernels.jit import INTERPRETED

settings.register_profile("compiled", deadline=None)  # the first example waits for the compiler
settings.load_profile("compiled")


def pytest_configure(config):
    """Without a compiler, let numbers overflow as compiled ones do: without a word."""
    if INTERPRETED:
        config.addinivalue_line("filterwarnings", "ignore:.* encountered in:RuntimeWarning")


def pytest_collection_modifyitems(items):
    """Without a compiler, leave out the tests of the compiler."""
    if INTERPRETED:
        items[:] = [item for item in items if "compiled" not in item.keywords]


@pytest.fixture(scope="session")
def cluster():
    """A PostgreSQL server, started when the first test asks for it."""
    from tests.storage.cluster import Cluster  # noqa: PLC0415 - psycopg is slow to load

    server = Cluster()
    yield server
    server.remove()


@pytest.fixture
def database(cluster):
    """The URL of an empty PostgreSQL database."""
    return cluster.database()
