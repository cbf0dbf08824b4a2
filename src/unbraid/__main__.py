"""`python -m unbraid`."""

import sys

from unbraid.cli.main import main

sys.exit(main())
