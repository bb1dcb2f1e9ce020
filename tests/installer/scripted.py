"""A runner that runs nothing: it keeps what it was asked and answers from a script."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from installer.process import CommandError

Answer = Sequence[str] | Callable[[], Sequence[str]]


class ScriptedRunner:
    """``answer(words, lines)``: what a command whose text has ``words`` says; a callable may have
    effects and may raise. Later answers win; a command without one says nothing and succeeds."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self._answers: list[tuple[str, Answer]] = []

    def answer(self, words: str, lines: Answer) -> None:
        self._answers.insert(0, (words, lines))

    def fail(self, words: str, *tail: str) -> None:
        def failing() -> Sequence[str]:
            raise CommandError(["command"], 1, tail)

        self.answer(words, failing)

    def asked(self, words: str) -> list[str]:
        """The commands so far that have these words."""
        return [command for command in self.commands if words in command]

    def __call__(
        self, command: Sequence[str], *, extra: Mapping[str, str] | None = None
    ) -> Iterator[str | None]:
        text = " ".join(command)
        self.commands.append(text)
        for words, lines in self._answers:
            if words in text:
                yield from lines() if callable(lines) else lines
                return
