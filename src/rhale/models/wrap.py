"""Recognise a model by the names of its classes; nothing is imported that the user has not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from inspect import ismethod
from pathlib import Path
from typing import Any, cast

from rhale.errors import BadSettingError, UnknownModelError
from rhale.models.adapter import Adapter
from rhale.models.boosters import as_estimator, match_training_columns
from rhale.models.columns import columns_of
from rhale.models.function import FunctionModel
from rhale.models.sklearn import choose_response, estimator_model
from rhale.models.trees.ensemble import is_tree_model
from rhale.models.trees.model import TreeModel
from rhale.settings import Response

RESPONSE_METHODS = ("predict", "predict_proba", "decision_function")  # each of them a response
# kind -> file and class of the adapter, and the libraries of models; a new adapter is one line here
ADAPTERS = {
    "torch": ("rhale.models.torch", "TorchModel", ("torch",)),
    "jax": ("rhale.models.jax", "JaxModel", ("jax", "jaxlib")),
}


def wrap(
    model: Any,
    *,
    kind: str | None = None,
    gradient: Callable[[Any], Any] | None = None,
    response: Response = "auto",
    walk: bool = True,
) -> Adapter:
    """Choose the adapter for a model.

    Parameters
    ----------
    model : callable, estimator, torch module, JAX function or path
        The model, or the path of a model file (see `rhale.models.files.load`). An adapter is returned
        as it is.
    kind : {"function", "estimator", "torch", "jax"}, optional
        Choose by hand instead.
    gradient : callable, optional
        Derivative of the model's answer: rows -> (n_rows, n_features).
    response : str
        Which answer of an estimator to explain.
    walk : bool
        Whether the trees of an ensemble are walked; False asks it as a black box.

    Returns
    -------
    Adapter

    Examples
    --------
    >>> wrap(lambda rows: rows[:, 0]).kind
    'function'
    """
    if isinstance(model, Adapter) and not isinstance(model, type) and kind is None:
        if response != "auto":
            msg = f"response={response!r} is for estimators; this is a {model.kind} already"
            raise UnknownModelError(msg)
        if gradient is not None:
            msg = (
                f"gradient= is for callables and models; this {model.kind} is an adapter, which "
                "gives its own slopes: pass the model itself, or write Adapter.gradient"
            )
            raise UnknownModelError(msg)
        return model
    if isinstance(model, str | Path):
        return wrap(read_model(model), kind=kind, gradient=gradient, response=response, walk=walk)
    if kind is None:
        model, response = unbind(model, response)
    found = kind or recognise_kind(model)
    if found == "estimator":
        estimator = as_estimator(model)
        chosen = choose_response(estimator, response)
        asked = estimator_model(estimator, response=chosen, gradient=gradient, model=model)
        ask, columns = match_training_columns(model, asked.function), columns_of(model)
        if not walk or gradient is not None or not is_tree_model(model):
            return replace(asked, function=ask, columns=columns)
        return TreeModel(ask, model, chosen, asked.kind, asked.labels, asked.usual_outputs, columns)
    if response != "auto":
        msg = f"response={response!r} is for estimators; this model is a {found}"
        raise UnknownModelError(msg)
    if found == "function":
        return FunctionModel(model, gradient)
    if found not in ADAPTERS:
        msg = f"kind={kind!r} is not known; use one of function, estimator, {', '.join(ADAPTERS)}"
        raise UnknownModelError(msg)
    file, name, _ = ADAPTERS[found]
    adapter = cast(Adapter, getattr(import_module(file), name)(model))
    if gradient is None:
        return adapter
    return FunctionModel(adapter.predict, gradient, kind=adapter.kind, open_session=adapter.session)


def recognise_kind(model: Any) -> str:
    """Say what a model is from the libraries along its class's ancestry and from its methods."""
    if isinstance(model, type):
        msg = f"{model.__name__} is a class; pass a fitted instance of it"
        raise UnknownModelError(msg)
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        for kind, (_, _, libraries) in ADAPTERS.items():
            if library in libraries:
                return kind
    if hasattr(model, "predict"):
        return "estimator"
    if callable(model):
        return "function"
    msg = (
        f"{type(model).__name__} is no model that rhale knows: pass a function of the table, an "
        "object with predict, a torch module, a JAX function or the path of a model file"
    )
    raise UnknownModelError(msg)


def unbind(model: Any, response: Response) -> tuple[Any, Response]:
    """Return the estimator and the response of a bound method `clf.predict_proba`; others as they are."""
    owner, name = getattr(model, "__self__", None), getattr(model, "__name__", "")
    if not ismethod(model) or name not in RESPONSE_METHODS or isinstance(owner, type | Adapter):
        return model, response
    if recognise_kind(owner) != "estimator" or getattr(owner, name, None) != model:
        return model, response
    if response not in ("auto", name):
        msg = (
            f"the model is {type(owner).__name__}.{name}, and response={response!r} asks for "
            f"another answer; pass the {type(owner).__name__} itself, or leave response= out"
        )
        raise BadSettingError(msg)
    return owner, cast(Response, name)


def read_model(model: Any) -> Any:
    """Read a model file; names of objects are for the command line, which has no other way."""
    if not isinstance(model, str | Path):
        return model
    from rhale.models.files.load import is_named_object, load_file

    if isinstance(model, str) and is_named_object(model):
        module, _, name = model.partition(":")
        msg = f"{model!r} is no file; import {name} from {module} and pass the object itself"
        raise UnknownModelError(msg)
    return load_file(model)
