"""What every room uses: schemas, files, tensors on disk, progress, seeds, the allocator."""
