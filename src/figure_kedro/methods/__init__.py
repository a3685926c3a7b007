"""Methods that learn node embeddings without labels, one file each, and the parts that they share."""
