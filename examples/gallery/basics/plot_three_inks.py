"""
Three bands that look alike
===========================

Three questions have three answers, and three inks. Green: how do rows differ from the mean?
Orange: where is the mean curve of this model? Purple: where would it be, had the model been
trained on other rows? The third band is the one that people have in mind when they ask how sure an
effect is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
learner = HistGradientBoostingRegressor(max_iter=40, learning_rate=0.08, random_state=0)
fx = rhale.explain(learner.fit(X, y), X, features=["bmi"])
rx = rhale.refit(learner, X, y, features=["bmi"], n_refits=10)

figure, axes = plt.subplots(1, 3, figsize=(9.5, 4.2), sharey=True, layout="constrained")
options = {"kind": "curve", "legend": False}
fx.plot("bmi", ax=axes[0], uncertainty=False, title="How do rows differ?", **options)
fx.plot("bmi", ax=axes[1], spread=False, title="Where is this model's mean?", **options)
rx.plot("bmi", ax=axes[2], title="And after other trainings?", legend=False)
for ax in axes:
    ax.label_outer()
