"""The networks whose weights a user brings: the papers' backbones, and any of timm's. Torch-free.

Query adaptive matching was measured on VGG19 conv5_4, GoogLeNet inception_4e and ResNet-152 res5b
(Cao et al. 2016), training for average precision on ResNet-101 and ResNet-50 (Revaud et al. 2019).
"""

from dataclasses import dataclass
from typing import Final

from engine.errors import NetworkError

_TIMM: Final = "timm:"
_TORCHVISION: Final = "https://download.pytorch.org/models/"


@dataclass(frozen=True, slots=True)
class Architecture:
    """What can be said of a network before its weights.

    ``layer``: the paper's, or None: the end of timm's forward_features. ``url``: torchvision's
    weights trained on ImageNet, None where only the user knows any; its file is called after the
    first eight hex digits of its SHA-256.
    """

    name: str
    library: str
    backbone: str
    layer: str | None = None
    url: str | None = None

    @property
    def sha256_prefix(self) -> str:
        """The digits that the name of torchvision's file carries; "" without a url."""
        return self.url.rpartition("-")[2].partition(".")[0] if self.url else ""


# Each with the weights of the first generation, which are those of the papers' time.
PAPERS: Final = {
    name: Architecture(name, "torchvision", name, layer, _TORCHVISION + file)
    for name, layer, file in (
        ("vgg19", "features.35", "vgg19-dcbb9e9d.pth"),  # conv5_4 after ReLU
        ("googlenet", "inception4e", "googlenet-1378be20.pth"),
        ("resnet152", "layer4.1", "resnet152-394f9c45.pth"),  # res5b after ReLU
        ("resnet101", "layer4", "resnet101-63fe2227.pth"),
        ("resnet50", "layer4", "resnet50-0676ba61.pth"),
    )
}


def architecture(name: str) -> Architecture:
    """The architecture of a name as the command line takes it.

    Raises:
        NetworkError: no network has this name.
    """
    if name.startswith(_TIMM) and len(name) > len(_TIMM):
        return Architecture(name, "timm", name.removeprefix(_TIMM))
    try:
        return PAPERS[name]
    except KeyError:
        known = ", ".join((*PAPERS, f"{_TIMM}NAME"))
        raise NetworkError(
            f"there is no network {name!r} for weights; there are: {known}"
        ) from None


def where_to_get(wanted: Architecture) -> str:
    """For a person who has no weights for it: one clause."""
    if wanted.url:
        return f"torchvision's are at {wanted.url} ('--weights fetch' gets them)"
    return f"timm's are at huggingface.co/timm/{wanted.backbone} (model.safetensors)"
