import pytest

from clubcascade.datasets.columns import column_of
from clubcascade.errors import InvalidData


@pytest.mark.parametrize(
    ("role", "found", "column"),
    [
        ("user", ["id", "user_id", "item_id"], "user_id"),
        ("user", ["userId", "user"], "user"),
        ("user", ["USER ID"], "USER ID"),
        ("user", ["reviewerID", "asin"], "reviewerID"),
        ("item", ["userId", "movieId"], "movieId"),
        ("item", ["business_id", "user_id"], "business_id"),
        ("item", ["reviewerID", "asin"], "asin"),
        ("rating", ["user", "Stars"], "Stars"),
        ("user", ["user", "User"], "user"),
    ],
)
def test_a_column_is_recognised(role, found, column):
    assert column_of(role, found, None, "some.csv") == column


def test_a_wanted_column_is_taken_as_it_is():
    assert column_of("user", ["user", "customer"], "customer", "some.csv") == "customer"


def test_a_file_that_is_no_table_does_not_fill_the_screen():
    with pytest.raises(InvalidData) as caught:
        column_of("user", ["x" * 10_000] * 10_000, None, "some.csv")
    assert len(str(caught.value)) < 2_000
