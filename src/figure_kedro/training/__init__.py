"""The training loop that every method shares: early stop, checkpoints, timing, progress."""
