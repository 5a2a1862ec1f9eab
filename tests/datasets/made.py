"""Small made-up data files, in every form that is read."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile

import numpy as np

RATINGS = [(1, 10, 4.0), (1, 20, 2.5), (2, 10, 5.0), (3, 30, 1.0), (2, 30, 3.5), (10, 20, 4.5)]
"""Made-up ratings: user, item, stars."""


def csv_text(header="userId,movieId,rating,timestamp", rows=RATINGS):
    lines = [f"{u},{i},{r},{1000 + n}" for n, (u, i, r) in enumerate(rows)]
    return "\n".join([header, *lines]) + "\n"


def dat_text(rows=RATINGS):
    return "".join(f"{u}::{i}::{r:g}::{1000 + n}\n" for n, (u, i, r) in enumerate(rows))


def zip_bytes(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return packed.getvalue()


def movielens_zip(folder="ml-latest-small", rows=RATINGS):
    readme = {f"{folder}/README.txt": "made up"}
    return zip_bytes(readme | {f"{folder}/ratings.csv": csv_text(rows=rows)})


def pairs(data):
    """The clicks of a data set as pairs of ids."""
    users, items = data.clicks.nonzero()
    return {(data.user_ids[u], data.item_ids[i]) for u, i in zip(users, items, strict=True)}


EXPECTED = {(str(u), str(i)) for u, i, _ in RATINGS}

BUSINESSES = [
    {"business_id": "b-pizza", "categories": "Pizza, Restaurants"},
    {"business_id": "b-shop", "categories": "Shopping"},
    {"business_id": "b-none", "categories": None},
    {"business_id": "b-old", "categories": ["Bars", "Restaurants"]},
    {"business_id": "b-like", "categories": "Restaurants Supply, Restaurantsy"},
]
REVIEWS = [
    ("u-ann", "b-pizza"),
    ("u-ann", "b-pizza"),
    ("u-bob", "b-shop"),
    ("u-bob", "b-old"),
    ("u-eve", "b-none"),
    ("u-eve", "b-like"),
    ("u-dan", "b-old"),
]
RESTAURANT_PAIRS = {("u-ann", "b-pizza"), ("u-bob", "b-old"), ("u-dan", "b-old")}


def business_text():
    return "".join(json.dumps(record) + "\n" for record in BUSINESSES)


def review_text(reviews=REVIEWS, text='Good "food",\nslow.'):
    return "".join(
        json.dumps(
            {"review_id": f"r{n}", "user_id": u, "business_id": b, "stars": 4.0, "text": text}
        )
        + "\n"
        for n, (u, b) in enumerate(reviews)
    )


def yelp_files():
    """Yelp's files in the order in which its archive has them, with one that is not needed."""
    return {
        "yelp_academic_dataset_review.json": review_text(),
        "yelp_academic_dataset_user.json": '{"user_id": "u-ann", "name": "Ann"}\n',
        "yelp_academic_dataset_business.json": business_text(),
    }


def tar_bytes(files, mode="w"):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def pools_file(path, clicks):
    np.savez(path, clicks=clicks)
    return path
