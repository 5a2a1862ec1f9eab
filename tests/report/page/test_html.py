from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clubcascade.report.page.html import Markup, join, tag


def test_texts_and_attributes_are_escaped_and_elements_are_not():
    element = tag("a", "<script>", tag("b", "&"), href='x" onclick="y')
    assert element == '<a href="x&quot; onclick=&quot;y">&lt;script&gt;<b>&amp;</b></a>'


def test_attributes_without_value_and_left_out():
    assert tag("details", open=True, class_=None, hidden=False) == "<details open></details>"
    assert tag("meta", name="a", http_equiv="b") == '<meta name="a" http-equiv="b">'


@given(st.text())
def test_no_text_opens_an_element(text):
    written = join([text, [text]])
    assert isinstance(written, Markup)
    assert "<" not in written and ">" not in written and '"' not in written
