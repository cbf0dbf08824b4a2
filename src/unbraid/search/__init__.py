"""Many runs, here or on a cluster, and the best of them without labels. The module is the function: `ub.search(…)`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from unbraid.search.conduct import search
from unbraid.search.results import Search
from unbraid.search.space import Range

__all__ = ["Range", "Search", "search"]


class _Callable(ModuleType):
    """`unbraid.search` is a package and, for `import unbraid as ub`, the function `ub.search`."""

    def __call__(self, *given: Any, **named: Any) -> Search:
        return search(*given, **named)


sys.modules[__name__].__class__ = _Callable
