"""Local effects: how each row's prediction moves with each feature."""

from rhale.local.measure import LocalTask, Measured
from rhale.local.probe import probe_smoothness, reacts
from rhale.local.secant import OwnBin, SecantPlan
from rhale.local.steps import StepPlan, refuses_missing

__all__ = [
    "LocalTask",
    "Measured",
    "OwnBin",
    "SecantPlan",
    "StepPlan",
    "probe_smoothness",
    "reacts",
    "refuses_missing",
]
