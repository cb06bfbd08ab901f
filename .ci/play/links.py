"""Looks at each link: `links.py BOOK`. Links of the built pages in BOOK stay within it, and lead to a file and to
an anchor that are there; links of the Markdown files that git tracks lead to files of the repository.

Ends with 1 and a line for each link that leads nowhere.
"""

import pathlib, re, subprocess, sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

book = pathlib.Path(sys.argv[1]).resolve()


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.anchors.add(value)
            if value and (name == "src" or name == "href" and tag in ("a", "link")):
                self.links.append((self.getpos()[0], value))


def is_outside(link):
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


wrong, looked_at = [], 0
pages = {file: Page(file.read_text()) for file in sorted(book.rglob("*.html"))}
for file, page in pages.items():
    for line, link in page.links:
        if is_outside(link):
            continue
        looked_at += 1
        path, anchor = unquote(urlsplit(link).path), unquote(urlsplit(link).fragment)
        # The page for addresses that are not there stands for any folder.
        base = book if path.startswith("/") or file.name == "404.html" else file.parent
        target = (base / path.lstrip("/")).resolve() if path else file
        if target.is_dir():
            target /= "index.html"
        if not target.is_relative_to(book) or not target.is_file():
            wrong.append(f"{file.relative_to(book)}:{line}: {link} leads nowhere")
        elif anchor and target in pages and anchor not in pages[target].anchors:
            wrong.append(f"{file.relative_to(book)}:{line}: {link} has no such anchor")

LINK = re.compile(r"\]\(([^)\s]+)\)")
tracked = subprocess.run(["git", "ls-files", "*.md"], check=True, capture_output=True, text=True).stdout.split()
for name in map(pathlib.Path, tracked):
    for number, text in enumerate(name.read_text().splitlines(), 1):
        for link in LINK.findall(re.sub(r"`[^`]*`", "", text)):
            path = unquote(urlsplit(link).path)
            if is_outside(link) or not path:
                continue
            looked_at += 1
            if not (name.parent / path).exists():
                wrong.append(f"{name}:{number}: {link} leads nowhere")

print("\n".join(wrong) if wrong else f"{looked_at} links lead to something")
sys.exit(bool(wrong) or not looked_at)
