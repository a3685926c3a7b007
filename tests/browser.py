"""Headless Chromium for tests that look at pages as a person does, driven by chromedriver over plain HTTP."""

import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

MISSING = not (shutil.which("chromium") and shutil.which("chromedriver"))
"""Whether this machine has no Chromium."""

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
    "--window-size=1400,1000",
]


class Browser:
    """One window.

    Args:
        folder: A new one for what the browser keeps.
    """

    def __init__(self, folder: Path) -> None:
        self._driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        line = ""
        while "started successfully on port" not in line:
            line = self._driver.stdout.readline()
        port = line.split("port ")[1].strip().rstrip(".")
        self._url = f"http://127.0.0.1:{port}"
        options = {"binary": shutil.which("chromium"), "args": [*FLAGS, f"--user-data-dir={folder}"]}
        capabilities = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        self._url += f"/session/{self._post('/session', capabilities)['sessionId']}"

    def open(self, address: str) -> None:
        self._post("/url", {"url": address})

    def run(self, script: str):
        """What some JavaScript returns."""
        return self._post("/execute/sync", {"script": script, "args": []})

    def text(self) -> str:
        """What a person reads on the page."""
        return self.run("return document.body.innerText")

    def wait_for(self, script: str, seconds: float = 60.0):
        """The first true thing that some JavaScript returns; nothing if it never does."""
        deadline = time.monotonic() + seconds
        while not (found := self.run(script)) and time.monotonic() < deadline:
            time.sleep(0.3)
        return found

    def picture(self, path: Path) -> None:
        """Keep what is seen, for whoever looks into a failure."""
        with urllib.request.urlopen(f"{self._url}/screenshot", timeout=60) as answer:
            path.write_bytes(base64.b64decode(json.load(answer)["value"]))

    def close(self) -> None:
        try:
            urllib.request.urlopen(urllib.request.Request(self._url, method="DELETE"), timeout=30).close()
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=30)

    def _post(self, path: str, content: dict):
        body = json.dumps(content).encode()
        request = urllib.request.Request(self._url + path, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]


def wait_for_server(address: str, seconds: float = 300.0) -> None:
    """Until a server answers."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(address, timeout=10).close()
        except (OSError, urllib.error.URLError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
        else:
            return
