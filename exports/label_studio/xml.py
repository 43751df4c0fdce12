"""Labelling configs as trees of tags. They come from strangers: no entities, no bombs, no depths, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape

from annotators.errors import InvalidInput

LONGEST = 2_000_000
"""Characters of a config."""

_DEEPEST = 60
_MOST = 20_000


@dataclass
class Tag:
    """One tag: its name, its attributes, the tags in it, the line (from 1) where it stands, and a text to be written.

    Texts in tags are not read: nothing that a config asks stands in one.
    """

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Tag] = field(default_factory=list)
    line: int = 0
    text: str = ""

    def get(self, name: str, instead: str = "") -> str:
        """The attribute of this name."""
        return self.attributes.get(name, instead)

    def add(self, tag: str, /, **attributes: object) -> Tag:
        """A new tag in this one; attributes that are None are left out."""
        child = Tag(tag, {key: str(value) for key, value in attributes.items() if value is not None})
        self.children.append(child)
        return child

    def walk(self) -> Iterator[Tag]:
        """The tag and all in it, in the order in which they stand."""
        yield self
        for child in self.children:
            yield from child.walk()

    def written(self, depth: int = 0) -> str:
        """As XML, a tag a line."""
        space = "  " * depth
        said = "".join(f' {name}="{_attribute(value)}"' for name, value in self.attributes.items())
        if self.text:
            return f"{space}<{self.name}{said}>{escape(self.text)}</{self.name}>\n"
        if not self.children:
            return f"{space}<{self.name}{said}/>\n"
        inner = "".join(child.written(depth + 1) for child in self.children)
        return f"{space}<{self.name}{said}>\n{inner}{space}</{self.name}>\n"


_LOOKS = frozenset(
    {"style", "className", "hotkey", "size", "underline", "showInline", "rows", "requiredMessage", "layout"}
)
"""Attributes that say how a tag looks, or how it is reached, and not what it asks; titles and hints are read."""

_LAYOUT = ("Style", "Collapse", "Panel")


def asked_by(tag: Tag) -> list[tuple[object, ...]]:
    """What a config asks, to be compared: its tags without what only says how they look."""
    found: list[tuple[object, ...]] = []
    for child in tag.children:
        inner = asked_by(child)
        if child.name in _LAYOUT or (child.name == "View" and not child.get("visibleWhen")):
            found += inner
        else:
            about = sorted((name, value) for name, value in child.attributes.items() if name not in _LOOKS)
            found.append((child.name, tuple(about), tuple(inner)))
    return found


def _attribute(value: str) -> str:
    # Line ends would come back as spaces.
    shown = "".join(sign for sign in value if sign >= " " or sign in "\t\n\r")
    return escape(shown, {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def read_config(text: str, where: str) -> Tag:
    """The tree of a labelling config; InvalidInput, naming `where` and the line, for what is none.

    Declarations of document types and entities are refused, as are configs too long or too deep for a person's.
    """
    if len(text) > LONGEST:
        raise InvalidInput(f"{where}: the labelling config has {len(text):,} characters; at most {LONGEST:,} are read.")
    reader = _Reader(where)
    try:
        reader.parser.Parse(text.encode(errors="replace"), True)
    except expat.ExpatError as error:
        raise InvalidInput(
            f"{where}, line {error.lineno}: the labelling config is no XML ({expat.ErrorString(error.code)}). Copy it "
            "from Settings → Labeling Interface → Code of the project."
        ) from None
    return reader.root


class _Reader:
    def __init__(self, where: str) -> None:
        self._where, self._open, self._n = where, [Tag("")], 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._begins
        self.parser.EndElementHandler = self._ends
        self.parser.StartDoctypeDeclHandler = self._declares
        self.parser.EntityDeclHandler = self._declares

    @property
    def root(self) -> Tag:
        return self._open[0].children[0]

    def _begins(self, name: str, attributes: dict[str, str]) -> None:
        line, self._n = self.parser.CurrentLineNumber, self._n + 1
        if len(self._open) > _DEEPEST or self._n > _MOST:
            raise InvalidInput(
                f"{self._where}, line {line}: the labelling config has more than {_MOST:,} tags, or more than "
                f"{_DEEPEST} inside each other. Take out what is not needed."
            )
        tag = Tag(name, attributes, line=line)
        self._open[-1].children.append(tag)
        self._open.append(tag)

    def _ends(self, _name: str) -> None:
        self._open.pop()

    def _declares(self, *_: object) -> None:
        raise InvalidInput(
            f"{self._where}, line {self.parser.CurrentLineNumber}: the labelling config declares a document type or "
            "an entity. Take the declaration out: nothing of it is read."
        )
