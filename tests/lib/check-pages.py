"""Checks the files of `benchwrap pages`: check-pages.py FOLDER. Prints "ok NAME" or "not ok NAME: why" a check.

Every link leads to a file or a heading, nothing is loaded, JSON, feed and badges are well-formed, and each page has its JSON."""
import html.parser
import json
import os
import re
import sys
import urllib.parse
import xml.etree.ElementTree as tree

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.links, self.ids, self.open, self.problems, self.scripts = [], set(), [], [], 0

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            if name == "href":
                self.links.append(value)
            if name in ("src", "srcset", "action", "background", "poster", "data") or name.startswith("on"):
                self.problems.append("%s has %s" % (tag, name))
        self.scripts += tag == "script"
        if tag in ("iframe", "object", "embed", "form", "base"):
            self.problems.append("element " + tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append("</%s> closes another element" % tag)


def check(name, problems):
    print("ok %s" % name if not problems else "not ok %s: %s" % (name, "; ".join(problems[:5])))


def main():
    top, pages, problems, broken, orphans = sys.argv[1], {}, [], [], []
    for at, _, names in os.walk(top):
        for name in names:
            path = os.path.join(at, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            if name.endswith(".html"):
                page = Page()
                page.feed(text)
                problems += ["%s: %s" % (path, p) for p in page.problems + (["%s is not closed" % page.open[-1]] if page.open else [])]
                if page.scripts != 1 or re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", re.sub(r"<pre.*?</pre>", "", text, flags=re.S)):
                    problems.append("%s: loads something, or has another script" % path)
                pages[os.path.abspath(path)] = page
                if not re.search(r"-\d+\.html$", name) and not os.path.exists(path[:-5] + ".json"):
                    orphans.append(path)
            elif name.endswith(".json"):
                json.loads(text)
            elif name.endswith((".svg", ".xml")):
                tree.fromstring(text)
            if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", text) and name != ".benchwrap-pages" and not name.endswith(".json"):
                problems.append("%s: control characters" % path)
    for path, page in pages.items():
        for link in page.links:
            where, _, name = link.partition("#")
            if link.startswith("data:"):
                continue
            if urllib.parse.urlparse(link).scheme or link.startswith("/"):
                broken.append("%s: %s" % (path, link))
                continue
            target = os.path.abspath(os.path.join(os.path.dirname(path), urllib.parse.unquote(where))) if where else path
            if not os.path.exists(target) or (name and name not in pages[target].ids):
                broken.append("%s: %s" % (path, link))
    check("every page is well-formed and loads nothing", problems)
    check("every link leads somewhere", broken)
    check("every page has its JSON", orphans)
    reached, todo = set(), [os.path.abspath(os.path.join(top, "index.html"))]
    while todo:
        path = todo.pop()
        if path in pages and path not in reached:
            reached.add(path)
            todo += [os.path.abspath(os.path.join(os.path.dirname(path), urllib.parse.unquote(link.partition("#")[0]))) for link in pages[path].links]
    check("every page is reached from the start page", sorted(set(pages) - reached))
    feed = tree.parse(os.path.join(top, "feed.xml")).getroot()
    names = {"{http://www.w3.org/2005/Atom}" + n for n in ("id", "title", "updated")}
    entries = feed.findall("{http://www.w3.org/2005/Atom}entry")
    ids = [e.find("{http://www.w3.org/2005/Atom}id").text for e in entries]
    check("the feed has what Atom requires", [] if entries and len(ids) == len(set(ids)) and all(names <= {c.tag for c in e} for e in entries + [feed]) else ["elements are missing"])


main()
