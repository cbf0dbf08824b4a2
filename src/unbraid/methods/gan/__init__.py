"""Methods with a generator and a critic."""
