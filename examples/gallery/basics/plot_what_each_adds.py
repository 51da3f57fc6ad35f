"""
What each feature adds to one row
=================================

Why does this patient have a high prediction? The value of every curve at the row's own values says
what each feature adds to the average prediction. Contributions and the average add up to the
prediction, up to what features do together.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0).fit(X, y)
fx = rhale.explain(model, X)

patients = X.iloc[[9, 12, 18]]
parts = fx.contributions(patients)
sums, predictions = fx.base() + parts.sum(axis=1), model.predict(patients)

figure, axes = plt.subplots(1, 3, figsize=(9, 4.5), sharex=True, sharey=True, layout="constrained")
order = parts.abs().max().sort_values().index
for ax, (row, part), total, predicted in zip(
    axes, parts[order].iterrows(), sums, predictions, strict=True
):
    ax.barh(order, part, color=["tab:red" if value < 0 else "tab:blue" for value in part])
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_title(f"patient {row}: {fx.base():.0f} {part.sum():+.0f} = {total:.0f}", loc="left")
    ax.set_xlabel(f"the model predicts {predicted:.0f}")
figure.suptitle("What each feature adds to the average prediction")
