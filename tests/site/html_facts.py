"""What stands in a page of HTML: its links, its anchors, what it would load, its pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


@dataclass
class Facts(HTMLParser):
    """Read with `feed`; fields fill up."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    titles: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.anchors |= {said[name] for name in ("id", "name") if name in said}
        self.titles += tag == "h1"
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        if said.get(LOADED.get(tag, "")) and said.get("rel") not in ("canonical", "search"):
            self.loaded.append(said[LOADED[tag]])
        if tag == "img":
            self.pictures.append((said.get("src", ""), said.get("alt", "")))


def read_facts(text: str) -> Facts:
    """Facts of one page."""
    facts = Facts()
    facts.feed(text)
    return facts
