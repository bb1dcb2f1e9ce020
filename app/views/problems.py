"""What could not be read, and why."""

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QListView, QMenu, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from app.models.problems import ProblemsModel
from app.views.elsewhere import add_photo_actions, show_in_folder
from app.widgets.empty_state import EmptyState
from app.widgets.header import Header
from app.widgets.problem_rows import ProblemDelegate
from engine.types import Failure


class ProblemsView(QWidget):
    """A list with reasons; everything else in the library works without them."""

    retry_asked = Signal()

    def __init__(self, problems: ProblemsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._header = Header(self.tr("Problems"))
        self._retry = QPushButton(self.tr("Try all again"))
        self._retry.clicked.connect(self.retry_asked)
        self._header.add(self._retry)
        self.list = QListView()
        self.list.setModel(problems)
        self.list.setItemDelegate(ProblemDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setAccessibleName(self.tr("Photos and folders that could not be read"))
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._on_menu_asked)
        self.list.activated.connect(self._on_activated)
        self._pages = QStackedLayout()
        self._pages.addWidget(self.list)
        self._pages.addWidget(
            EmptyState(
                "done",
                self.tr("Everything could be read"),
                self.tr("Photos that fail will be listed here, with the reason."),
            )
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header)
        column.addLayout(self._pages, stretch=1)
        problems.counted.connect(self._on_counted)
        self._on_counted(problems.total)

    @Slot(int)
    def _on_counted(self, total: int) -> None:
        facts = self.tr("{n} left out; the files are untouched").format(n=f"{total:,}")
        self._header.say(self.tr("Problems"), facts if total else "")
        self._retry.setEnabled(total > 0)
        self._pages.setCurrentIndex(0 if total else 1)

    @Slot(object)
    def _on_activated(self, index: object) -> None:
        failure = self.list.currentIndex().data(Qt.ItemDataRole.UserRole)
        if isinstance(failure, Failure):
            show_in_folder(failure.path)

    @Slot(QPoint)
    def _on_menu_asked(self, at: QPoint) -> None:
        failure = self.list.indexAt(at).data(Qt.ItemDataRole.UserRole)
        if isinstance(failure, Failure):
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            add_photo_actions(menu, failure.path)
            menu.popup(self.list.viewport().mapToGlobal(at))
