"""The benchmark of verdicts runs, in small, and prints its tables."""

import numpy as np

from benchmarks import verdict


def test_offline_prints_a_row_per_policy(monkeypatch, capsys):
    monkeypatch.setattr(verdict, "BEFORE", 100)
    verdict.offline(
        {"small": {"n_items": 8, "items": "fresh"}},
        window=120,
        seeds=[1],
        every_policy=True,
        kept=None,
    )
    said = capsys.readouterr().out
    assert said.count("| small, ") == 5
    assert "estimates shown: 0 of 4, coverage none" in said


def test_drafts_are_balanced_and_alike_rankings_are_no_alarm(capsys):
    verdict.screen("alike", [0, 1, 2, 3], [0, 4, 2, 5], np.full((1, 6), 0.2), [1.0], 4, 4000)
    assert "| alike | 0.590, 0.590 | 0% | 0% | inf |" in capsys.readouterr().out


def test_a_large_difference_is_found_by_user():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(800), 10)
    arm = who % 2 == 0
    found = verdict.first_alarm(who, rng.random(who.size) < np.where(arm, 0.6, 0.3), arm)
    assert found["user", "any time"] < verdict.LOOKS
