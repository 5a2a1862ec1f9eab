"""Models learn from answers in groups, and are the same to the bit as if each had come alone."""

from pathlib import Path

import numpy as np
import pytest

from clubcascade import model_file
from clubcascade.core.state import same
from clubcascade.policies import policy_class
from clubcascade.service.decision import Decision
from clubcascade.service.events import Answered, ModelMade
from clubcascade.service.model import Model
from clubcascade.service.models import AT_ONCE, Models, digest

D = 3
EARLIER = Path(__file__).parents[1] / "model_formats" / "earlier"


def answers(n, seed=3):
    """Answers to lists of several lengths, for two models, some of them late or absent."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(n):
        k = 2 + (rng.random() < 0.1)
        kind = ["applied", "late", "absent"][rng.choice(3, p=[0.8, 0.1, 0.1])]
        click = rng.integers(k + 1)
        given = (k, ()) if click == k or kind == "absent" else (click + 1, (int(click),))
        model = "b" if rng.random() < 0.1 else "a"
        shown = rng.uniform(-0.5, 0.5, (k, D)).tobytes()
        user = f"user {rng.integers(20)}"
        decision = Decision(str(number), tuple(range(k)), None, 0, model, user)
        decision.features = shown
        found.append(Answered(decision, kind, given, 0))
    return found


def models(policy):
    made = Models()
    for number, name in enumerate("ab", start=1):
        made.apply([(number, ModelMade.of(name, policy_class(policy)(n_features=D)))])
    return made


@pytest.mark.parametrize("policy", ["cohort_cascade", "club_cascade", "cascade_lin_ts"])
def test_groups_teach_what_single_answers_teach(policy):
    log = answers(3 * AT_ONCE)
    alone, together, cut = models(policy), models(policy), models(policy)
    numbered = list(enumerate(log, start=3))
    for one in numbered:
        alone.apply([one])
    together.apply(numbered)
    for start in range(0, len(log), 7):
        cut.apply(numbered[start : start + 7])
    assert alone.digest() == together.digest() == cut.digest()
    assert alone.position == together.position == cut.position == len(log) + 2
    counters, versions = together["a"].counters, [together[name].version for name in "ab"]
    assert counters == alone["a"].counters and min(counters[n] for n in ("late", "absent")) > 0
    assert versions == [alone[name].version for name in "ab"] and max(versions) == len(log) + 2


def test_nothing_to_learn_changes_nothing():
    made = models("cohort_cascade")
    before = made.digest()
    made.apply([])
    assert (made.digest(), made.position) == (before, 2)


@pytest.mark.parametrize("name", ["all", "code2017", "theorem", "glm-theorem"])
def test_a_model_of_an_earlier_version_is_kept_as_it_was_made(name):
    """Its digest is that of before, and an earlier version can read the store again."""
    policy, params, state = model_file.read(EARLIER / f"{name}.cc")
    model = Model.made(ModelMade("m", policy, params, state))
    assert model.parts()[0]["params"] == params and model.parts()[0]["policy"] == policy
    again = Model.from_parts("m", *model.parts())
    assert digest([("m", again.parts())]) == digest([("m", model.parts())])
    for one in (model, again):
        one.policy.update(0, np.eye(3), 1)
    assert same(model.policy.state(), again.policy.state())
