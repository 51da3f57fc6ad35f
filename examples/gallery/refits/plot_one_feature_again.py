"""
One feature in many trainings
=============================

How much of this curve is chance? The learner is trained ten times on half of the rows. Thin lines
are the single trainings, the thick line is their mean, and the band is where the mean of all
possible trainings lies. The interval of one model is far narrower and says nothing about this.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
learner = HistGradientBoostingRegressor(max_iter=40, learning_rate=0.08, random_state=0)

rx = rhale.refit(learner, X, y, features=["s5"], n_refits=10)
rx.plot("s5")
