"""What MLflow runs to make the model: this file is kept with it, and no object of ours is pickled."""

import mlflow

from figure_kedro.serving.model import NewNodesModel

mlflow.models.set_model(NewNodesModel())
