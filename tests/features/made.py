"""Small tables of a shop, made up."""

import numpy as np

KINDS = ("tea", "jam", "oats")


def shelf(n_items=30):
    return [
        {
            "item": f"i{n}",
            "title": f"{KINDS[n % 3]} of the {'north' if n % 2 else 'south'} number {n}",
            "category": KINDS[n % 3],
            "price": str(2.0 + n % 7),
        }
        for n in range(n_items)
    ]


def clicks(n_users=40, n_items=30, per_user=8, seed=0):
    """Users like one kind; times rise."""
    rng = np.random.default_rng(seed)
    rows = []
    for user in range(n_users):
        liked = [n for n in range(n_items) if n % 3 == user % 3]
        weights = 1.0 / np.arange(1, len(liked) + 1)
        chosen = rng.choice(
            liked, min(per_user, len(liked)), replace=False, p=weights / weights.sum()
        )
        rows += [(f"u{user}", f"i{n}") for n in chosen]
    order = rng.permutation(len(rows))
    return [
        {"user": rows[place][0], "item": rows[place][1], "time": str(1_700_000_000 + 60 * t)}
        for t, place in enumerate(order)
    ]


def write_csv(path, rows):
    names = list(rows[0])
    lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
