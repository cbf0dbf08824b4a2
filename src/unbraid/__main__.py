"""`python -m unbraid`."""

import sys

from unbraid.cli import main

sys.exit(main())
