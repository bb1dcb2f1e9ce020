"""Weights out of a file that somebody has, into a network. Runs no code of the file."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from engine.errors import NetworkError

# Files of training runs hold the weights under one of these; DataParallel's names begin so.
_WRAPPERS = ("state_dict", "model")
_PARALLEL = "module."
# Counts batches of a training; old files lack it, and it changes no number.
_COUNTER = "num_batches_tracked"


def read(path: Path) -> dict[str, Tensor]:
    """The named tensors of a ``.safetensors`` file or of one that ``torch.save`` wrote.

    Raises:
        NetworkError: it cannot be read, holds anything else than plain data, or no weights.
    """
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        given = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise NetworkError(f"the weights cannot be read: {error}") from error
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise NetworkError(f"{path} holds no weights that can be read: {reason}") from error
    return _named_tensors(given, path)


def _named_tensors(given: object, path: Path) -> dict[str, Tensor]:
    for wrapper in _WRAPPERS:
        if isinstance(given, Mapping) and isinstance(given.get(wrapper), Mapping):
            given = given[wrapper]
    if not isinstance(given, Mapping) or not given:
        raise NetworkError(f"{path} holds no weights but {type(given).__name__}")
    tensors = {str(name): value for name, value in given.items() if isinstance(value, Tensor)}
    if len(tensors) != len(given):
        raise NetworkError(f"{path} holds no weights: not every value is a tensor")
    if all(name.startswith(_PARALLEL) for name in tensors):
        tensors = {name.removeprefix(_PARALLEL): value for name, value in tensors.items()}
    return tensors


def renamed_in_order(
    given: Mapping[str, Tensor], own: Mapping[str, Tensor], *, file: str, backbone: str
) -> dict[str, Tensor]:
    """The tensors under the network's own names, for a file that names them otherwise but holds
    the same ones in the same order; each is checked for its shape.

    Raises:
        NetworkError: the file does not fit the architecture.
    """
    if len(given) != len(own):
        raise NetworkError(f"{file} holds {len(given)} tensors, {backbone} has {len(own)}")
    for (name, tensor), (other, theirs) in zip(own.items(), given.items(), strict=True):
        if tensor.shape != theirs.shape:
            raise NetworkError(
                f"{file}: {other} is {tuple(theirs.shape)}, "
                f"but {name} of {backbone} is {tuple(tensor.shape)}"
            )
    return dict(zip(own, given.values(), strict=True))


def fill(
    model: nn.Module, given: Mapping[str, Tensor], *, names: set[str], file: str, backbone: str
) -> None:
    """Give a model its weights, each checked for its shape. Changes ``model`` itself.

    ``names`` are those of the whole network: ``model`` may be a part of it, and what the file
    holds for the rest (a classifier, of however many classes) is passed over.

    Raises:
        NetworkError: the file is of another network.
    """
    own = model.state_dict()
    strangers = sorted(name for name in given if name not in names and not _counts(name))
    if strangers:
        raise NetworkError(f"{file} holds {strangers[0]!r}, which {backbone} does not have")
    missing = sorted(name for name in own if name not in given and not _counts(name))
    if missing:
        raise NetworkError(f"{file} lacks {missing[0]!r} of {backbone} ({len(missing)} in all)")
    for name, tensor in own.items():
        theirs = given.get(name, tensor)
        if theirs.shape != tensor.shape and not _counts(name):
            raise NetworkError(
                f"{file}: {name} is {tuple(theirs.shape)}, "
                f"but that of {backbone} is {tuple(tensor.shape)}"
            )
    values = {
        name: torch.zeros((), dtype=torch.long) if _counts(name) else given[name].to(tensor.dtype)
        for name, tensor in own.items()
    }
    model.load_state_dict(values, assign=True)


def _counts(name: str) -> bool:
    return name.endswith(_COUNTER)
