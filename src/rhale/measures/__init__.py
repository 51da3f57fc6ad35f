"""Local effects: how each row's prediction moves with each feature."""

from rhale.measures.local_task import LocalTask, Measured
from rhale.measures.probe import probe_smoothness, reacts
from rhale.measures.secant import OwnBin, SecantPlan
from rhale.measures.steps import StepPlan, refuses_missing

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
