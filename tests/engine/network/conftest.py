"""One loaded network for the tests of this room; loading takes seconds."""

import pytest

from engine.config import FeatureSettings
from engine.network import registry
from engine.network.device import DeviceChoice
from engine.network.network import Network


@pytest.fixture(scope="session")
def network() -> Network:
    """EfficientNet-Lite0 on the CPU."""
    cpu = DeviceChoice("cpu", "CPU: for the tests")
    return registry.load(registry.DEFAULT, device=cpu, features=FeatureSettings())
