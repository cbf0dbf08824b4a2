"""Methods that learn from pairs of observations which share some of their factors."""
