"""What is in a file of a trained network. Torch-free; nothing in the file is executed.

Understood are the checkpoints of Revaud et al. 2019 (AP-GeM), those of Radenović et al. 2018, and
plain state dictionaries, each as torch.save wrote it, or in a zip archive that holds one such file.
"""

import math
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from engine.errors import NetworkError
from engine.features.head import Head, Linear
from engine.features.pooling import GEM_P
from engine.features.whitening import Whitening
from engine.pickled.tensors import PcaRecord, TensorRecord
from engine.pickled.torch_file import ZIP_BEGINS, ZIP_ERRORS, TorchFile, is_torch_archive, opened
from engine.pickled.words import PickleRefusedError
from engine.types import FloatArray

Colours = tuple[float, float, float]

LARGEST_BYTES: Final = 4 * 1024**3
"""Of a file inside a zip archive, unpacked."""

_PARALLEL = "module."
_COUNTER = "num_batches_tracked"
_SUFFIXES = (".pt", ".pth", ".pkl", ".tar", ".bin", ".ckpt")
_PACKED_BY_SYSTEMS = ("__MACOSX/",)
_MOST_RATIO = 200
_COPIED_AT_ONCE = 1024**2

_RMAC = "_rmac"
_SQUARE_ROOT_PCA = 0.25
_PREFERRED_PCA = "Landmarks_clean"
_PREFERRED_LW = "retrieval-SfM-120k"
_RADENOVIC_RESNET = {
    "features.0.": "conv1.",
    "features.1.": "bn1.",
    **{f"features.{3 + layer}.": f"layer{layer}." for layer in range(1, 5)},
}


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A trained network as its file tells of it.

    ``weights``: of the backbone, float32, by the names of its own library. ``architecture``:
    torchvision's name of it, or None where the file does not say. ``mean`` and ``std``: of red,
    green, blue on the scale 0..1, or None. ``gem_p`` > 0. ``head``: None if nothing but L2 follows
    the pooling. ``licence``: None where nobody knows.
    """

    weights: Mapping[str, FloatArray]
    architecture: str | None = None
    mean: Colours | None = None
    std: Colours | None = None
    gem_p: float = GEM_P
    head: Head | None = None
    licence: str | None = None


def read_checkpoint(stream: IO[bytes], length: int) -> Checkpoint:
    """What a file holds.

    Args:
        stream: at its begin.
        length: bytes of it.

    Raises:
        NetworkError: it is no checkpoint, is damaged, asks for more than data, or is of a network
            that cannot be run here; one line says which.
    """
    try:
        with (
            _unpacked(stream, length) as (inner, inner_length),
            opened(inner, inner_length) as file,
        ):
            return _understood(file)
    except PickleRefusedError as error:
        raise NetworkError(f"the file holds no network that can be read: {error}") from error


@contextmanager
def _unpacked(stream: IO[bytes], length: int) -> Iterator[tuple[IO[bytes], int]]:
    """The checkpoint inside a zip archive; any other file as it is. What is unpacked lies in a
    file without a name: nothing of it is left, however the process ends."""
    begins = stream.read(len(ZIP_BEGINS))
    stream.seek(0)
    if begins != ZIP_BEGINS:
        yield stream, length
        return
    try:
        with zipfile.ZipFile(stream) as archive:
            if not is_torch_archive(archive):
                with tempfile.TemporaryFile() as inner:
                    yield inner, _copied(archive, _only_member(archive), inner)
                return
    except ZIP_ERRORS as error:
        if isinstance(error, PickleRefusedError):
            raise
        raise PickleRefusedError(f"the archive is damaged: {error}") from error
    stream.seek(0)
    yield stream, length


def _only_member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    for one in archive.infolist():
        path = PurePosixPath(one.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise PickleRefusedError(f"the archive has a member named {one.filename[:80]!r}")
    found = [
        one
        for one in archive.infolist()
        if one.filename.lower().endswith(_SUFFIXES)
        and not one.filename.startswith(_PACKED_BY_SYSTEMS)
        and not PurePosixPath(one.filename).name.startswith(".")
    ]
    if len(found) != 1:
        raise PickleRefusedError(f"the archive holds {len(found)} checkpoints, not one")
    (member,) = found
    if member.file_size > min(LARGEST_BYTES, _MOST_RATIO * max(member.compress_size, 1)):
        raise PickleRefusedError(f"{member.filename[:80]!r} in the archive unpacks to too much")
    return member


def _copied(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: IO[bytes]) -> int:
    """How many bytes the member has; zipfile ends it at the size that the archive claims."""
    with archive.open(member) as packed:
        shutil.copyfileobj(packed, target, _COPIED_AT_ONCE)
    length = target.tell()
    target.seek(0)
    return length


# --- families -------------------------------------------------------------------------------


def _understood(file: TorchFile) -> Checkpoint:
    content = file.content
    if not isinstance(content, dict):
        raise PickleRefusedError(f"it holds a {type(content).__name__}")
    state = content.get("state_dict", content)
    tensors = _tensors(state if isinstance(state, dict) else {})
    if isinstance(content.get("meta"), dict):
        return _radenovic(file, content["meta"], tensors)
    if isinstance(content.get("model_options"), dict):
        return _ap_gem(file, content, tensors)
    return Checkpoint(_arrays(file, tensors))


def _tensors(state: dict[Any, Any]) -> dict[str, TensorRecord]:
    """Named tensors without the prefix of DataParallel and the counters of batch norms."""
    if not state or not all(isinstance(value, TensorRecord) for value in state.values()):
        raise PickleRefusedError("it holds no dictionary of named tensors")
    names = [str(name) for name in state]
    if all(name.startswith(_PARALLEL) for name in names):
        names = [name.removeprefix(_PARALLEL) for name in names]
    found = dict(zip(names, state.values(), strict=True))
    return {name: value for name, value in found.items() if not name.endswith(_COUNTER)}


def _ap_gem(
    file: TorchFile, content: dict[Any, Any], tensors: dict[str, TensorRecord]
) -> Checkpoint:
    """Revaud et al. 2019: GeM, L2 where norm_features, a linear layer, L2, the square-root PCA."""
    options: dict[Any, Any] = content["model_options"]
    arch = options.get("arch")
    if not isinstance(arch, str) or not arch.endswith(_RMAC):
        raise PickleRefusedError(f"its network is {arch!r}, which is not known here")
    if options.get("pooling", "gem") != "gem" or options.get("center_bias"):
        raise PickleRefusedError(f"its pooling is {options.get('pooling')!r}; only 'gem' is known")
    linear = _linear(file, tensors, "fc")
    if options.get("without_fc"):
        linear = None
    mean, std = _preprocessing(content.get("preprocess"))
    p = _exponent(file, tensors, "adpool.p", options.get("gemp", GEM_P))
    return Checkpoint(
        weights=_arrays(file, tensors),
        architecture=arch.removesuffix(_RMAC),
        mean=mean,
        std=std,
        gem_p=p,
        head=_head(
            linear,
            _square_root_pca(content.get("pca")),
            unit_first=linear is None or bool(options.get("norm_features")),
        ),
        licence="BSD-3-Clause, if it is a released AP-GeM checkpoint",
    )


def _radenovic(
    file: TorchFile, meta: dict[Any, Any], tensors: dict[str, TensorRecord]
) -> Checkpoint:
    """Radenović et al. 2018: GeM, L2, then a whitening that was trained with the network, a linear
    layer, or else one that was learned afterwards."""
    architecture = meta.get("architecture")
    if not isinstance(architecture, str):
        raise PickleRefusedError("it does not say which network it is")
    if meta.get("pooling") != "gem":
        raise PickleRefusedError(f"its pooling is {meta.get('pooling')!r}; only 'gem' is known")
    if meta.get("regional") or meta.get("local_whitening"):
        raise PickleRefusedError("it whitens regions or cells before pooling, which is not known")
    linear = _linear(file, tensors, "whiten")
    mean, std = _preprocessing(meta)
    p = _exponent(file, tensors, "pool.p", GEM_P)
    if architecture.startswith("resnet"):
        tensors = {_as_in_torchvision(name): record for name, record in tensors.items()}
    return Checkpoint(
        weights=_arrays(file, tensors),
        architecture=architecture,
        mean=mean,
        std=std,
        gem_p=p,
        head=_head(linear, None if linear else _learned(meta.get("Lw")), unit_first=True),
    )


def _as_in_torchvision(name: str) -> str:
    for theirs, own in _RADENOVIC_RESNET.items():
        if name.startswith(theirs):
            return own + name.removeprefix(theirs)
    return name


# --- parts ----------------------------------------------------------------------------------


def _arrays(file: TorchFile, tensors: Mapping[str, TensorRecord]) -> dict[str, FloatArray]:
    return {name: _floats(file.array(record), name) for name, record in tensors.items()}


def _floats(values: NDArray[Any], name: str) -> FloatArray:
    if values.dtype.kind != "f":
        raise PickleRefusedError(f"{name[:80]!r} is not made of real numbers")
    found = np.asarray(values, dtype=np.float32)
    if not np.isfinite(found).all():
        raise PickleRefusedError(f"{name[:80]!r} holds values that are no numbers")
    return found


def _linear(file: TorchFile, tensors: dict[str, TensorRecord], name: str) -> Linear | None:
    """The layer of this name, taken out of ``tensors``."""
    weight, bias = tensors.pop(f"{name}.weight", None), tensors.pop(f"{name}.bias", None)
    if weight is None:
        return None
    values = _floats(file.array(weight), f"{name}.weight")
    shift = np.zeros(len(values), dtype=np.float32)
    if bias is not None:
        shift = _floats(file.array(bias), f"{name}.bias")
    return Linear(values, shift)


def _exponent(
    file: TorchFile, tensors: dict[str, TensorRecord], name: str, otherwise: object
) -> float:
    """p of GeM, taken out of ``tensors`` or, where it was not learned, as it was set."""
    record = tensors.pop(name, None)
    values = np.asarray(file.array(record) if record else otherwise)
    if values.size != 1 or values.dtype.kind not in "if":
        raise PickleRefusedError("the exponent of its GeM pooling is not one number")
    p = float(values.reshape(()))
    if not 0 < p < math.inf:
        raise PickleRefusedError(f"the exponent of its GeM pooling is {p}")
    return p


def _preprocessing(said: object) -> tuple[Colours, Colours] | tuple[None, None]:
    """Mean and std, where both are said."""
    facts = said if isinstance(said, dict) else {}
    mean, std = (_colours(facts.get(name)) for name in ("mean", "std"))
    if mean is None or std is None:
        return None, None
    if min(std) <= 0:
        raise PickleRefusedError(f"its preprocessing divides by {min(std)}")
    return mean, std


def _colours(values: object) -> Colours | None:
    if values is None:
        return None
    found = np.asarray(values)
    if found.shape != (3,) or found.dtype.kind not in "if" or not np.isfinite(found).all():
        raise PickleRefusedError("its preprocessing has no number for each of three colours")
    return cast(Colours, tuple(float(value) for value in found))


def _head(linear: Linear | None, whitening: Whitening | None, *, unit_first: bool) -> Head | None:
    if linear is None and whitening is None:
        return None
    return Head(linear, whitening, unit_first=unit_first)


def _square_root_pca(said: object) -> Whitening | None:
    """y = (x - μ) V / λ^0.25; an axis along which nothing varied is left out."""
    name, pca = _preferred(said, _PREFERRED_PCA)
    if pca is None:
        return None
    if not isinstance(pca, PcaRecord):
        raise PickleRefusedError(f"its whitening is a {type(pca).__name__}, not a PCA")
    varied = pca.variances > 0
    if not varied.any():
        raise PickleRefusedError("no axis of its PCA varies")
    return Whitening(
        mean=pca.mean.astype(np.float32),
        axes=np.ascontiguousarray(pca.components[varied].T, dtype=np.float32),
        variances=pca.variances[varied].astype(np.float64),
        exponent=_SQUARE_ROOT_PCA if pca.whitened else 0.0,
        name=name,
        count=0,
        floor=0.0,
    )


def _learned(said: object) -> Whitening | None:
    """y = P (x - m), of single-scale descriptors."""
    name, kinds = _preferred(said, _PREFERRED_LW)
    if kinds is None:
        return None
    values = kinds.get("ss") if isinstance(kinds, dict) else None
    if not isinstance(values, dict):
        raise PickleRefusedError("its whitening is not for single-scale descriptors")
    mean, projection = values.get("m"), values.get("P")
    if not isinstance(mean, np.ndarray) or not isinstance(projection, np.ndarray):
        raise PickleRefusedError("its whitening has no m or no P")
    m, p = _floats(mean.reshape(-1), "m"), _floats(projection, "P")
    if p.ndim != 2 or p.shape[1] != len(m) or not len(p):
        raise PickleRefusedError(f"its whitening has P {p.shape} and m {m.shape}")
    axes = np.ascontiguousarray(p.T)
    return Whitening(m, axes, np.ones(len(p)), exponent=0.0, name=name, count=0, floor=0.0)


def _preferred(said: object, name: str) -> tuple[str, object]:
    """What is kept under this name, or else the first, with its name; None where there is none."""
    if not isinstance(said, dict) or not said:
        return "", None
    chosen = name if name in said else next(iter(said))
    return str(chosen), said[chosen]
