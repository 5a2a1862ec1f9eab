"""The JSON of the service, as types: requests are checked against them, and documented by them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from clubcascade.service.settings import Limits

LIMITS = Limits()

Text = Annotated[str, Meta(max_length=200)]
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Name = Text | Whole
Vector = Annotated[list[float], Meta(min_length=1, max_length=LIMITS.features)]


class Strict(Struct, forbid_unknown_fields=True):
    """A request: a field that is not known is an error, not a silence."""


class RecommendRequest(Strict):
    """Rank items for a user."""

    user: Annotated[Name, Meta(description="Id of the user; unknown ones are welcome.")]
    k: Annotated[int, Meta(ge=1, le=LIMITS.k, description="Length of the list.")]
    items: Annotated[
        list[Vector] | None,
        Meta(description="Features of the items that may be shown, a row each, norm at most 1."),
    ] = None
    ids: Annotated[list[Name] | None, Meta(description="Names of the rows of items.")] = None
    candidates: Annotated[
        list[Name] | None,
        Meta(description="Ids of registered items, instead of items. Neither: all registered."),
    ] = None
    request_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(description="The same id gets the same decision again: for retries."),
    ] = None


class RecommendResponse(Struct):
    """The list to show, best first."""

    decision_id: str
    items: list[Name]
    scores: list[float] | None
    model_version: int


class FeedbackItem(Strict):
    """Where the user clicked. Give click, or examined and clicks."""

    decision_id: Annotated[str, Meta(max_length=100)]
    click: Annotated[
        int | None | UnsetType,
        Meta(description="First clicked position, 0-based; null: no click."),
    ] = UNSET
    examined: Annotated[int | UnsetType, Meta(description="How many items the user looked at.")] = (
        UNSET
    )
    clicks: Annotated[
        list[int] | UnsetType, Meta(description="Clicked positions, rising, below examined.")
    ] = UNSET


class FeedbackBatch(Strict):
    """Several pieces of feedback; each gets its own answer."""

    feedback: Annotated[list[FeedbackItem], Meta(max_length=LIMITS.batch)]


class FeedbackAnswer(Struct, omit_defaults=True):
    """What became of one piece of feedback: applied, duplicate, conflict, late or unknown."""

    decision_id: str
    outcome: str | None = None
    error: dict[str, Any] | None = None


class FeedbackAnswers(Struct):
    """The answers, in the order of the request."""

    outcomes: list[FeedbackAnswer]


class Item(Strict):
    """An item and its features."""

    id: Name
    features: Vector


class ItemsPut(Strict):
    """Items to register, or to give other features."""

    items: Annotated[list[Item], Meta(min_length=1, max_length=LIMITS.candidates)]


class ItemsDelete(Strict):
    """Items to remove."""

    ids: Annotated[list[Name], Meta(min_length=1, max_length=LIMITS.candidates)]


class ItemsAnswer(Struct, omit_defaults=True):
    """How many items there are now, or how many were removed."""

    items: int | None = None
    removed: int | None = None


class ModelPut(Strict):
    """A model to make."""

    n_features: Annotated[int, Meta(ge=1, le=LIMITS.features)] | None = None
    policy: Annotated[str, Meta(max_length=100)] | None = None
    params: Annotated[
        dict[str, Any], Meta(description="Further parameters of the policy, by name.")
    ] = msgspec.field(default_factory=dict)


class ModelInfo(Struct):
    """A model as it is now."""

    model: str
    policy: str
    params: dict[str, Any]
    n_features: int | None
    items: int
    users: int | None
    version: int
    counters: dict[str, int]


class ModelList(Struct):
    """The models that the key is for."""

    models: list[str]


class Digest(Struct):
    """SHA-256 of what a model has learned, with its items and counters."""

    model: str
    digest: str
    version: int


class Snapshot(Struct):
    """Number of the last event in the snapshot."""

    event: int


class ListedItem(Struct):
    """An item of a list: its score is the mean plus a bonus for what is not known yet."""

    id: Name
    score: float | None
    mean: float | None = None
    width: float | None = None


class UserCard(Struct):
    """A user: how many items it looked at, who is like it, and what it would be shown next."""

    user: Name
    known: bool
    looked: int | None
    cluster: int | None
    cluster_size: int | None
    next: list[ListedItem]


class Cluster(Struct):
    """Users that are served as one."""

    cluster: int
    size: int
    members: list[Name]
    taste: list[ListedItem]


class Clusters(Struct):
    """All clusters, largest first; members and taste of the first ones only."""

    clusters: list[Cluster]
    sizes: list[int]


class ErrorBody(Struct):
    """What is wrong, where, and what to do about it."""

    code: str
    field: str | None
    reason: str
    hint: str


class Error(Struct):
    """The one shape of errors."""

    error: ErrorBody
