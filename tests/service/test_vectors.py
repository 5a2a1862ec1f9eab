"""Vectors as JSON brings them: unit norm to seven digits."""

import json

import numpy as np

from tests.service.shops import shop


def test_unit_vectors_of_seven_digits_are_taken(tmp_path):
    rows = np.random.default_rng(1).standard_normal((200, 3)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    sent = json.loads(json.dumps([[round(float(x), 7) for x in row] for row in rows]))
    assert np.linalg.norm(sent, axis=1).max() > 1 + 1e-9
    with shop(tmp_path) as s:
        names = [f"item {n}" for n in range(len(sent))]
        s.register_items(names, sent)
        assert len(s.recommend("alice", 3).items) == 3
        decision = s.recommend("alice", 3, sent, ids=names)
        assert s.feedback(decision.id, 1) == "applied"
