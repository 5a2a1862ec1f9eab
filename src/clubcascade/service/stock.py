"""Items and models over HTTP: what may be shown, and by what it is ranked."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from clubcascade.errors import InvalidArgument
from clubcascade.policies import policy_class
from clubcascade.service import looks, schemas
from clubcascade.service.endpoint import Call, check_count
from clubcascade.service.making import DEFAULT_POLICY, made_alike, sized
from clubcascade.service.problems import Problem

if TYPE_CHECKING:
    from clubcascade.service.app import Service


class Stock:
    """Registers and removes items, makes and lists models."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def put_items(self, call: Call) -> tuple[int, Any]:
        """Register items."""
        sent = call.read(schemas.ItemsPut)
        model = self._service.model_of(call)
        check_count("items", len(sent.items), self._service.limits.candidates)
        wanted = len(sent.items[0].features)
        if any(len(item.features) != wanted for item in sent.items):
            raise Problem(422, "invalid", "features must all have one length", field="items")
        put = partial(
            self._service.open_shop.register_items,
            [item.id for item in sent.items],
            [item.features for item in sent.items],
            model=model.name,
        )
        return 200, schemas.ItemsAnswer(items=await asyncio.to_thread(put))

    async def delete_items(self, call: Call) -> tuple[int, Any]:
        """Remove items."""
        sent = call.read(schemas.ItemsDelete)
        model = self._service.model_of(call)
        check_count("ids", len(sent.ids), self._service.limits.candidates)
        remove = partial(
            self._service.open_shop.remove_items, list(dict.fromkeys(sent.ids)), model=model.name
        )
        return 200, schemas.ItemsAnswer(removed=await asyncio.to_thread(remove))

    async def models(self, call: Call) -> tuple[int, Any]:
        """List the models that the key is for."""
        return 200, schemas.ModelList(
            [name for name in self._service.open_shop.models if call.key.sees(name)]
        )

    async def put_model(self, call: Call) -> tuple[int, Any]:
        """Make a model; one that exists with these parameters is left as it is."""
        sent = call.read(schemas.ModelPut)
        name, shop = call.params["model"], self._service.open_shop
        if name == "models":
            raise Problem(422, "invalid", "model must not be named 'models'", field="model")
        policy = await asyncio.to_thread(_make, sent)
        if name in shop.models:
            kept = shop.model(name).policy
            if not made_alike(kept, policy):
                raise Problem(409, "conflict", f"model {name!r} exists and is {kept!r}")
            return 200, looks.model_info(shop.model(name))
        if len(shop.models) >= self._service.limits.models:
            raise Problem(
                422, "too_large", f"a service may have {self._service.limits.models} models"
            )
        await asyncio.to_thread(shop.create_model, name, policy)
        return 201, looks.model_info(shop.model(name))


def _make(sent: schemas.ModelPut) -> Any:
    """Make a policy from what a client sent; whatever is wrong with it is the client's."""
    kind = policy_class(sent.policy or DEFAULT_POLICY)
    params = dict(sent.params)
    if sent.n_features is not None:
        params["n_features"] = sent.n_features
    try:
        return kind(**sized(kind, params))
    except InvalidArgument:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError, MemoryError) as error:
        raise Problem(
            422,
            "invalid",
            f"params must fit {kind.__name__}, got {type(error).__name__}: {error}"[:300],
            field="params",
            hint="`clubcascade list` shows the policies and their parameters.",
        ) from None
