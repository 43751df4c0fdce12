"""A format: text files of questions and answers, `Q:` and `A:` in turn."""

from collections.abc import Iterator

from annotators.items.normal import read_item
from annotators.items.parsed import ParsedItem, Rejected
from exports.formats._files import FilesReading
from exports.formats.base import FORMATS, FileReading
from exports.reading.sources import SourceFile, Sources

ENDING = ".qa"


class QuestionsAndAnswers:
    """One item a pair of lines, of the system `reference`; its id is the file's name and the number of the pair."""

    name = "qa_lines"
    title = "Lines of questions and answers"
    help = "text files that end with .qa: a line with Q: and a question, then one with A: and its answer"

    def refusal(self, file: SourceFile) -> str | None:
        """It takes files that end with .qa and begin with Q:."""
        if not file.basename.endswith(ENDING):
            return f"it does not end with {ENDING}"
        return None if file.beginning().startswith(b"Q:") else "it does not begin with Q:"

    def read(self, sources: Sources) -> FileReading:
        """The .qa files of the sources."""
        return _Reading(sources, [file for file in sources.files if self.refusal(file) is None])


class _Reading(FilesReading):
    format = QuestionsAndAnswers.name

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The items, a pair of lines each."""
        for file in self.files:
            lines = file.path.read_text(encoding="utf-8").splitlines()
            for number, (asked, said) in enumerate(zip(lines[::2], lines[1::2], strict=False), 1):
                if not (asked.startswith("Q:") and said.startswith("A:")):
                    yield Rejected(file.name, 2 * number - 1, "A pair begins with Q: and goes on with A:. Write both.")
                    continue
                item = {"id": f"{file.name}#{number}", "question": asked[2:].strip(), "answer": said[2:].strip()}
                yield ParsedItem(file.name, 2 * number - 1, read_item(item))


FORMATS.register(QuestionsAndAnswers())
