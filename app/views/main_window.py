"""The main window: the pages, what leads from one to another, and what is told across them."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.bridge.calls import EngineCalls
from app.bridge.errors import Words
from app.models.photos import PhotosModel
from app.models.problems import ProblemsModel
from app.models.thumbnails import Thumbnails
from app.views.drop_target import DropTarget
from app.views.help import show_about, show_shortcuts
from app.views.indexing import Ending, Indexing
from app.views.library import LibraryView
from app.views.main_menu import MainMenu
from app.views.problems import ProblemsView
from app.views.search import SearchView
from app.views.sidebar import Sidebar
from app.views.welcome import WelcomeView
from app.widgets.assets import SAMPLE_ALBUM
from app.widgets.banner import Banner
from app.widgets.engine_badge import EngineBadge
from app.widgets.icons import IconButton, app_icon
from app.widgets.job_strip import JobStrip
from app.widgets.overlay import Overlay
from app.widgets.theme import Theme, ThemeChoice
from engine.requests import EngineStatus, IndexRequest, LibraryOverview
from engine.types import Folder, Photo, Picture

FOOTER_PX = 36


class MainWindow(QMainWindow):
    """Everything a person sees. It asks the engine through ``calls`` and waits for nothing."""

    closing = Signal()
    """The window goes; whoever runs the engine ends it now."""
    folder_chosen = Signal(object)
    """`Path` of a folder that a person added."""

    def __init__(
        self,
        calls: EngineCalls,
        *,
        theme: Theme,
        overlay: Overlay,
        tile_px: int = 176,
        last_folder: Path | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """``last_folder``: the folder that was added last; the next is asked for beside it."""
        super().__init__(parent)
        self._calls = calls
        self._last_folder = last_folder
        self._theme = theme
        self.overlay = overlay
        self.thumbnails = Thumbnails(calls, parent=self)
        self.photos = PhotosModel(calls, self.thumbnails, self)
        self.problems = ProblemsModel(calls, self)
        self.indexing = Indexing(calls, self)
        self.menu = MainMenu(self)
        self._menu_button = IconButton("menu", self.tr("Menu"))
        self._menu_button.setMenu(self.menu)
        self._menu_button.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        self.sidebar = Sidebar(self._menu_button)
        self.welcome = WelcomeView(sample=SAMPLE_ALBUM.is_dir())
        self.library = LibraryView(self.photos, tile_px=tile_px)
        self.problem_list = ProblemsView(self.problems)
        self.search = SearchView(calls, self.thumbnails, overlay, tile_px=tile_px)
        self.banner = Banner()
        self.badge = EngineBadge()
        self.strip = JobStrip()
        self._lay_out()
        self.drops = DropTarget(self)
        self._connect()
        self.menu.show_theme(theme.choice)
        self.setWindowTitle("Refocal")
        self.setWindowIcon(app_icon())
        self.resize(1280, 800)

    # --- what others may ask for ---

    @Slot()
    def start(self) -> None:
        """See what the library holds, then load the network. Call once, after `show`."""
        job = self._calls.overview()
        job.succeeded.connect(self._on_first_overview)
        job.failed.connect(self._on_library_failed)

    def open_query(self, picture: Picture, *, others: int = 0) -> None:
        """Show a picture to search with, whatever the window shows now.

        ``others``: how many more came with it and are not taken.
        """
        self.search.open_picture(picture, others=others)
        self._turn_to(self.search)
        self.raise_()
        self.activateWindow()

    # --- the library ---

    @Slot(object)
    def _on_first_overview(self, overview: LibraryOverview) -> None:
        self._show_overview(overview)
        if self._pages.currentWidget() is not self.search:
            self._turn_to(self._home)
            self._focus_page()
        self.photos.refresh()
        self.problems.refresh()
        pending = overview.photos - overview.ready - overview.failed
        if pending > 0 and overview.writable:
            self._tell_pending(pending)
        self._warm()

    @Slot(object)
    def _on_library_failed(self, words: Words) -> None:
        self.badge.show_failed(words)
        self.banner.show_words(words)

    @Slot()
    def _on_library_changed(self) -> None:
        self.photos.refresh()
        job = self._calls.overview()
        job.succeeded.connect(self._show_overview)

    @Slot(object)
    def _show_overview(self, overview: LibraryOverview) -> None:
        self._empty = not overview.folders and not overview.photos
        self.sidebar.show_overview(overview)
        if not self._empty and self._pages.currentWidget() is self.welcome:
            self._turn_to(self._library_page)

    def _warm(self) -> None:
        self.badge.show_loading()
        job = self._calls.warm()
        job.succeeded.connect(self._on_warm)
        job.failed.connect(self._on_warm_failed)

    @Slot(object)
    def _on_warm(self, status: EngineStatus) -> None:
        self.badge.show_status(status)
        self.search.set_engine_ready(True)

    @Slot(object)
    def _on_warm_failed(self, words: Words) -> None:
        self.badge.show_failed(words)
        self.banner.show_words(words)

    # --- indexing ---

    def _index(self, *folders: Path, retry_failed: bool = False) -> None:
        self.indexing.start(IndexRequest(folders=folders, retry_failed=retry_failed))
        if self._pages.currentWidget() is self.welcome:
            self._empty = False
            self._turn_to(self._library_page)

    def _tell_pending(self, pending: int) -> None:
        self._go_on_by = self._look_again
        text = self.tr("{n} photos are not indexed yet").format(n=f"{pending:,}")
        self.strip.show_ending(text, details=self.tr("Index them"))

    @Slot()
    def _on_indexing_begun(self) -> None:
        self.strip.begin()
        self.library.set_indexing(True)

    @Slot(object)
    def _on_indexing_ended(self, ending: Ending) -> None:
        self.library.set_indexing(self.indexing.running)
        self.thumbnails.forget_missing()
        report = ending.report
        if report is None:
            self._go_on_by = self._look_again
            text = self.tr("Indexing stopped. What is done is kept.")
            self.strip.show_ending(text, details=self.tr("Go on"))
            return
        self.problems.refresh(report.skipped)
        problems = bool(report.failed or report.skipped)
        self._go_on_by = self._show_problems
        self.strip.show_ending(
            self.indexing.summary(report), details=self.tr("Show") if problems else None
        )

    @Slot(object)
    def _on_indexing_failed(self, words: Words) -> None:
        self.strip.hide()
        self.library.set_indexing(self.indexing.running)
        self.banner.show_words(words)

    @Slot()
    def _on_details_asked(self) -> None:
        self._go_on_by()

    @Slot()
    def _look_again(self) -> None:
        self._index()

    @Slot()
    def _retry(self) -> None:
        self._index(retry_failed=True)

    @Slot()
    def _try_sample(self) -> None:
        self._index(SAMPLE_ALBUM)

    # --- pages ---

    def _turn_to(self, page: QWidget) -> None:
        if page is not self._pages.currentWidget():
            self._pages.setCurrentWidget(page)
        self._menu_button.setVisible(page is self._library_page)

    @property
    def _home(self) -> QWidget:
        return self.welcome if self._empty else self._library_page

    @Slot(object)
    def _open_photo(self, photo: Photo) -> None:
        self.search.open_photo(photo)
        self._turn_to(self.search)

    @Slot()
    def _on_search_closed(self) -> None:
        self._turn_to(self._home)
        self._focus_page()

    def _focus_page(self) -> None:
        if self._pages.currentWidget() is self._library_page:
            on_photos = self._inner.currentWidget() is self.library
            (self.library.grid if on_photos else self.problem_list.list).setFocus()

    @Slot()
    def _show_photos(self) -> None:
        self._inner.setCurrentWidget(self.library)
        self.sidebar.choose_photos()

    @Slot()
    def _show_problems(self) -> None:
        self._inner.setCurrentWidget(self.problem_list)
        self.sidebar.choose_problems()
        self._turn_to(self._library_page)

    @Slot(object)
    def _look_in(self, folder: Folder) -> None:
        self._index(folder.path)

    # --- what comes from outside ---

    @Slot()
    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, self.tr("Add a folder of photos"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        if self._last_folder is not None:
            dialog.setDirectory(str(self._last_folder.parent))
        dialog.fileSelected.connect(lambda path: self._add_folders((Path(path),)))
        dialog.open()

    @Slot()
    def _ask_picture(self) -> None:
        dialog = QFileDialog(self, self.tr("Search with a picture"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.open_query(Picture(path=Path(path))))
        dialog.open()

    @Slot()
    def _paste(self) -> None:
        self.drops.take(QGuiApplication.clipboard().mimeData())

    @Slot(object, int)
    def _on_picture_dropped(self, picture: Picture, others: int) -> None:
        self.open_query(picture, others=others)

    @Slot(object)
    def _add_folders(self, folders: tuple[Path, ...]) -> None:
        self._last_folder = folders[-1]
        for folder in folders:
            self.folder_chosen.emit(folder)
        self._index(*folders)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Go."""
        self.closing.emit()
        super().closeEvent(event)

    # --- making ---

    def _lay_out(self) -> None:
        self._empty = True
        self._go_on_by = self._show_problems
        self._inner = QStackedWidget()
        self._inner.addWidget(self.library)
        self._inner.addWidget(self.problem_list)
        self._library_page = QWidget()
        row = QHBoxLayout(self._library_page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.sidebar)
        row.addWidget(self._inner, stretch=1)
        self._pages = QStackedWidget()
        for page in (QWidget(), self.welcome, self._library_page, self.search):
            self._pages.addWidget(page)
        footer = QFrame()
        footer.setProperty("role", "footer")
        footer.setFixedHeight(FOOTER_PX)
        strip = QHBoxLayout(footer)
        strip.setContentsMargins(16, 0, 8, 0)
        strip.setSpacing(16)
        strip.addWidget(self.badge, stretch=1)
        strip.addWidget(self.strip, stretch=3)
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banner)
        column.addWidget(self._pages, stretch=1)
        column.addWidget(footer)
        self.setCentralWidget(whole)

    def _connect(self) -> None:
        self._calls.host.noticed.connect(self.banner.show_words)
        self.photos.failed.connect(self.banner.show_words)
        self.problems.failed.connect(self.banner.show_words)
        self.problems.counted.connect(self.sidebar.show_problems)
        self.welcome.folder_asked.connect(self._ask_folder)
        self.welcome.sample_asked.connect(self._try_sample)
        self.library.photo_opened.connect(self._open_photo)
        self.library.picture_asked.connect(self._ask_picture)
        self.library.add_folder_asked.connect(self._ask_folder)
        self.problem_list.retry_asked.connect(self._retry)
        self.search.closed.connect(self._on_search_closed)
        self.search.searched.connect(self.banner.close_message)
        self.search.failed.connect(self.banner.show_words)
        self.search.hits.counted.connect(self._on_hits_counted)
        self.sidebar.photos_asked.connect(self._show_photos)
        self.sidebar.problems_asked.connect(self._show_problems)
        self.sidebar.look_asked.connect(self._look_in)
        self.sidebar.add_folder_asked.connect(self._ask_folder)
        self.indexing.begun.connect(self._on_indexing_begun)
        self.indexing.progressed.connect(self.strip.show_progress)
        self.indexing.library_changed.connect(self._on_library_changed)
        self.indexing.ended.connect(self._on_indexing_ended)
        self.indexing.failed.connect(self._on_indexing_failed)
        self.strip.cancel_asked.connect(self.indexing.cancel)
        self.strip.details_asked.connect(self._on_details_asked)
        self.drops.picture_dropped.connect(self._on_picture_dropped)
        self.drops.folders_dropped.connect(self._add_folders)
        self.drops.refused.connect(self.banner.show_words)
        self.menu.open_picture_asked.connect(self._ask_picture)
        self.menu.paste_asked.connect(self._paste)
        self.menu.add_folder_asked.connect(self._ask_folder)
        self.menu.look_again_asked.connect(self._look_again)
        self.menu.export_asked.connect(self.search.export)
        self.menu.theme_chosen.connect(self._choose_theme)
        self.menu.shortcuts_asked.connect(lambda: show_shortcuts(self))
        self.menu.about_asked.connect(lambda: show_about(self))
        self.menu.quit_asked.connect(self.close)

    @Slot()
    def _on_hits_counted(self) -> None:
        self.menu.set_exportable(self.search.hits.total > 0)

    @Slot(object)
    def _choose_theme(self, choice: ThemeChoice) -> None:
        self._theme.choose(choice)
        self.menu.show_theme(choice)
