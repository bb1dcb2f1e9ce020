"""Where the files lie that the window is made of."""

from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"
STYLE = ASSETS / "style"
ICONS = ASSETS / "icons" / "ui"
APP_ICON = ASSETS / "icons" / "app.svg"
SAMPLE_ALBUM = ASSETS / "sample"
