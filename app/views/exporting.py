"""The hits into a file: asks where to, and has it written."""

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge.calls import EngineCalls
from engine.requests import ExportReport, ExportRequest


class Exporting(QObject):
    """Any number of exports, one after another."""

    exported = Signal(object)
    """An `ExportReport`."""
    failed = Signal(object)
    """`Words`."""

    def __init__(self, calls: EngineCalls, parent: QWidget) -> None:
        super().__init__(parent)
        self._calls = calls
        self._over = parent

    def ask(self, token: str, min_score: float | None) -> None:
        """Ask for a file, then write to it the hits of a search that reach a score."""
        dialog = QFileDialog(self._over, self.tr("Export the hits"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        suffixes = {
            self.tr("Table (*.csv)"): "csv",
            self.tr("JSON (*.json)"): "json",
            self.tr("List of paths (*.txt)"): "txt",
        }
        dialog.setNameFilters(list(suffixes))
        dialog.setDefaultSuffix("csv")
        dialog.filterSelected.connect(lambda words: dialog.setDefaultSuffix(suffixes[words]))
        dialog.selectFile(self.tr("hits"))
        dialog.fileSelected.connect(
            lambda path: self._write(ExportRequest(token, Path(path), min_score))
        )
        dialog.open()

    def _write(self, request: ExportRequest) -> None:
        job = self._calls.export(request)
        job.succeeded.connect(self.exported)
        job.failed.connect(self.failed)

    def summary(self, report: ExportReport) -> str:
        """What was done, in one line."""
        if report.hits == 1:
            return self.tr("1 hit written to {name}").format(name=report.target.name)
        return self.tr("{n} hits written to {name}").format(
            n=f"{report.hits:,}", name=report.target.name
        )
