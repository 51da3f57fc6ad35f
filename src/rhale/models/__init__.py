"""Any predictor: adapters for functions, scikit-learn, torch and JAX, chosen by `wrap`.

| here | what it holds |
| --- | --- |
| `adapter` | What an adapter offers: one kind of model, asked in its own way |
| `boosters` | What single libraries need: tables for XGBoost, order of columns for LightGBM, threads of CatBoost |
| `columns` | The columns a model was trained on, those a table has, and why a model failed on it |
| `conversions` | Models in the user's units: `transform=` of columns and predictions, and the map of each |
| `function` | Any callable: rows in, numbers out; with or without a gradient of its own |
| `jax` | JAX functions: gradients of all features by one reverse pass per output |
| `libraries` | What other libraries call things: classes of models, messages of errors, names of outputs |
| `margins` | Probabilities, and the margins of trees before the link |
| `onnx` | ONNX files, answered by onnxruntime: one matrix, or one input for each column |
| `predictor` | A model that has been met: its outputs are known, its answers are checked |
| `questions` | Questions to a model about pairs and partial dependences, and its answers, checked |
| `sklearn` | Estimators with `predict`: scikit-learn, its pipelines, and libraries that follow its ways |
| `torch` | torch modules: gradients of all features in one backward pass, the module left as it was |
| `training` | Train an estimator again on some of the rows, or use models trained elsewhere |
| `wrap` | Recognise a model by the names of its classes; nothing is imported that the user has not |
| `files/` | Model files: recognised by content, checked, and only then loaded |
| `trees/` | Ensembles of trees, read and walked |
"""

from rhale.models.adapter import Adapter
from rhale.models.files.load import load_file
from rhale.models.predictor import Predictor, meet
from rhale.models.wrap import wrap

__all__ = ["Adapter", "Predictor", "load_file", "meet", "wrap"]
