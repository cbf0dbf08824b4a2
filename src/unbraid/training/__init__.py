"""The only training loop: batches, checkpoints, the machine, and the contract every method keeps."""
