"""Local effects: how each row's prediction moves with each feature."""

from rhale.local.measure import LocalTask, Measured
from rhale.local.probe import probe_smoothness, reacts
from rhale.local.secant import OwnBin, SecantPlan

__all__ = ["LocalTask", "Measured", "OwnBin", "SecantPlan", "probe_smoothness", "reacts"]
