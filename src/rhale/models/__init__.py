"""Any predictor: adapters for functions, scikit-learn, torch and JAX, chosen by `wrap`."""

from rhale.models.adapter import Adapter
from rhale.models.predictor import Predictor, meet
from rhale.models.wrap import wrap

__all__ = ["Adapter", "Predictor", "meet", "wrap"]
