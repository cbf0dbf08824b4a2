"""Losses of counts against NumPy formulas with log-gamma, and what stands around the networks."""

from typing import Any

import hand
import numpy as np
import pytest
import torch
from hand import Draws
from scipy.special import gammaln
from scipy.stats import nbinom, poisson
from torch import nn

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data.counts import Counts
from unbraid.data.factor_data import Factor
from unbraid.errors import InputError
from unbraid.nets.counts import CountInput, CountOutput
from unbraid.ops import likelihood
from unbraid.ops.counts import sample_counts

X = np.array([[0.0, 3.0, 11.0], [2.0, 0.0, 40.0], [7.0, 1.0, 5.0], [0.0, 0.0, 1.0]])
COUNTS = Counts((2.0, 1.5, 14.0), library=13.0)
SPEC = DataSpec((3,), 10, counts=COUNTS)


def tiny(config: methods.BetaVAE) -> Any:
    """The method with one linear layer between what counts go through before and after."""
    method, layers = config.build(SPEC), config.count_layers(SPEC)
    assert layers is not None
    method.encoder = nn.Sequential(layers.input(), hand.Tiny(3, 4))  # type: ignore[assignment]
    method.decoder = nn.Sequential(hand.Tiny(2, 3), layers.output())
    return method


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("library", [False, True], ids=["rates", "shares"])
@pytest.mark.parametrize("name", ["poisson", "negative-binomial"])
def test_the_loss_of_counts(name: Any, library: bool, draws: Draws) -> None:
    """Logarithms in; rates that are powers of the output, or shares of an observation's own total; θ for each value."""
    method = tiny(methods.BetaVAE(beta=3.0, likelihood=name, library_size=library, latents=2, width=0.01))

    def by_hand(w: hand.Weights) -> dict[str, float]:
        total = X.sum(1, keepdims=True)
        seen = np.log(1 + (X * 13 / total if library else X)) - np.log(1 + np.array([2, 1.5, 14]))
        mean, log_var = hand.halves(hand.linear(w, "encoder.1", seen))
        output = hand.linear(w, "decoder.0", hand.draw(mean, log_var, draws.normal[0])) + w["decoder.1.log_rate"]
        rate = total * hand.softmax(output) if library else np.exp(output)
        if name == "poisson":
            error = rate - X * np.log(rate) + gammaln(X + 1)
        else:
            theta = np.exp(w["decoder.1.log_dispersion"])
            ways = gammaln(X + theta) - gammaln(theta) - gammaln(X + 1)
            error = -(ways + theta * np.log(theta / (theta + rate)) + X * np.log(rate / (theta + rate)))
        reconstruction, kl = error.sum(1).mean(), hand.kl(mean, log_var).sum(1).mean()
        return {"total": reconstruction + 3 * kl, "reconstruction": reconstruction, "kl": kl}

    hand.check_loss(method, "vae", hand.batch(X), by_hand)


def test_probabilities_are_those_of_scipy() -> None:
    x, log_rates, log_theta = torch.from_numpy(X), torch.tensor([[0.3, 1.0, 2.5]]), torch.tensor([[0.1, -1.0, 2.0]])
    rates, theta = log_rates.double().exp().numpy(), log_theta.double().exp().numpy()
    found = likelihood.nll_rows("poisson", log_rates.double().expand(4, 3), x).numpy()
    np.testing.assert_allclose(found, -poisson.logpmf(X, rates).sum(1), rtol=1e-6)
    both = torch.cat((log_rates, log_theta), 1).double().expand(4, 6)
    expected = -nbinom.logpmf(X, theta, theta / (theta + rates)).sum(1)
    np.testing.assert_allclose(likelihood.nll_rows("negative-binomial", both, x).numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(likelihood.mean("negative-binomial", both).numpy(), np.repeat(rates, 4, 0), rtol=1e-6)


def test_draws_have_the_models_mean_and_variance() -> None:
    torch.manual_seed(0)
    log_rates, log_theta = torch.tensor([[np.log(6.0)]]), torch.tensor([[np.log(2.0)]])
    plain = sample_counts("poisson", log_rates.expand(20_000, 1))
    wide = sample_counts("negative-binomial", torch.cat((log_rates, log_theta), 1).expand(20_000, 2))
    assert plain.mean().item() == pytest.approx(6, rel=0.02)
    assert plain.var().item() == pytest.approx(6, rel=0.05)
    assert wide.mean().item() == pytest.approx(6, rel=0.03)
    assert wide.var().item() == pytest.approx(6 + 36 / 2, rel=0.1)


@pytest.mark.parametrize("cls", [cls for cls in methods.METHODS if getattr(cls, "models_counts", False)])
def test_every_method_that_models_counts_starts_from_their_means(cls: Any) -> None:
    spec = DataSpec(
        (3,), 10, (Factor("a", 2, "categorical"),), ((0.0, 1.0),), 0, 10, ((0.5, 0.5),), (0.5,), counts=COUNTS
    )
    config = cls(likelihood="negative-binomial", width=0.02, library_size=True)
    method = config.build(spec)
    inputs = [part for part in method.modules() if isinstance(part, CountInput)]
    (output,) = [part for part in method.modules() if isinstance(part, CountOutput)]
    assert inputs or cls is methods.Controls
    # At the start a decoder's output is near 0, and rates are the data's shares of the typical total.
    rates = likelihood.mean("negative-binomial", output(torch.zeros(1, 3)))
    np.testing.assert_allclose(rates.detach().numpy(), 13 * np.array([[2, 1.5, 14]]) / 17.5, rtol=1e-5)
    codes = method.encode(torch.from_numpy(X).float(), labels=torch.tensor([[0.0], [1.0], [0.0], [1.0]]))
    made = method.decode({key: q.mean for key, q in codes.items()})
    assert made.shape == (4, 3)
    np.testing.assert_allclose(made.detach().sum(1), 13, rtol=1e-4)


def test_a_model_of_counts_needs_counts() -> None:
    with pytest.raises(InputError, match=r"--likelihood poisson is for counts: pass auto, or --data\.kind counts"):
        methods.VAE(likelihood="poisson").build(DataSpec((3,), 10))


def test_counts_need_their_layers_under_a_likelihood_of_counts_alone() -> None:
    assert methods.VAE(likelihood="poisson").count_layers(SPEC) is not None
    assert methods.VAE(likelihood="gaussian").count_layers(SPEC) is None
