"""What a user should try on a graph, tried for them: compared on validation, and kept as a data set's file."""
