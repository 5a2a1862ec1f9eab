"""What tests of several rooms use."""

import pytest
from hypothesis import settings

settings.register_profile("compiled", deadline=None)  # the first example waits for the compiler
settings.load_profile("compiled")


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
