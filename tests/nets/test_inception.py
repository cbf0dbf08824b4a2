"""Our Inception network against the published one, where that file is at hand."""

import json

import numpy as np
import pytest
import torch

from unbraid.data import cache
from unbraid.evaluation.inception import features, load_network
from unbraid.nets.inception import POOL_FEATURES, Inception


def test_images_of_any_size_and_colour_become_pool_features() -> None:
    torch.manual_seed(0)
    network = Inception().eval()
    grey = np.random.default_rng(0).integers(0, 256, (2, 20, 20, 1), dtype=np.uint8)
    made = features(network, grey, "", show=False)
    assert made.shape == (2, POOL_FEATURES)
    np.testing.assert_allclose(made, features(network, grey.repeat(3, axis=3), "", show=False), atol=1e-9)


def test_it_is_the_published_network() -> None:
    folder = cache.folder() / "inception"
    script, names = folder / "inception-2015-12-05.pt", folder / "names.json"
    if not (script.is_file() and names.is_file()):
        pytest.skip("put inception-2015-12-05.pt and names.json into the data folder (UNBRAID_DATA) to compare")
    published, _ = load_network(script)
    ours = Inception().eval()
    weights = published.state_dict()  # type: ignore[attr-defined]
    state = ours.state_dict()
    for name, theirs in json.loads(names.read_text()).items():
        assert state[name].shape == weights[theirs].shape
        state[name] = weights[theirs]
    ours.load_state_dict(state)
    x = torch.rand(2, 3, 299, 299, generator=torch.Generator().manual_seed(0)) * 2 - 1
    with torch.no_grad():
        torch.testing.assert_close(ours(x), published(x), atol=1e-5, rtol=1e-4)
