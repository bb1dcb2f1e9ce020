"""Report 30: a device is believed when it counts right, and the reason is always said."""

import pytest

from engine.network import device

pytestmark = pytest.mark.heavy


@pytest.fixture
def listed_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graphics card that the driver lists. What it computes is each test's own."""
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "GeForce of a test")


def test_the_cpu_gives_the_known_answer() -> None:
    from engine.network import selftest

    assert selftest.failure_on("cpu") is None


def test_without_a_card_the_cpu_is_chosen_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    choice = device.choose()
    assert choice.kind == "cpu"
    assert choice.reason in ("CPU: no CUDA device was found", "CPU: this is a CPU build of torch")


@pytest.mark.usefixtures("listed_card")
def test_report_30_a_card_without_kernels_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.network import selftest

    def no_kernel(_device: str) -> tuple[float, ...]:
        raise RuntimeError("CUDA error: no kernel image is available for execution\nCompile with")

    monkeypatch.setattr(selftest, "known_answer", no_kernel)
    choice = device.choose()
    assert choice.kind == "cpu"
    assert "no kernel image" in choice.reason
    assert "\n" not in choice.reason


@pytest.mark.usefixtures("listed_card")
@pytest.mark.parametrize("rubbish", [0.0, float("nan"), 1.0])
def test_report_30_a_card_that_counts_wrong_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, rubbish: float
) -> None:
    from engine.network import selftest

    monkeypatch.setattr(selftest, "known_answer", lambda _device: (rubbish,) * 4)
    choice = device.choose()
    assert choice.kind == "cpu"
    assert "GeForce of a test failed its self-test" in choice.reason


@pytest.mark.usefixtures("listed_card")
def test_a_card_that_counts_right_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.network import selftest

    right = selftest.known_answer("cpu")
    monkeypatch.setattr(selftest, "known_answer", lambda _device: right)
    assert device.choose() == device.DeviceChoice(
        "cuda", "CUDA: GeForce of a test passed its self-test"
    )
