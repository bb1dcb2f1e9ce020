"""The side bar of the library: what there is to look at, and the folders."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.views.elsewhere import open_folder
from app.widgets.icons import IconButton, IconLabel, Mark
from app.widgets.labels import ElidedLabel, label
from engine.requests import LibraryOverview
from engine.types import Folder

WIDTH_PX = 232


class NavRow(QPushButton):
    """An entry with a drawing, a name and a number."""

    def __init__(
        self, drawing: str, name: str, *, count: int | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", "nav")
        self._drawing = IconLabel(drawing)
        self._name = ElidedLabel(name)
        self._count = label(role="caption")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(8)
        row.addWidget(self._drawing)
        row.addWidget(self._name, stretch=1)
        row.addWidget(self._count)
        for part in (self._drawing, self._name, self._count):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.show_count(count)

    def show_count(self, count: int | None) -> None:
        """Show a number, or none."""
        self._count.setText("" if count is None else f"{count:,}")
        self.setAccessibleName(f"{self._name.text()} {self._count.text()}".strip())

    def show_state(self, drawing: str, state: str) -> None:
        """Show a state in place of the number."""
        self._drawing.show_drawing(drawing)
        self._count.setText(state)
        self.setAccessibleName(f"{self._name.text()}, {state}")


class Sidebar(QFrame):
    """Emits what was chosen; shows what it is told."""

    photos_asked = Signal()
    problems_asked = Signal()
    add_folder_asked = Signal()
    look_asked = Signal(object)
    """The `Folder` in which new photos shall be looked for."""

    def __init__(self, menu: QPushButton | IconButton, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "sidebar")
        self.setFixedWidth(WIDTH_PX)
        self._photos = NavRow("photos", self.tr("All photos"))
        self._problems = NavRow("warning", self.tr("Problems"))
        self._add = NavRow("folder-add", self.tr("Add folder…"))
        self._pages = QButtonGroup(self)
        for page in (self._photos, self._problems):
            page.setCheckable(True)
            self._pages.addButton(page)
        self._photos.setChecked(True)
        self._photos.clicked.connect(self.photos_asked)
        self._problems.clicked.connect(self.problems_asked)
        self._problems.hide()
        self._add.clicked.connect(self.add_folder_asked)
        self._folders: list[Folder] = []
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._lay_out(menu)

    def show_overview(self, overview: LibraryOverview) -> None:
        """Show the folders and how many photos there are."""
        self._photos.show_count(overview.photos)
        if list(overview.folders) != self._folders:
            self._folders = list(overview.folders)
            self._show_folders()

    def show_problems(self, count: int) -> None:
        """Show how many problems there are; none hides the entry unless it is looked at."""
        self._problems.show_count(count)
        self._problems.setVisible(count > 0 or self._problems.isChecked())

    @Slot()
    def choose_photos(self) -> None:
        """Mark the photos as what is shown."""
        self._photos.setChecked(True)

    @Slot()
    def choose_problems(self) -> None:
        """Mark the problems as what is shown."""
        self._problems.show()
        self._problems.setChecked(True)

    def _show_folders(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for folder in self._folders:
            row = NavRow("folder", folder_name(folder.path), count=folder.photos)
            row.setToolTip(str(folder.path))
            if not folder.online:
                row.show_state("folder-offline", self.tr("offline"))
                tip = self.tr("{path}\nNot there now. Nothing of it is forgotten.")
                row.setToolTip(tip.format(path=folder.path))
            row.setMenu(self._folder_menu(folder, row))
            self._rows.addWidget(row)

    def _folder_menu(self, folder: Folder, row: NavRow) -> QMenu:
        menu = QMenu(row)
        look = menu.addAction(self.tr("Look for new photos"))
        look.triggered.connect(partial(self.look_asked.emit, folder))
        show = menu.addAction(self.tr("Show in file manager"))
        show.triggered.connect(partial(open_folder, folder.path))
        for action in (look, show):
            action.setEnabled(folder.online)
        return menu

    def _lay_out(self, menu: QWidget) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(8, 0, 0, 0)
        top.setSpacing(8)
        top.addWidget(Mark(20))
        top.addWidget(label("Refocal", role="heading"), stretch=1)
        top.addWidget(menu)
        folders = QWidget()
        inside = QVBoxLayout(folders)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(2)
        inside.addLayout(self._rows)
        inside.addWidget(self._add)
        inside.addStretch()
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(folders)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 10, 8, 8)
        column.setSpacing(2)
        column.addLayout(top)
        column.addSpacing(8)
        column.addWidget(self._photos)
        column.addWidget(self._problems)
        column.addSpacing(16)
        section = label(self.tr("Folders"), role="section")
        section.setContentsMargins(8, 0, 0, 4)
        column.addWidget(section)
        column.addWidget(scroll, stretch=1)


def folder_name(path: Path) -> str:
    """A folder's last name; a root's whole path."""
    return path.name or str(path)
