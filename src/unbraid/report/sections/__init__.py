"""The parts of a page, each ready for its template."""
