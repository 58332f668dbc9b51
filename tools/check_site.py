"""Checks the documentation site that `make docs` has built, without a network.

    python tools/check_site.py [--site FOLDER] [--no-browser] [--pictures FOLDER] [--only TEXT]

Links: every link, picture, script and style of every page leads to a file of the site, and to an anchor that is there;
nothing is loaded from elsewhere. Browser: every page is opened in Chromium, wide and on a phone, light and dark. No
page may write errors to the console, scroll sideways, or have text with too little contrast in the article. Exits 0
with a reason where there is no Chromium.
"""

import argparse
import base64
import shutil
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from check_browser import Browser, complaints

SITE = Path(__file__).parents[1] / "docs" / "_build" / "html"
VIEWS = [("wide", 1280, "light"), ("dark", 1280, "dark"), ("phone", 390, "light")]
ENOUGH_CONTRAST = 4.5  # WCAG 2, AA

# What sticks out of the window, except inside boxes that scroll by themselves.
SIDEWAYS = """
(() => {
  const width = document.documentElement.scrollWidth;
  if (width <= innerWidth) return [];
  const scrolls = e => { for (; e && e !== document.body; e = e.parentElement)
    if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX)) return true; return false; };
  const wide = [...document.body.querySelectorAll('*')].filter(e =>
    e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement));
  return [`${width} px wide in a window of ${innerWidth}: ${wide.slice(0, 2).map(e => e.outerHTML.slice(0, 90))}`];
})()
"""

# The least contrast of a text of the article with what is behind it.
CONTRAST = """
(() => {
  const parse = c => (c.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]); };
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const known = new Map();  // of an element: what is behind its text, and its opacity with that of all around it
  const around = e => {
    if (!e) return [[255, 255, 255], 1];
    if (!known.has(e)) {
      const style = getComputedStyle(e), [back, opacity] = around(e.parentElement);
      known.set(e, [over(parse(style.backgroundColor), back), opacity * parseFloat(style.opacity)]);
    }
    return known.get(e);
  };
  let least = [21, ''];
  const article = document.querySelector('article') ?? document.querySelector('main'), seen = new Set();
  const walk = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (seen.has(e) || !walk.currentNode.data.trim()) continue;
    seen.add(e);
    if (e.closest('title, style, script, .headerlink, [class*=search-button]') || !e.getClientRects().length) continue;
    const svg = e.closest('svg'), style = getComputedStyle(e);
    const [back] = around(svg?.parentElement ?? e), [, opacity] = around(e);
    const top = parse(svg ? style.fill : style.color);
    top[3] = (top[3] ?? 1) * opacity;
    const [a, b] = [light(over(top, back)), light(back)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < least[0]) least = [contrast, e.outerHTML.slice(0, 90)];
  }
  return least;
})()
"""


class Page(HTMLParser):
    """The anchors of a page, what it links to and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(found[key] for key in ("id", "name") if found.get(key))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag == "link" and found.get("href"):
            self.loads.append(found["href"])
        elif tag in ("img", "script", "source", "iframe", "object") and (found.get("src") or found.get("data")):
            self.loads.append(found.get("src") or found["data"])


def broken(site, pages):
    """Yield what is wrong with links and files of all pages, as a page and a sentence."""
    for path, page in pages.items():
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme in ("data", "mailto", "javascript"):
                continue
            if parts.scheme or parts.netloc:
                if target in page.loads:
                    yield path, f"loads {target}"
                continue
            found = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if found.is_dir():
                found /= "index.html"
            if not found.exists():
                yield path, f"leads to {target}, which is not there"
            elif parts.fragment and found in pages and unquote(parts.fragment) not in pages[found].anchors:
                yield path, f"leads to {target}, which has no such anchor"


def look(browser, path, pictures, name):
    """Yield what is wrong with a page in the browser."""
    url = path.resolve().as_uri()
    here = path.resolve().anchor
    for view, width, theme in VIEWS:
        scheme = [{"name": "prefers-color-scheme", "value": theme}]
        browser.call("Emulation.setEmulatedMedia", media="", features=scheme)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.call("Emulation.setDeviceMetricsOverride", **size)
        for text in complaints(browser.open(url), url):
            if not text.startswith((f"asks for file://{here}", "asks for data:")):
                yield f"{view}: {text}"
        if pictures:
            shot = browser.call("Page.captureScreenshot", format="png")
            (pictures / f"{name}-{view}.png").write_bytes(base64.b64decode(shot["data"]))
        for text in browser.value(SIDEWAYS):
            yield f"{view}: {text}"
        contrast, where = browser.value(CONTRAST)
        if contrast < ENOUGH_CONTRAST:
            yield f"{view}: contrast of {contrast:.2f} in {where}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--site", type=Path, default=SITE)
    parser.add_argument("--no-browser", action="store_true", help="links and files alone")
    parser.add_argument("--pictures", type=Path, help="folder for screenshots")
    parser.add_argument("--only", default="", help="open pages whose path contains this text")
    chosen = parser.parse_args()
    site = chosen.site.resolve()
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    if not pages:
        print(f"{site} has no pages: run `make docs` first", file=sys.stderr)
        return 1
    wrong = 0
    for path, text in broken(site, pages):
        print(f"{path.relative_to(site)} {text}")
        wrong += 1
    print(f"links of {len(pages)} pages: {f'{wrong} are wrong' if wrong else 'fine'}")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if chosen.no_browser or program is None:
        if program is None:
            print("not opened: there is no Chromium here; `make check-browser` installs it", file=sys.stderr)
        return 1 if wrong else 0
    if chosen.pictures:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    opened = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, Path(folder) / "profile")
        try:
            for path in pages:
                name = str(path.relative_to(site))
                if chosen.only in name:
                    opened += 1
                    for text in look(browser, path, chosen.pictures, name.removesuffix(".html").replace("/", "-")):
                        print(f"{name} {text}")
                        wrong += 1
        finally:
            browser.close()
    print(f"{opened} pages opened: {f'{wrong} complaints in all' if wrong else 'fine'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
