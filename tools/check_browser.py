"""Opens the report's sample pages in a real browser, wide, dark, on a phone and on paper.

    python tools/check_browser.py [--pages FOLDER] [--pictures FOLDER]

Without --pages the library's tests write their samples into a temporary folder first. Exits 0 with a reason where there
is no Chromium; `make check-browser` installs it. Chromium is spoken to through its debugging pipe, so that nothing
beside the standard library is needed.
"""

import argparse
import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
PATIENCE = 120  # seconds for one answer of the browser
VIEWS = [("wide", 1200, "light"), ("dark", 1200, "dark"), ("phone", 360, "light"), ("phone-dark", 360, "dark")]

# Runs in the page and says what is wrong with it, as a list of sentences.
LOOK = """
(() => {
  const wrong = [];
  document.querySelectorAll('details').forEach(d => d.open = true);
  const width = document.documentElement.scrollWidth;
  if (width > innerWidth) {
    const wide = [...document.body.querySelectorAll('*')].filter(e =>
      e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll'));
    const who = wide.slice(0, 3).map(e => e.outerHTML.slice(0, 80));
    wrong.push(`the page is ${width} wide in a window of ${innerWidth}: ${who}`);
  }
  for (const svg of document.querySelectorAll('svg')) {
    const box = svg.getBoundingClientRect();
    const name = svg.querySelector('title')?.textContent ?? 'a key';
    if (!(box.width > 0 && box.height > 0)) wrong.push(`${name}: has no size`);
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent.trim(), t.getBoundingClientRect(), t]);
    for (const [text, at, element] of texts) {
      if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)
        wrong.push(`${name}: "${text}" sticks out`);
      const size = parseFloat(getComputedStyle(element).fontSize) * box.width / svg.viewBox.baseVal.width;
      if (size < 10) wrong.push(`${name}: "${text}" is ${size.toFixed(1)} px`);
    }
    for (let i = 0; i < texts.length; i++) for (let k = i + 1; k < texts.length; k++) {
      const [a, b] = [texts[i][1], texts[k][1]];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 3)
        wrong.push(`${name}: "${texts[i][0]}" lies on "${texts[k][0]}"`);
    }
  }
  if (document.querySelector('script, img, iframe, link')) wrong.push('it has a foreign element');
  if (document.title === 'caught') wrong.push('a script of the data ran');
  return wrong;
})()
"""

# The least contrast of any text with what is behind it, as WCAG 2 defines it.
CONTRAST = """
(() => {
  const parse = c => (c.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]); };
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => e ? over(parse(getComputedStyle(e).backgroundColor), behind(e.parentElement)) : [255, 255, 255];
  let least = [21, ''];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || e.closest('title, desc')) continue;
    const style = getComputedStyle(e), back = behind(e.closest('svg')?.parentElement ?? e);
    const ink = parse(e.closest('svg') ? style.fill : style.color);
    ink[3] = (ink[3] ?? 1) * parseFloat(style.opacity);
    const [a, b] = [light(over(ink, back)), light(back)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < least[0]) least = [contrast, e.outerHTML.slice(0, 80)];
  }
  return least;
})()
"""


class Browser:
    """A headless Chromium with one tab."""

    def __init__(self, program, folder):
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()

        def hand_over():
            # Copies beyond the pair first: the pipe may itself have got the numbers 3 and 4.
            ends = os.dup(to_read), os.dup(to_write)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        command = [program, *FLAGS, f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(
            command, preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_write)
        self.left, self.events, self.session = b"", [], None
        self.numbers = itertools.count(1)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(f"{domain}.enable")

    def read(self, until):
        while b"\0" not in self.left:
            ready, _, _ = select.select([self.into], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.left += piece
        message, self.left = self.left.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.read(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        """Load a page; returns what happened meanwhile."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        until = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read(until))
        return self.events

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"]["value"]

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        os.close(self.out)
        os.close(self.into)


def complaints(events, url):
    """Yield what the page loaded or complained about."""
    for event in events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent" and params["request"]["url"] != url:
            yield f"asks for {params['request']['url'][:80]}"
        elif method == "Runtime.exceptionThrown":
            yield f"throws {params['exceptionDetails']['text']}"
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            yield f"writes to the console: {params['args']}"
        elif method == "Log.entryAdded":
            yield f"is logged: {params['entry']['text']}"


def check(browser, page, pictures):
    """Return everything that is wrong with a page."""
    wrong, backgrounds = [], {}
    url = page.resolve().as_uri()
    for view, width, theme in VIEWS:
        browser.call(
            "Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": theme}]
        )
        browser.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600
        )
        wrong += [f"{view}: {text}" for text in complaints(browser.open(url), url)]
        if pictures:
            picture = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
            (pictures / f"{page.stem}-{view}.png").write_bytes(base64.b64decode(picture["data"]))
        backgrounds[theme] = browser.value("getComputedStyle(document.body).backgroundColor")
        wrong += [f"{view}: {text}" for text in browser.value(LOOK)]
        contrast, where = browser.value(CONTRAST)
        if contrast < 4.5:
            wrong.append(f"{view}: contrast of {contrast:.2f} in {where}")
    if backgrounds["light"] == backgrounds["dark"]:
        wrong.append(f"both themes are {backgrounds['light']}")
    # Afresh, because the looks have opened what was folded. The theme is dark, but paper is light all the same.
    browser.open(url)
    browser.call(
        "Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    if browser.value("getComputedStyle(document.body).backgroundColor") != backgrounds["light"]:
        wrong.append("print: it is not light")
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=False)["data"])
    if not pdf.startswith(b"%PDF"):
        wrong.append("print: it is no PDF")
    if pictures:
        (pictures / f"{page.stem}.pdf").write_bytes(pdf)
    return wrong


def samples(folder):
    command = [
        "cargo",
        "test",
        "--quiet",
        "-p",
        "mercer",
        "--features",
        "mercer/formats",  # as the other tests are built
        "--test",
        "it",
        "report::sample_pages_are_written_where_asked",
    ]
    environment = {**os.environ, "MERCER_SAMPLE_PAGES": str(folder)}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pages", type=Path, help="folder of pages; default: the samples of the library's tests")
    parser.add_argument("--pictures", type=Path, help="folder for screenshots and PDFs")
    chosen = parser.parse_args()
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        print("skipped: there is no Chromium here; `make check-browser` installs it", file=sys.stderr)
        return 0
    if chosen.pictures:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pages = chosen.pages
        if pages is None:
            pages = Path(folder) / "pages"
            samples(pages)
        found = sorted(pages.glob("*.html"))
        if not found:
            print(f"{pages} has no pages (*.html)", file=sys.stderr)
            return 1
        browser = Browser(program, Path(folder) / "profile")
        bad = 0
        try:
            for page in found:
                wrong = check(browser, page, chosen.pictures)
                bad += bool(wrong)
                print(f"{page.stem}: {'fine' if not wrong else f'{len(wrong)} complaints'}")
                for text in wrong[:12]:
                    print(f"  {text}")
        finally:
            browser.close()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
