"""The field's data sets: where they come from and how they are arranged."""
