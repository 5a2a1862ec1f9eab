from hypothesis import given
from hypothesis import strategies as st

from clubcascade.datasets.ids import Ids

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=8)


@given(TEXTS)
def test_texts_come_back(texts):
    ids = Ids.of(texts)
    assert list(ids) == texts and len(ids) == len(texts)
    assert ids == texts and ids == Ids.of(texts) and hash(ids) == hash(Ids.of(texts))
    assert ids[:2] == tuple(texts[:2])
    assert [ids[-1 - n] for n in range(len(texts))] == texts[::-1]


def test_other_texts_are_not_equal():
    assert Ids.of(["ab", "c"]) != Ids.of(["a", "bc"])
    assert Ids.of(["a"]) != "a"
    assert repr(Ids.of("abcd")) == "Ids('a', 'b', 'c', …; 4)"
