"""Whether a method would run on another device than the CPU, found out without one.

Model and batch are put on torch's `meta` device, where tensors have shapes and no values: a tensor that was left on
the CPU raises there as it would on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

from unbraid.core import (
    Batch,
    Decodes,
    Draws,
    Encodes,
    HasClasses,
    HasConditionalPrior,
    HasLikelihood,
    HasPrior,
    LearnsPrior,
    Method,
    Posterior,
    Update,
)
from unbraid.errors import InputError

META = torch.device("meta")
Value = TypeVar("Value")


class ContractError(AssertionError):
    """A method does not keep the contract; the message says which part of it."""


def require(true: bool, what: str) -> None:
    """Raise `ContractError` unless the condition holds; `what` says what must hold."""
    if not true:
        raise ContractError(f"method contract violated: {what}.")


class OnMeta(TorchDispatchMode):
    """Tensors on `meta`, with the values of a model's buffers at hand.

    A mask or a count that a model keeps may decide which rows are taken; what is computed from such buffers alone is
    computed from their values too. Nothing else has any.

    Args:
        model: on any device but `meta`; it is moved there.
        results: whether what is copied to the CPU arrives there, as zeros: measures end with arrays.

    Example:
        >>> model = nn.BatchNorm1d(2)
        >>> with OnMeta(model):
        ...     x = model(torch.ones(3, 2, device="meta"))
        >>> x.device, x.shape
        (device(type='meta'), torch.Size([3, 2]))
    """

    def __init__(self, *models: nn.Module, results: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.results = results
        self.values = WeakTensorKeyDictionary()
        for model in models:
            kept = {name: buffer.detach().clone() for name, buffer in model.named_buffers()}
            model.to(META)
            for name, buffer in model.named_buffers():
                self.values[buffer] = kept[name]

    def __torch_dispatch__(
        self, function: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run an operation, and run it on values too where all its inputs have them."""
        kwargs = dict(kwargs or {})
        inputs = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, Tensor)]
        changes = function._schema.is_mutable
        if inputs and not changes and all(tensor in self.values for tensor in inputs):
            return self._with_values(function, args, kwargs)
        if changes:
            for tensor in inputs:
                self.values.pop(tensor, None)
        try:
            return function(*args, **kwargs)
        except NotImplementedError as error:
            if self.results and "copy out of meta" in str(error):
                return torch.zeros(inputs[0].shape, dtype=inputs[0].dtype)
            raise

    def _with_values(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The operation on `meta` and on values; where only values can tell the result, what they tell."""
        by_value, options = tree_map(lambda one: self.values[one] if isinstance(one, Tensor) else one, (args, kwargs))
        known = function(*by_value, **(options | ({"device": "cpu"} if "device" in options else {})))
        if torch.device(options.get("device") or META) != META:
            return known
        try:
            place = function(*args, **kwargs)
        except (NotImplementedError, RuntimeError):  # a shape or a number that only values can tell
            place = tree_map(lambda one: torch.empty_like(one, device=META) if isinstance(one, Tensor) else one, known)
        for there, value in zip(tree_flatten(place)[0], tree_flatten(known)[0], strict=True):
            if isinstance(there, Tensor):
                self.values[there] = value
        return place


def check_device(method: Method, batch_of: Callable[[Update], Batch]) -> None:
    """Losses with their gradients, codes, priors and what a method makes of codes stay on the model's device.

    Args:
        method: trained or not, on the CPU; it is moved to `meta` and is of no use after.
        batch_of: a batch for an update.
    """
    batches = {update.name: on_meta(batch_of(update)) for update in method.updates()}
    with OnMeta(method):
        for update in method.updates():
            with told(f"the loss of {update.name}"):
                _loss(method, update, batches[update.name])
        method.eval()
        with torch.no_grad():
            _capabilities(method, next(iter(batches.values())))


def on_meta(batch: Batch) -> Batch:
    """The batch on `meta`; its row numbers stay where batches keep them, on the CPU."""
    parts = {field.name: getattr(batch, field.name) for field in fields(batch)}
    return Batch(**{name: part if part is None or name == "index" else part.to(META) for name, part in parts.items()})


def _loss(method: Method, update: Update, batch: Batch) -> None:
    terms = update.loss(batch, 3)
    chosen = [
        p for name, p in method.named_parameters() if name.split(".")[0] in {t.split(".")[0] for t in update.trains}
    ]
    _same_device("its total", terms.total)
    torch.autograd.grad(terms.total, chosen, allow_unused=True)
    parts = {name: value for name, (_, value) in terms.terms.items()}
    for name, part in (parts | {name: figure() for name, figure in terms.figures.items()}).items():
        _same_device(f"its part {name}", part)


def _capabilities(method: Method, batch: Batch) -> None:
    """Each thing that the method can do beyond its losses."""
    x, y, n = batch.x, batch.y, len(batch.x)
    groups: dict[str, Posterior] = {}
    if isinstance(method, HasPrior):
        groups |= _posteriors("prior", lambda: method.prior(n))
    if isinstance(method, Encodes):
        groups |= _posteriors("encode", lambda: method.encode(x, y, batch.factors))
    codes = {key: posterior.mean for key, posterior in groups.items()}
    given = codes | ({} if batch.codes is None else {"given": batch.codes})
    if isinstance(method, Decodes):
        _made("decode", lambda: method.decode(given, y))
    if isinstance(method, Draws):
        _made("sample_x", lambda: method.sample_x(given, y))
    if isinstance(method, HasLikelihood):
        _made("nll_rows", lambda: method.nll_rows(x))
    if isinstance(method, HasConditionalPrior):
        _made("conditional_prior_of", lambda: method.conditional_prior_of(batch.factors).mean)
    if isinstance(method, HasClasses):
        _made("classify", lambda: method.classify(x)[0])
        classes = torch.zeros(2, dtype=torch.long, device=META)
        _made("class_codes", lambda: method.class_codes(0, classes))
    if isinstance(method, LearnsPrior) and method.prior_rows and y is not None:
        _made("draw_given", lambda: next(iter(method.draw_given(y).values())))


def _posteriors(name: str, make: Callable[[], dict[str, Posterior]]) -> dict[str, Posterior]:
    with told(name):
        found = make()
        for key, posterior in found.items():
            _same_device(f"the mean of {key}", posterior.mean)
            _same_device(f"the draw of {key}", posterior.rsample())
            _same_device(f"the KL of {key}", posterior.kl_per_latent())
    return found


def _made(name: str, make: Callable[[], Tensor]) -> None:
    with told(name):
        try:
            _same_device("what it returns", make())
        except InputError:  # it says itself that it cannot, whatever the device
            return


def _same_device(what: str, value: Tensor) -> None:
    if value.device != META:
        raise RuntimeError(f"{what} is on the {value.device.type}")


@contextmanager
def told(what: str) -> Any:
    """Any failure in here as a `ContractError` that names what was tried."""
    try:
        yield
    except (RuntimeError, NotImplementedError, TypeError) as error:
        why = str(error).strip().splitlines()[0]
        require(False, f"{what} must run on the model's device (on torch's meta device: {why})")
