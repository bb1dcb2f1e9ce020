"""The real network: right numbers, whatever the photos and the memory."""

import sys
from collections.abc import Callable
from subprocess import run
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.config import Aggregation, FeatureSettings
from engine.errors import DeviceError
from engine.features.aggregation import aggregate
from engine.features.grid import ospp
from engine.network import registry
from engine.network.device import DeviceChoice
from engine.network.network import BATCH_PIXELS, Network
from engine.types import FloatArray, PixelArray

pytestmark = pytest.mark.heavy

CPU = DeviceChoice("cpu", "CPU: for the tests")
CUDA = DeviceChoice("cuda", "CUDA: said to be one")


def picture(h: int, w: int, seed: int = 0) -> PixelArray:
    """Smooth colours with some noise."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:h, :w]
    tilt = random.uniform(0.01, 0.1, (3, 2))
    waves = np.stack([np.sin(y * a) * np.cos(x * b) for a, b in tilt], axis=-1)
    noise = random.uniform(-20, 20, (h, w, 3))
    return np.clip(127 + 100 * waves + noise, 0, 255).astype(np.uint8)


def gem_by_hand(part: FloatArray) -> FloatArray:
    """Method, part 1.4, on (C, h, w) in double precision."""
    p = registry.manifest(registry.DEFAULT).gem_p
    x = np.maximum(part.reshape(len(part), -1).astype(np.float64), 1e-6)
    pooled = np.mean(x**p, axis=1) ** (1 / p)
    return np.asarray(pooled / np.linalg.norm(pooled), dtype=np.float32)


def test_descriptor_and_regions_are_gem_pooled_parts_of_the_feature_map(network: Network) -> None:
    photo = picture(300, 400)
    features = network.extract([photo])[0]
    maps = network.feature_map(photo)
    assert maps.shape == (1280, 10, 13)
    assert maps.min() == 0
    assert maps.max() <= 6
    np.testing.assert_allclose(features.descriptor, gem_by_hand(maps), atol=1e-5)
    cells = ospp(10, 13, FeatureSettings().levels)
    for region, (x0, y0, x1, y1) in zip(features.regions, cells, strict=True):
        np.testing.assert_allclose(region, gem_by_hand(maps[:, y0:y1, x0:x1]), atol=1e-5)
    assert features.boxes.shape == (len(features.regions), 4)
    assert features.descriptor.dtype == features.regions.dtype == np.float32


def test_a_query_crop_has_the_descriptor_that_a_photo_of_it_has(network: Network) -> None:
    photo = picture(200, 150)
    expected = network.extract([photo])[0].descriptor
    np.testing.assert_allclose(network.descriptor(photo), expected, atol=1e-6)


def test_the_quick_network_gives_the_numbers_of_the_plain_one(network: Network) -> None:
    """Folded batch norms and other paddings against timm as it comes, on odd and even sides."""
    from engine.network.backbone import Backbone, build
    from engine.network.registry import weights_file

    known = network.manifest
    plain = Backbone(build(known, weights_file(known.weights)), known, device="cpu")
    for h, w in [(96, 128), (97, 131), (65, 64), (33, 210), (354, 162)]:
        photo = picture(h, w, seed=h)
        expected = plain.feature_maps(photo[None])[0]
        np.testing.assert_allclose(network.feature_map(photo), expected, atol=2e-4)


def test_photos_of_many_shapes_keep_their_order(network: Network) -> None:
    shapes = [(64, 96), (96, 64), (64, 96), (64, 64), (96, 64)]
    photos = [picture(*shape, seed=i) for i, shape in enumerate(shapes)]
    together = network.extract(photos)
    for photo, features in zip(photos, together, strict=True):
        alone = network.extract([photo])[0]
        np.testing.assert_allclose(features.descriptor, alone.descriptor, atol=1e-5)
        np.testing.assert_allclose(features.regions, alone.regions, atol=1e-5)


@pytest.mark.parametrize(("h", "w"), [(1, 1), (1, 300), (300, 2), (31, 33)])
def test_a_sliver_of_a_photo_has_features_too(network: Network, h: int, w: int) -> None:
    features = network.extract([picture(h, w)])[0]
    assert np.isclose(np.linalg.norm(features.descriptor), 1, atol=1e-5)
    assert np.isfinite(features.regions).all()
    assert features.boxes.min() >= 0
    assert features.boxes.max() <= 1


def test_no_photos_give_no_features(network: Network) -> None:
    assert network.extract([]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((8, 8), np.uint8),
        np.zeros((8, 8, 4), np.uint8),
        np.zeros((8, 8, 3), np.float32),
        np.zeros((0, 8, 3), np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(network: Network, wrong: Any) -> None:  # noqa: ANN401
    with pytest.raises(ValueError, match="no photo"):
        network.extract([wrong])


def test_key_dim_and_device(network: Network) -> None:
    assert network.dim == 1280
    assert network.key.startswith("efficientnet-lite0-")
    assert network.device == CPU
    assert network.notes == ()


# --- out of memory (report 29) ---------------------------------------------------------------

Fails = Callable[[int], bool]


@pytest.fixture
def lacking() -> Callable[..., Network]:
    """Makes a real network whose module runs out of memory for some batches.

    Where there is no graphics card a CPU stands for it: the same module, called by another name.
    """
    import torch

    from engine.network.backbone import Backbone, build
    from engine.network.registry import weights_file

    known = registry.manifest(registry.DEFAULT)

    def make(fails: Fails, *, device: DeviceChoice = CUDA, error: Exception) -> Network:
        module = build(known, weights_file(known.weights))

        def before(_module: object, inputs: tuple[torch.Tensor, ...]) -> None:
            if fails(len(inputs[0])):
                raise error

        module.register_forward_pre_hook(before)
        whole = Backbone(build(known, weights_file(known.weights)), known, device="cpu")
        return Network(
            known,
            Backbone(module, known, device="cpu"),
            features=FeatureSettings(),
            device=device,
            on_cpu=(lambda: whole) if device.kind == "cuda" else None,
        )

    return make


def out_of_memory() -> Exception:
    import torch

    return torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")


def same(some: Network, other: Network, photos: list[PixelArray]) -> None:
    for got, expected in zip(some.extract(photos), other.extract(photos), strict=True):
        np.testing.assert_allclose(got.descriptor, expected.descriptor, atol=1e-5)
        np.testing.assert_allclose(got.regions, expected.regions, atol=1e-5)


def test_report_29_out_of_memory_halves_the_batch_and_skips_no_photo(
    lacking: Callable[..., Network], network: Network
) -> None:
    sizes: list[int] = []

    def fails(count: int) -> bool:
        sizes.append(count)
        return count > 2

    photos = [picture(64, 64, seed=i) for i in range(9)]
    small = lacking(fails, error=out_of_memory())
    same(small, network, photos)
    assert sizes == [9, 4, 2, 2, 2, 2, 1]
    assert small.device == CUDA
    assert len(small.notes) == 1
    sizes.clear()
    small.extract(photos)
    assert sizes == [2, 2, 2, 2, 1], "the smaller batch is remembered"
    assert len(small.notes) == 1, "said once"


def test_report_29_then_the_cpu_takes_over(
    lacking: Callable[..., Network], network: Network
) -> None:
    photos = [picture(64, 64, seed=i) for i in range(5)]
    card = lacking(lambda _count: True, error=out_of_memory())
    same(card, network, photos)
    assert card.device.kind == "cpu"
    assert "memory" in card.device.reason
    assert len(card.notes) == 2


@pytest.mark.parametrize("what", ["descriptor", "feature_map"])
def test_report_29_a_search_moves_to_the_cpu_as_well(
    lacking: Callable[..., Network], network: Network, what: str
) -> None:
    card = lacking(lambda _count: True, error=out_of_memory())
    photo = picture(64, 64)
    np.testing.assert_allclose(getattr(card, what)(photo), getattr(network, what)(photo), atol=2e-4)
    assert card.device.kind == "cpu"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("[enforce fail at alloc_cpu.cpp:117] . DefaultCPUAllocator: can't allocate"),
        MemoryError(),
    ],
)
def test_a_machine_without_memory_for_one_photo_says_so(
    lacking: Callable[..., Network], error: Exception
) -> None:
    tight = lacking(lambda _count: True, device=CPU, error=error)
    with pytest.raises(DeviceError, match="too little memory for one photo"):
        tight.extract([picture(64, 64)])


def test_an_error_that_is_no_lack_of_memory_stays_one(lacking: Callable[..., Network]) -> None:
    broken = lacking(lambda _count: True, error=RuntimeError("something else"))
    with pytest.raises(RuntimeError, match="something else"):
        broken.extract([picture(64, 64)])


def test_a_batch_stays_within_its_pixels(lacking: Callable[..., Network]) -> None:
    sizes: list[int] = []

    def fails(count: int) -> bool:
        sizes.append(count)
        return False

    quiet = lacking(fails, device=CPU, error=out_of_memory())
    quiet.extract([picture(512, 512, seed=i) for i in range(3)])
    most = BATCH_PIXELS["cpu"] // 512**2
    assert max(sizes) <= most
    assert sum(sizes) == 3


# --- imports ---------------------------------------------------------------------------------


def test_the_registry_and_the_device_are_torch_free_until_something_is_loaded() -> None:
    code = (
        "import sys; import engine.network.registry, engine.network.device, engine.features.grid;"
        "engine.network.registry.manifest('efficientnet-lite0');"
        "sys.exit(bool({'torch', 'timm'} & set(sys.modules)))"
    )
    assert run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("aggregation", list(Aggregation))
def test_photos_and_queries_are_aggregated_alike(aggregation: Aggregation) -> None:
    features = FeatureSettings(size_px=256, aggregation=aggregation)
    network = registry.load(registry.DEFAULT, device=CPU, features=features)
    photo = picture(160, 224)
    expected = aggregate(network.feature_map(photo), aggregation, p=network.manifest.gem_p)
    np.testing.assert_allclose(network.extract([photo])[0].descriptor, expected, atol=1e-5)
    np.testing.assert_allclose(network.look(photo, ())[0], expected, atol=1e-5)
    np.testing.assert_allclose(network.look(photo, (2,))[0], expected, atol=1e-5)


def test_a_photo_at_several_scales_has_their_mean_and_its_own_regions(network: Network) -> None:
    features = FeatureSettings(photo_scales=(1.0, 0.5))
    several = registry.load(registry.DEFAULT, device=CPU, features=features)
    photo = picture(320, 256)
    seen, plain = several.extract([photo])[0], network.extract([photo])[0]
    half = np.asarray(Image.fromarray(photo).resize((128, 160), Image.Resampling.BICUBIC))
    total = plain.descriptor + network.descriptor(half)
    np.testing.assert_allclose(seen.descriptor, total / np.linalg.norm(total), atol=1e-5)
    np.testing.assert_allclose(seen.regions, plain.regions, atol=1e-5)
    assert several.key != network.key
