"""explain() and effect(): the steps from a model and a table to an Explanation. Start reading here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, overload

import numpy.typing as npt

from rhale.effects.effect import Effect
from rhale.effects.explanation import Bins, Explanation
from rhale.effects.local.choose import choose_measures
from rhale.effects.local.precomputed import bin_local_effects
from rhale.execution.fold import Progress
from rhale.features.feature import FirstPass
from rhale.interaction.api import explain_pairs
from rhale.interaction.result import Interactions
from rhale.models.files.sandbox import containing
from rhale.naming import answering_unknown
from rhale.pipeline import conclude, open_run
from rhale.regions.settings import By, Regions
from rhale.settings import Local, Method, Response, Settings


@overload
def explain(
    model: Any,
    data: Any,
    *,
    features: Sequence[tuple[str | int, str | int]],
    method: Literal["pdp"],
    bins: Bins = None,
    output: str | int | Sequence[str | int] | None = None,
    response: Response = "auto",
    transform: Any = None,
    output_transform: Any = None,
    columns: Sequence[str] | None = None,
    weights: npt.ArrayLike | str | None = None,
    categorical: Any = None,
    n_rows: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    n_jobs: int | None = None,
    device: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Progress | None = None,
    feature_names: Sequence[str] | Mapping[str | int, str] | None = None,
    output_names: str | Sequence[str] | Mapping[str | int, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Interactions: ...
@overload
def explain(
    model: Any,
    data: Any,
    *,
    features: str | int | Sequence[str | int] | None = None,
    method: Method = "rhale",
    bins: Bins = None,
    local: Local = "auto",
    gradient: Callable[[Any], Any] | None = None,
    output: str | int | Sequence[str | int] | None = None,
    response: Response = "auto",
    transform: Any = None,
    output_transform: Any = None,
    columns: Sequence[str] | None = None,
    weights: npt.ArrayLike | str | None = None,
    categorical: Any = None,
    limits: tuple[float, float] | Mapping[str | int, tuple[float, float]] | None = None,
    window: float | None = None,
    spread_window: float | None = None,
    regions: bool | Regions | By | None = None,
    partners: bool = True,
    n_rows: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    n_jobs: int | None = None,
    device: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Progress | None = None,
    feature_names: Sequence[str] | Mapping[str | int, str] | None = None,
    output_names: str | Sequence[str] | Mapping[str | int, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Explanation: ...
@answering_unknown()
@containing
def explain(
    model: Any,
    data: Any,
    *,
    features: str | int | Sequence[str | int | tuple[str | int, str | int]] | None = None,
    method: Method = "rhale",
    bins: Bins = None,
    local: Local = "auto",
    gradient: Callable[[Any], Any] | None = None,
    output: str | int | Sequence[str | int] | None = None,
    response: Response = "auto",
    transform: Any = None,
    output_transform: Any = None,
    columns: Sequence[str] | None = None,
    weights: npt.ArrayLike | str | None = None,
    categorical: Any = None,
    limits: tuple[float, float] | Mapping[str | int, tuple[float, float]] | None = None,
    window: float | None = None,
    spread_window: float | None = None,
    regions: bool | Regions | By | None = None,
    partners: bool = True,
    n_rows: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    n_jobs: int | None = None,
    device: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Progress | None = None,
    feature_names: Sequence[str] | Mapping[str | int, str] | None = None,
    output_names: str | Sequence[str] | Mapping[str | int, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Explanation | Interactions:
    """Explain how each feature moves a model's predictions, how rows differ, and how sure we are.

    Parameters
    ----------
    model : callable, estimator with `predict`, torch module, JAX function or path
        A fitted model, left as it was; or a model file: ONNX, XGBoost, LightGBM, CatBoost or
        skops, with which the whole call is done by a process of its own. Pickles are refused. A
        method, `clf.predict_proba`, stands for its estimator and that response.
    data : table, path or paths
        Rows to explain the model on. In memory: NumPy array, pandas, polars or pyarrow table; the
        model sees the same kind, and nothing is modified. Larger: the path of Parquet, CSV or
        Arrow files (`"rows/*.parquet"`), a pyarrow dataset, a Dask data frame or array, a Spark
        data frame or a Ray dataset; the model sees pieces of it, as pandas (as NumPy, for arrays).
    features : str, int or sequence of these, optional
        Names or positions of the features to explain; all by default. Pairs of these, with
        method="pdp": their two-way partial dependence, at the price of a grid for each row.
    method : {"rhale", "dale", "ale", "pdp", "ice", "mplot"}
        "rhale": local effects and bins chosen by the method. "dale": gradients in equal bins.
        "ale": secants over quantile bins. The others are profiles of predictions.
    bins : Adaptive, Optimal, Fixed, Quantile, Edges, int, Explanation or mapping, optional
        How bins are chosen; limits that are listed, [18, 25, 30], are `Edges`, and a mapping goes
        from feature to any of these. For profiles their limits are the grid, or all values of a
        feature that has no more; `Edges` stay as given.
    local : {"auto", "gradient", "secant"}
        Local effects; "auto" takes gradients where the model has useful ones.
    gradient : callable, optional
        Derivative of a callable model: rows -> (n_rows, n_features). It is compared with
        differences of predictions in a few rows, and refused if it has another sign or size;
        `local="gradient"` insists, and the notes say so.
    output : str, int or sequence of these, optional
        Outputs to explain; all by default (of two classes, the second).
    response : {"auto", "predict", "predict_proba", "decision_function", "margin", "log_odds"}
        Which answer of an estimator to explain: "auto" is `predict`, and `predict_proba` for
        classifiers; "margin" is the answer before the link function, "log_odds" is
        log(p / (1 - p)).
    transform : fitted scaler, or mapping of feature or output to a function or scaler, optional
        From the model's units to people's, for a model of standardised or logged columns: axes,
        bins, curves and everything else are then in people's units. A scaler with
        `inverse_transform` for the table; or `{"income": np.exp, "y0": scaler}`, where a function
        of columns may be a pair (to_people, to_model). Tables in memory; `limits` and `bins` are in
        people's units, too. See the page "Units" of the documentation.
    output_transform : function, fitted scaler or mapping of output to these, optional
        The same for outputs alone, beside a scaler of the table: `transform=scaler,
        output_transform=np.exp`. One function, or scaler of one column, is for all outputs.
    columns : sequence of str, optional
        Columns that the model sees, in its order; only they are read. By default those that the
        model was fitted on, where it says so; a note names what is left out of a table in memory.
        All otherwise.
    weights : array-like of shape (n_rows,) or str, optional
        How much each row matters; or the column that says so, which is then no feature and is
        not shown to the model.
    categorical : mapping of feature to bool or list, or list of features, optional
        True: each value is a category; a list: the order of the levels; False: numbers, where at
        most 20 whole numbers would be steps. Names and truth values are categories by themselves.
    limits : (low, high) or mapping of feature to (low, high), optional
        Range to explain; rows outside are left out of that feature (of "pdp" and "ice" they count
        at the nearest end), and the notes say so.
    window : float, optional
        Share of the rows inside the windows of secants; of trees that are walked, share of the rows
        near a threshold whose jumps are averaged.
    spread_window : float, optional
        Deprecated, and does nothing: how rows differ is measured from rows moved to values near
        their own (see `Effect.spread`).
    regions : bool, Regions or By, optional
        Who differs: True searches for rules on other features that tell apart rows whose effect
        differs, and lets rows that the search did not see decide; `rhale.Regions(depth=1,
        splitters=["sex"])` says how. `rhale.By("sex")` takes groups as they are. See
        `Effect.regions`.
    partners : bool
        Whether it is kept with which other explained features the spread of each goes; see
        `Explanation.partners`. It asks the model nothing.
    n_rows : int, optional
        Use at most so many rows, drawn with `seed`; all by default.
    seed : int
        Of the row draw and of the bounded sample.
    batch_size : int, optional
        Rows in one call of the model.
    n_jobs : int, optional
        Threads to use in this process, those of the model included; -1 for one per core. By
        default the model uses as many as it likes, and rhale adds none but for trees that it walks.
    device : str, torch.device or JAX device, optional
        Where a torch module or JAX function computes, on a copy of it there; by default where it
        is. With a module on a CUDA device, slopes and moments stay there.
    checkpoint : path, optional
        Folder where finished work is kept. The same call, made again after an interruption, goes
        on from there and ends with the same numbers.
    progress : bool or callable, optional
        True shows a bar; a callable gets (rows done, rows in all). Tables that are not in memory
        are read twice, with regions three times, and all readings count.
    feature_names : sequence of str or mapping, optional
        What people read for the columns: one for each, in order, or a mapping from some of them.
        Columns of an array have no other names and are found by these; other columns are still
        found by their own, too.
    output_names : str, sequence of str or mapping, optional
        The same for outputs. One text is the name of the target: of a classifier for "churn" the
        output reads "probability of churn = 1".
    units : mapping of str to str, optional
        Units of features and outputs, by either name: {"price": "$"}.

    Returns
    -------
    Explanation, or Interactions where features are pairs

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    >>> fx = rhale.explain(lambda rows: 3 * rows[:, 0] + rows[:, 1] ** 2, x)
    >>> fx["x0"].mean.round(6)
    array([3.])
    """
    asked = Settings(
        features=features,
        method=method,
        bins=bins,
        local=local,
        gradient=gradient,
        output=output,
        response=response,
        transform=transform,
        output_transform=output_transform,
        columns=columns,
        weights=weights,
        categorical=categorical,
        limits=limits,
        window=window,
        spread_window=spread_window,
        regions=regions,
        partners=partners,
        n_rows=n_rows,
        seed=seed,
        batch_size=batch_size,
        n_jobs=n_jobs,
        device=device,
        checkpoint=checkpoint,
        progress=progress,
        feature_names=feature_names,
        output_names=output_names,
        units=units,
    )
    if (of_pairs := explain_pairs(model, data, asked)) is not None:
        return of_pairs
    with open_run(model, data, asked) as run:
        first = FirstPass.plan(run.table, run.asked)
        found = first.resolve_columns(run.survey(first.task))
        asker = run.probe_model(found)
        choice = choose_measures(found, asker, run.asked)
        measured = run.measure(asker, found, choice.measures)
    with run.wrap_checkpoint_errors():
        return conclude(run, found, asker, choice, measured)


@answering_unknown()
def effect(
    x: npt.ArrayLike,
    local_effects: npt.ArrayLike,
    *,
    bins: Bins = None,
    weights: npt.ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
    name: str = "x",
) -> Effect:
    """Make an effect from local effects that are already there.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
        Feature values.
    local_effects : array-like of shape (n_rows,)
        Local effect of every row.
    bins : Adaptive, Optimal, Fixed, Quantile, Edges, int or sequence of limits, optional
        How bins are chosen; the usual bins of method "rhale" by default.
    weights : array-like of shape (n_rows,), optional
        How much each row matters.
    limits : (low, high), optional
        Range to explain; rows outside are left out, and the notes say so.
    name : str
        What to call the feature.

    Returns
    -------
    Effect

    Examples
    --------
    >>> import rhale
    >>> age = rhale.effect([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0], name="age")
    >>> age.curve([0, 3], center="start")
    array([0., 3.])
    """
    return bin_local_effects(x, local_effects, bins=bins, weights=weights, limits=limits, name=name)
