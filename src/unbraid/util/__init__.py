"""What every part uses: schemas, files, tensors on disk, progress, seeds, the allocator."""
