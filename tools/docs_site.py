"""The website of the documentation: a hook of MkDocs, which takes along what pages link to outside docs/.

`configs/demo.yaml` becomes `repository/configs/demo.yaml` of the site, and a folder a page that lists its files.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
CARRIED = "repository"  # the folder of the site for what lies outside docs/
LINK = re.compile(r"(?<=\]\()(?P<target>[^)#\s]+)(?P<anchor>#[^)]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add each file of the repository that a page links to, and what those pages link to in turn."""
    waiting = list(files.documentation_pages())
    while waiting:
        page = waiting.pop()
        for target in _targets(page):
            for added in _carried(target, config):
                if added.src_uri not in files.src_uris:
                    files.append(added)
                    waiting += [added] * added.is_documentation_page()
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to where their targets are on the site."""
    here = PurePosixPath(page.file.src_uri).parent

    def moved(link: re.Match[str]) -> str:
        if _is_elsewhere(link["target"]):
            return link[0]
        place = _on_site(_in_repository(page.file, link["target"]))
        return os.path.relpath(place, here) + (link["anchor"] or "")

    return LINK.sub(moved, markdown)


def _targets(page: File) -> Iterator[str]:
    """Paths in the repository that a page links to."""
    for link in LINK.finditer(page.content_string):
        if not _is_elsewhere(link["target"]):
            yield _in_repository(page, link["target"])


def _carried(path: str, config: MkDocsConfig) -> Iterator[File]:
    """Yield the files of the site for a path outside docs/."""
    place = ROOT / path
    if path.startswith("docs/") or not place.exists():  # a link that leads nowhere is MkDocs' to report
        return
    if place.is_dir():
        inside = [each.relative_to(ROOT).as_posix() for each in sorted(place.rglob("*")) if each.is_file()]
        lines = [f"- [{each}]({os.path.relpath(each, path)})" for each in inside if "__pycache__" not in each]
        yield File.generated(config, _on_site(path), content="\n".join([f"# {path}", "", *lines, ""]))
    else:
        yield File.generated(config, _on_site(path), abs_src_path=str(place))


def _on_site(path: str) -> str:
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"{CARRIED}/{path}/index.md" if (ROOT / path).is_dir() else f"{CARRIED}/{path}"


def _in_repository(page: File, target: str) -> str:
    folder = PurePosixPath(page.src_uri).parent
    inside = folder.relative_to(CARRIED) if folder.is_relative_to(CARRIED) else "docs" / folder
    return os.path.normpath(inside / target)


def _is_elsewhere(target: str) -> bool:
    return "://" in target or target.startswith("mailto:")
