"""These tests kill processes and machines and take minutes: `make test-cluster` runs them."""

import os

collect_ignore_glob = ["*conftest.py"] if os.environ.get("UNBRAID_CLUSTER") else ["*.py"]
