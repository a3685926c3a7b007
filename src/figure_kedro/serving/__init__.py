"""A trained model for others: new nodes in, embeddings and predictions out, behind MLflow's interface."""
