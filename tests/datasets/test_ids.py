import numpy as np
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


@given(TEXTS, st.data())
def test_some_are_kept(texts, data):
    wanted = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    kept = Ids.of(texts).kept(np.array(wanted, dtype=bool))
    assert list(kept) == [text for text, keep in zip(texts, wanted, strict=True) if keep]


def test_other_texts_are_not_equal():
    assert Ids.of(["ab", "c"]) != Ids.of(["a", "bc"])
    assert Ids.of(["a"]) != "a"
    assert repr(Ids.of("abcd")) == "Ids('a', 'b', 'c', …; 4)"
