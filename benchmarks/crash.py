"""Kill a recommender at random moments, many times; what it acknowledged must be there.

    python benchmarks/crash.py --rounds 200 --clients 64

Every round forks a process in which clients recommend and send feedback, some of it twice, and
kills it without warning. The store is then opened: each acknowledged answer must be known and
unaltered, none may be in the log twice, every digest that the living process told must be that of
the log up to there, and snapshot and tail must equal the whole log.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from clubcascade.service import Recommender
from clubcascade.service.events import Answered, read_event
from clubcascade.service.history import recover, replayed
from clubcascade.service.models import Models
from clubcascade.storage import open_store

ITEMS = np.random.default_rng(3).uniform(-0.4, 0.4, (30, 5))


def live(folder: str, pipe: int, clients: int, seed: int) -> None:
    """Be the process that will be killed: serve clients and tell what was acknowledged."""
    shop = Recommender(folder, n_features=5, snapshot_every=500)

    def tell(*words: object) -> None:
        os.write(pipe, (json.dumps(words) + "\n").encode())

    def client(number: int) -> None:
        luck = random.Random(seed * 1000 + number)
        waiting: list[str] = []
        while True:
            decision = shop.recommend(f"user {luck.randrange(50)}", 4, ITEMS)
            waiting.append(decision.id)
            luck.shuffle(waiting)
            while waiting and luck.random() < 0.6:
                chosen = waiting.pop()
                click = luck.choice([None, 0, 1, 2, 3])
                tell(chosen, click, shop.feedback(chosen, click))
                if luck.random() < 0.2:
                    tell(chosen, click, shop.feedback(chosen, click))

    def watch() -> None:
        while True:
            tell("digest", *shop.digest_at())
            time.sleep(0.01)

    for number in range(clients):
        threading.Thread(target=client, args=(number,), daemon=True).start()
    watch()


def one_round(folder: str, clients: int, seed: int, seconds: float) -> list[list[object]]:
    """Let a process live for a while and kill it; return what it told."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            live(folder, write, clients, seed)
        finally:
            os._exit(1)
    os.close(write)
    timer = threading.Timer(seconds, os.kill, (child, signal.SIGKILL))
    timer.start()
    with os.fdopen(read, "rb") as stream:
        lines = stream.read().split(b"\n")
    os.waitpid(child, 0)
    timer.join()
    return [json.loads(line) for line in lines[:-1]]  # the last one may be cut


def check(folder: str, told: list[list[object]], answers: dict[str, object]) -> dict[str, int]:
    """Raise unless the store has everything that was acknowledged, once."""
    digests: dict[int, str] = {}
    for word, *rest in told:
        if word == "digest":
            digests[rest[0]] = rest[1]  # type: ignore[index,assignment]
        elif rest[1] == "applied":
            assert str(word) not in answers, f"{word} was applied twice"
            answers[str(word)] = rest[0]
        else:
            assert rest[1] == "duplicate", (word, rest)
    store = open_store(folder)
    try:
        whole = replayed(store)
        quick, notes = recover(store)
        assert not notes, notes
        assert whole.digest() == quick.digest(), "snapshot and tail differ from the log"
        models = Models()
        seen: Counter[int] = Counter()
        for number, payload in store.events(0):
            event = read_event(payload)
            if isinstance(event, Answered):
                seen[event.decision.number] += 1
            models.apply([(number, event)])
            if number in digests:
                assert models.digest()[1] == digests[number], f"the digest at {number} differs"
        assert not seen or max(seen.values()) == 1, "an answer was learned twice"
    finally:
        store.close()
    with Recommender(folder) as shop:
        lost = [
            (key, click, outcome)
            for (key, click), outcome in zip(
                answers.items(),
                shop.feedback_many(answers.items()),  # type: ignore[arg-type]
                strict=True,
            )
            if outcome != "duplicate"
        ]
        assert not lost, f"acknowledged and not there: {lost[:3]}"
        return {"events": shop.position, "digests": len(digests)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--restarts", type=int, default=5, help="rounds that share one store")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dir", type=Path, default=None)
    options = parser.parse_args()
    luck = random.Random(options.seed)
    warm = tempfile.mkdtemp(dir=options.dir)
    with Recommender(warm, n_features=5) as shop:  # compile before the processes part
        shop.feedback(shop.recommend("alice", 4, ITEMS).id, 0)
        shop.feedback(shop.recommend("alice", 4, ITEMS).id, 0)
    acknowledged = digests = 0
    for number in range(options.rounds):
        if number % options.restarts == 0:
            home = tempfile.TemporaryDirectory(dir=options.dir)
            answers: dict[str, object] = {}
        before = len(answers)
        seconds = luck.choice([0.05, 0.2, 0.5, 0.8]) * luck.uniform(0.5, 1.5)
        told = one_round(home.name, options.clients, options.seed + number, seconds)
        found = check(home.name, told, answers)
        acknowledged += len(answers) - before
        digests += found["digests"]
        if (number + 1) % 10 == 0:
            print(f"{number + 1} rounds: {acknowledged} acknowledged, none lost", flush=True)
    print(f"done: {options.rounds} kills, {acknowledged} acknowledged answers, all there, none")
    print(f"learned twice; {digests} digests of the living process equal those of the log")


if __name__ == "__main__":
    main()
