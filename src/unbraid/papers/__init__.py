"""Every result of the papers as a runnable study."""
