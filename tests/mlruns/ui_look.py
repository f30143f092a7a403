#!/usr/bin/env python3
"""ui_look.py FOLDER {NAME URL TEXT[;TEXT…] | NAME URL !SELECTOR}…: opens each address in headless Chromium, waits until the page shows all texts (or has an element
of the selector), keeps a picture FOLDER/NAME.png. Prints "ok NAME" or "not ok NAME: why". Speaks the DevTools protocol over Chromium's own pipe."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS = 90


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="ui-look")
        to_child, self.to = os.pipe()
        self.from_, from_child = os.pipe()

        def wire():  # the protocol's descriptors are 3 and 4
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.child = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--window-size=1800,1000", f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=wire, close_fds=False, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.rest, self.number = b"", 0
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]

    def call(self, method, /, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.time() + SECONDS
        while time.time() < end:
            while b"\0" in self.rest:
                line, self.rest = self.rest.split(b"\0", 1)
                reply = json.loads(line)
                if reply.get("id") == self.number:
                    return reply.get("result", {})
            if select.select([self.from_], [], [], 1)[0]:
                self.rest += os.read(self.from_, 1 << 20)
        raise TimeoutError(method)

    def page(self, method, /, **params):
        return self.call(method, self.session, **params)

    def value(self, expression):
        return self.page("Runtime.evaluate", expression=expression, returnByValue=True).get("result", {}).get("value")

    def close(self):
        os.close(self.to)
        self.child.kill()
        self.child.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def missing(browser, wanted):
    if wanted.startswith("!"):
        return [] if browser.value(f"document.querySelector({json.dumps(wanted[1:])}) !== null") else [wanted]
    text = browser.value("document.body.innerText + [...document.querySelectorAll('iframe')].map(f => f.contentDocument ? f.contentDocument.body.innerText : '').join()") or ""
    return [t for t in wanted.split(";") if t not in text]


def look(browser, folder, name, url, wanted):
    browser.page("Page.navigate", url="about:blank")
    browser.page("Page.navigate", url=url)
    end = time.time() + SECONDS
    lacking = [wanted]
    while lacking and time.time() < end:
        time.sleep(0.5)
        lacking = missing(browser, wanted)
    time.sleep(1)
    picture = browser.page("Page.captureScreenshot", format="png").get("data", "")
    with open(os.path.join(folder, name + ".png"), "wb") as f:
        f.write(base64.b64decode(picture))
    print(f"not ok {name}: {url} does not show {lacking}" if lacking else f"ok {name}", flush=True)


folder, rest = sys.argv[1], sys.argv[2:]
os.makedirs(folder, exist_ok=True)
browser = Browser(shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome"))
try:
    for i in range(0, len(rest), 3):
        look(browser, folder, *rest[i:i + 3])
finally:
    browser.close()
