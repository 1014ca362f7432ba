"""A real browser, driven over the WebDriver protocol with the standard library alone."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

BROWSERS, DRIVERS = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


def found():
    """The paths of browser and driver, or None where one of them is missing."""
    paths = [next(filter(None, map(shutil.which, names)), None) for names in (BROWSERS, DRIVERS)]
    return paths if all(paths) else None


class Browser:
    """One headless session, closed with its driver and its profile."""

    def __init__(self):
        browser, driver = found()
        self.profile = tempfile.TemporaryDirectory(prefix="npconv-browser-", ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(
            [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.base = f"http://127.0.0.1:{self._port()}"
        options = {"binary": browser, "args": [*ARGUMENTS, f"--user-data-dir={self.profile.name}"]}
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        session = self._send("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]
        self.base += f"/session/{session}"

    def _port(self):
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rstrip().rstrip(".").rsplit(" ", 1)[1])
        raise RuntimeError("the driver did not start")

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data, {"Content-Type": "application/json"}, method=method
        )
        # No proxy stands between this machine and itself.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, path, fragment=""):
        self._send("POST", "/url", {"url": "about:blank"})
        self._send("POST", "/url", {"url": f"file://{os.path.abspath(path)}{fragment}"})

    def run(self, script, *arguments):
        """What the body of a function returns that runs in the page."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def resize(self, width, height):
        """The size of the page itself, however small a window the system allows."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)

    def media(self, **features):
        """The reader's preferences, as media(prefers_color_scheme="dark")."""
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.devtools("Emulation.setEmulatedMedia", {"features": listed})

    def devtools(self, command, parameters):
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def press(self, *keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def hover(self, selector):
        element = self._send("POST", "/element", {"using": "css selector", "value": selector})
        move = {"type": "pointerMove", "origin": element, "x": 0, "y": 0, "duration": 0}
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        self._send("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def click(self, selector):
        element = self._send("POST", "/element", {"using": "css selector", "value": selector})
        (name,) = [key for key in element if key.startswith("element-")]
        self._send("POST", f"/element/{element[name]}/click", {})

    def errors(self):
        """What the page has complained of since it was last asked."""
        return [entry["message"] for entry in self._send("POST", "/se/log", {"type": "browser"})]

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._send("GET", "/screenshot")))

    def wait(self, script, *arguments, seconds=10):
        """Until the script returns something true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script, *arguments):
                return value
            time.sleep(0.05)
        raise TimeoutError(script)

    def close(self):
        try:
            self._send("DELETE", "", None)
        finally:
            self.driver.terminate()
            self.driver.communicate(timeout=20)
            self.profile.cleanup()
