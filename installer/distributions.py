"""Families of Linux distributions, and what they call the packages that Qt needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Family:
    """``names``: what os-release calls them. ``install``: the start of the command, without sudo.
    ``column``: of the table below. ``font``: a package with a plain font."""

    names: frozenset[str]
    install: tuple[str, ...]
    column: int
    font: str

    def packages(self, libraries: Iterable[str], *, font: bool) -> list[str]:
        """The packages that bring these libraries (as the linker names them) and a font."""
        found = {_PACKAGES[name][self.column] for name in libraries if name in _PACKAGES}
        return sorted(found | ({self.font} if font else set()))

    def command(self, packages: Sequence[str]) -> str:
        """The line that a person types."""
        return " ".join(["sudo", *self.install, *packages])


DEBIAN = Family(frozenset({"debian", "ubuntu"}), ("apt-get", "install"), 0, "fonts-dejavu-core")
FEDORA = Family(frozenset({"fedora", "rhel", "centos"}), ("dnf", "install"), 1, "dejavu-sans-fonts")
ARCH = Family(frozenset({"arch", "manjaro"}), ("pacman", "-S", "--needed"), 2, "ttf-dejavu")
SUSE = Family(frozenset({"suse", "opensuse"}), ("zypper", "install"), 3, "dejavu-fonts")

# The linker's name: package of Debian and Ubuntu, of Fedora, of Arch, of openSUSE.
_PACKAGES = {
    "libEGL.so.1": ("libegl1", "libglvnd-egl", "libglvnd", "Mesa-libEGL1"),
    "libGL.so.1": ("libgl1", "libglvnd-glx", "libglvnd", "Mesa-libGL1"),
    "libGLX.so.0": ("libglx0", "libglvnd-glx", "libglvnd", "libglvnd"),
    "libOpenGL.so.0": ("libopengl0", "libglvnd-opengl", "libglvnd", "libglvnd"),
    "libX11.so.6": ("libx11-6", "libX11", "libx11", "libX11-6"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb", "libx11", "libX11-xcb1"),
    "libxcb.so.1": ("libxcb1", "libxcb", "libxcb", "libxcb1"),
    "libxcb-cursor.so.0": (
        "libxcb-cursor0",
        "xcb-util-cursor",
        "xcb-util-cursor",
        "libxcb-cursor0",
    ),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm", "xcb-util-wm", "libxcb-icccm4"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image", "xcb-util-image", "libxcb-image0"),
    "libxcb-keysyms.so.1": (
        "libxcb-keysyms1",
        "xcb-util-keysyms",
        "xcb-util-keysyms",
        "libxcb-keysyms1",
    ),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb", "libxcb", "libxcb-randr0"),
    "libxcb-render.so.0": ("libxcb-render0", "libxcb", "libxcb", "libxcb-render0"),
    "libxcb-render-util.so.0": (
        "libxcb-render-util0",
        "xcb-util-renderutil",
        "xcb-util-renderutil",
        "libxcb-render-util0",
    ),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb", "libxcb", "libxcb-shape0"),
    "libxcb-shm.so.0": ("libxcb-shm0", "libxcb", "libxcb", "libxcb-shm0"),
    "libxcb-sync.so.1": ("libxcb-sync1", "libxcb", "libxcb", "libxcb-sync1"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util", "xcb-util", "libxcb-util1"),
    "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb", "libxcb", "libxcb-xfixes0"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb", "libxcb", "libxcb-xkb1"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon", "libxkbcommon", "libxkbcommon0"),
    "libxkbcommon-x11.so.0": (
        "libxkbcommon-x11-0",
        "libxkbcommon-x11",
        "libxkbcommon-x11",
        "libxkbcommon-x11-0",
    ),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig", "fontconfig", "libfontconfig1"),
    "libfreetype.so.6": ("libfreetype6", "freetype", "freetype2", "libfreetype6"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs", "dbus", "libdbus-1-3"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2", "glib2", "libglib-2_0-0"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2", "glib2", "libgthread-2_0-0"),
    "libwayland-client.so.0": (
        "libwayland-client0",
        "libwayland-client",
        "wayland",
        "libwayland-client0",
    ),
    "libwayland-cursor.so.0": (
        "libwayland-cursor0",
        "libwayland-cursor",
        "wayland",
        "libwayland-cursor0",
    ),
    "libwayland-egl.so.1": ("libwayland-egl1", "libwayland-egl", "wayland", "libwayland-egl1"),
    "libz.so.1": ("zlib1g", "zlib", "zlib", "libz1"),
}


def family(release: Path = Path("/etc/os-release")) -> Family | None:
    """The family of the distribution that runs here, or None for one that is not known."""
    try:
        lines = release.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    said = f"{facts.get('ID', '')} {facts.get('ID_LIKE', '')}".replace('"', "").split()
    for name in said:
        for known in (DEBIAN, FEDORA, ARCH, SUSE):
            if name.partition("-")[0] in known.names:
                return known
    return None
