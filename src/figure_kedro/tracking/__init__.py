"""What MLflow is told of a run: its name, tags, parameters, numbers and files."""
