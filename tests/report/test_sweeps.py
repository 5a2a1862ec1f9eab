from __future__ import annotations

from clubcascade.experiment.config import read_experiment
from clubcascade.report.sweeps import sweeps
from tests.report import made


def test_policies_that_differ_in_two_parameters_are_a_sweep_between_limits():
    (sweep,) = sweeps(made.sweep().policies)
    assert (sweep.policy, sweep.names) == ("club_cascade", ("alpha", "beta"))
    assert sweep.columns == ("0.1", "0.3", "1.0") and sweep.is_map
    assert [(row.name, row.limit) for row in sweep.rows] == [
        ("Multiple", "alpha → 0"),
        ("0.5", ""),
        ("1.0", ""),
        ("2.0", ""),
        ("C3", "alpha → ∞"),
    ]
    assert sweep.rows[1].labels["0.3"] == "CLUB, alpha=0.5, beta=0.3"
    assert sweeps(made.experiment([made.world("(a)")]).policies) == []


def test_a_grid_with_holes_or_of_few_values_is_no_map():
    policies = [c for c in made.sweep().policies if c.label != "CLUB, alpha=0.5, beta=0.3"]
    (sweep,) = sweeps(policies)
    assert not sweep.is_map
    few = [c for c in made.sweep().policies if "alpha=2.0" not in c.label]
    (sweep,) = sweeps([c for c in few if "beta=1.0" not in c.label])
    assert not sweep.is_map
    assert sweeps(read_experiment("spanner").policies) == []
    (shipped,) = sweeps(read_experiment("sweep").policies)
    assert shipped.is_map and len(shipped.rows) == 7
