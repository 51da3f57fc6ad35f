"""Any predictor: adapters for functions, scikit-learn, torch and JAX, chosen by `wrap`."""

from rhale.models.adapter import Adapter
from rhale.models.files.load import load_file
from rhale.models.predictor import Predictor, meet
from rhale.models.wrap import wrap

__all__ = ["Adapter", "Predictor", "load_file", "meet", "wrap"]
