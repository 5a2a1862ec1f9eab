"""The JSON of the service, as types: requests are checked against them, and documented by them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Text = Annotated[str, Meta(max_length=200)]
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Name = Text | Whole
Vector = Annotated[list[float], Meta(min_length=1)]


class Strict(Struct, forbid_unknown_fields=True):
    """A request: a field that is not known is an error, not a silence."""


class RecommendRequest(Strict):
    """Rank items for a user."""

    user: Annotated[Name, Meta(description="Id of the user; unknown ones are welcome.")]
    k: Annotated[int, Meta(ge=1, le=2**31, description="Length of the list.")]
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
    exclude_seen: Annotated[
        bool, Meta(description="Leave out what the user clicked; the list may be shorter.")
    ] = False
    filter: Annotated[
        Annotated[str, Meta(min_length=1, max_length=2_000)] | None,
        Meta(description='Which items, by their metadata: `category = "tea" and price < 20`.'),
    ] = None
    greedy: Annotated[bool, Meta(description="The best as far as is known: no exploration.")] = (
        False
    )
    explore: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(description="Probability that this list explores; by default the model's share."),
    ] = None
    metadata: Annotated[
        bool, Meta(description="Tell the metadata of the items, null where there is none.")
    ] = False


class RecommendResponse(Struct):
    """The list to show, best first."""

    decision_id: str
    items: list[Name]
    scores: list[float] | None
    model_version: int
    metadata: list[dict[str, Any] | None] | UnsetType = UNSET


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


class AnyFeedback(FeedbackItem):
    """A piece of feedback, or a batch of them."""

    decision_id: str | UnsetType = UNSET  # type: ignore[assignment]
    feedback: list[FeedbackItem] | UnsetType = UNSET


class FeedbackBatch(Strict):
    """Several pieces of feedback; each gets its own answer."""

    feedback: list[FeedbackItem]


class FeedbackAnswer(Struct, omit_defaults=True):
    """What became of one piece of feedback: applied, duplicate, conflict, late or unknown."""

    decision_id: str
    outcome: str | None = None
    error: dict[str, Any] | None = None


class FeedbackAnswers(Struct):
    """The answers, in the order of the request."""

    outcomes: list[FeedbackAnswer]


Columns = Annotated[
    dict[str, Any],
    Meta(description="Texts, numbers, truth values, null, lists of these; by column."),
]


class ItemChange(Strict):
    """What is new of an item: its features, or its row of the training table; its metadata."""

    features: Vector | None = None
    columns: Annotated[
        Columns | None,
        Meta(description="Instead of features: the item's row of the table of items."),
    ] = None
    metadata: Annotated[
        Columns | None,
        Meta(description="What to tell of the item; by default as it was, or the columns."),
    ] = None


class ItemPut(ItemChange, kw_only=True):
    """An item to register, or to change."""

    id: Name


class Item(Struct, omit_defaults=True):
    """An item, its features, and what is known of it."""

    id: Name
    features: Vector
    metadata: Columns | None = None


class ItemsPut(Strict):
    """Items to register, or to change: features of all, columns of all, or metadata alone."""

    items: Annotated[list[ItemPut], Meta(min_length=1)]


class ItemsDelete(Strict):
    """Items to remove."""

    ids: Annotated[list[Name], Meta(min_length=1)]


class ItemsAnswer(Struct, omit_defaults=True):
    """How many items there are now, or how many were removed."""

    items: int | None = None
    removed: int | None = None


class ModelPut(Strict):
    """A model to make."""

    n_features: Annotated[int, Meta(ge=1, le=2**31)] | None = None
    policy: Annotated[str, Meta(max_length=100)] | None = None
    params: Annotated[
        dict[str, Any], Meta(description="Further parameters of the policy, by name.")
    ] = msgspec.field(default_factory=dict)
    explore: Annotated[
        float,
        Meta(ge=0, le=1, description="Share of its lists that explore; the others are greedy."),
    ] = 1.0


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
    explore: float


class ModelList(Struct):
    """The models that the key is for."""

    models: list[str]


class Digest(Struct):
    """SHA-256 of a model at a position in the log: the same on all servers.

    ``version`` is the position of the last event that changed the model.
    """

    model: str
    digest: str
    version: int
    position: int


class Snapshot(Struct):
    """Position in the log of the snapshot."""

    position: int


class Forgotten(Struct):
    """From which position in the log on a user is forgotten, or a model is gone."""

    position: int


class ItemPage(Struct):
    """Some of the items, in the order in which they were registered; how many there are."""

    items: list[Item]
    total: int


class UserPage(Struct):
    """Some of the users, in the order in which they came; how many there are."""

    users: list[Name]
    total: int


class ListedItem(Struct):
    """An item of a list: its score is the mean plus a bonus for what is not known yet."""

    id: Name
    score: float | None
    mean: float | None = None
    width: float | None = None
    title: str | None = None
    metadata: dict[str, Any] | None = None


class UserCard(Struct):
    """A user: how many items it looked at, who is like it, and what it would be shown next."""

    user: Name
    known: bool
    looked: int | None
    cluster: int | None
    cluster_size: int | None
    next: list[ListedItem]


class Cluster(Struct):
    """Users that are served as one; its number, -1 for a user alone, is kept by this server.

    ``likes`` has categories, or words of titles or ids, that the items it likes best share.
    """

    cluster: int
    size: int
    members: list[Name]
    taste: list[ListedItem]
    likes: str = ""


class Clusters(Struct):
    """All clusters, largest first; members and taste of the first ones only."""

    clusters: list[Cluster]
    sizes: list[int]


class ArmPut(Strict):
    """An arm of an experiment."""

    model: Annotated[str, Meta(max_length=64, description="Name of the model that serves it.")]
    share: Annotated[
        float,
        Meta(ge=0, description="Relative share of the users; 0: a shadow model, which learns."),
    ] = 1.0
    explore: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(description="Share of its lists that explore, 0: greedy; by default the model's."),
    ] = None


class ExperimentPut(Strict):
    """An experiment to begin: the other arms are compared with the first one."""

    arms: Annotated[dict[Annotated[str, Meta(max_length=64)], ArmPut], Meta(min_length=2)]
    mode: Annotated[
        Literal["ab", "interleave"],
        Meta(description="ab: a user gets lists of one arm. interleave: a screen of two arms."),
    ] = "ab"


class ArmInfo(Struct):
    """An arm so far; without numbers where lists are of both arms."""

    arm: str
    model: str
    share: float
    explore: float
    users: int | None = None
    lists: int | None = None
    clicks: int | None = None
    exploring_lists: int | None = None
    exploring_clicks: int | None = None
    items: int | None = None


class VerdictInfo(Struct):
    """An arm against the first one: 95% intervals that hold at all times, null for no bound.

    ``curve`` has lists, lower and upper bound of the difference in clicks per list.
    """

    arm: str
    against: str
    sentence: str
    decision: Literal["better", "worse", "alike"] | None
    rates: list[float | None]
    difference: list[float | None]
    relative: list[float | None]
    asked: float
    more_lists: float | None
    curve: list[list[float | None]]


class ScreenInfo(Struct):
    """What interleaving says: the second arm's share of exclusive clicks. Never a verdict."""

    sentence: str
    share: list[float]
    curve: list[list[float | None]]


class ExperimentInfo(Struct):
    """An experiment so far, by the order of the log: the same on all servers."""

    experiment: str
    mode: str
    since: int
    ended: int | None
    position: int
    lists: int
    users: int
    clicks: int
    arms: list[ArmInfo]
    verdicts: list[VerdictInfo]
    screen: ScreenInfo | None


class ExperimentList(Struct):
    """The experiments that run, and the last ones that ended, of those that the key is for."""

    experiments: list[str]
    ended: list[str]


class ErrorBody(Struct):
    """What is wrong, where, and what to do about it."""

    code: str
    field: str | None
    reason: str
    hint: str


class Error(Struct):
    """The one shape of errors."""

    error: ErrorBody
