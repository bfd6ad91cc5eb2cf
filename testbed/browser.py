"""A real Chromium, controlled over the DevTools protocol: enough to view a page and use it.

The browser runs headless in its own process; a thread with an event loop talks to it, so that tests
stay plain functions. Every error that a page logs, and every violation of its
Content-Security-Policy, is kept.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from testbed.packages import Program, program

T = TypeVar("T")
PATIENCE_S = 120.0
LOOK_S = 0.05
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # CI runs as root; only pages of ours are opened.
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",
)
# Runs before any script of a page: violations of the policy are kept where tests find them.
LISTENER = (
    "globalThis.violations = [];"
    "document.addEventListener('securitypolicyviolation',"
    " (found) => globalThis.violations.push(found.violatedDirective + ' ' + found.blockedURI));"
)


def find_browser() -> Program:
    """The browser of this machine, or of a package; PackageUnavailable if there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell")
    return program("chromium", names, override="HEADROOM_BROWSER")


class Browser:
    """One running browser; `page` opens a tab."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._session = self.run(self._open())

    async def _open(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(f"http://127.0.0.1:{self._port}")

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    @contextmanager
    def page(
        self,
        url: str,
        dark: bool = False,
        size: tuple[int, int] = (1200, 900),
        early: str = "",
    ) -> Iterator[Page]:
        """A tab that shows a page; closed at the end. `early` runs before the page's scripts."""
        tab = self.run(self._new_tab())
        page = Page(self, tab[0], tab[1])
        try:
            page.begin(url, dark, size, early)
            yield page
        finally:
            self.run(self._close_tab(tab[0], tab[1]))

    async def _new_tab(self) -> tuple[aiohttp.ClientWebSocketResponse, str]:
        async with self._session.put("/json/new?about:blank") as answer:
            found = await answer.json()
        socket = await self._session.ws_connect(found["webSocketDebuggerUrl"], max_msg_size=0)
        return socket, found["id"]

    async def _close_tab(self, socket: aiohttp.ClientWebSocketResponse, tab: str) -> None:
        await socket.close()
        async with self._session.get(f"/json/close/{tab}"):
            return

    def close(self) -> None:
        self.run(self._session.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()


class Page:
    """A tab: read it, click, type, take a screenshot."""

    def __init__(self, browser: Browser, socket: aiohttp.ClientWebSocketResponse, tab: str) -> None:
        self._browser = browser
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._reading = browser.run(self._start())

    async def _start(self) -> asyncio.Task[None]:
        return asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._socket:
            told = json.loads(message.data)
            if "id" in told:
                self._answers.pop(told["id"]).set_result(told)
            else:
                self._note(told.get("method", ""), told.get("params", {}))

    def _note(self, method: str, told: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(told["exceptionDetails"])[:1000])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
            self.errors.append(json.dumps(told["args"])[:1000])
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.errors.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol; its answer, or a RuntimeError."""
        told = self._browser.run(self._ask(method, parameters))
        if "error" in told:
            raise RuntimeError(f"{method}: {told['error']}")
        found: dict[str, Any] = told.get("result", {})
        return found

    async def _ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        answer = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        await self._socket.send_str(
            json.dumps({"id": number, "method": method, "params": parameters})
        )
        return await asyncio.wait_for(answer, PATIENCE_S)

    def begin(self, url: str, dark: bool, size: tuple[int, int], early: str) -> None:
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=False,
        )
        self.send("Page.addScriptToEvaluateOnNewDocument", source=LISTENER + early)
        self.go(url)

    def go(self, url: str) -> None:
        self.send("Page.navigate", url=url)

    def eval(self, expression: str) -> Any:
        """The value of an expression in the page."""
        told = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in told:
            raise RuntimeError(json.dumps(told["exceptionDetails"])[:1000])
        return told["result"].get("value")

    def until(self, expression: str, seconds: float = PATIENCE_S) -> Any:
        """Wait until an expression is true, and return it."""
        end = time.monotonic() + seconds
        while True:
            value = self._tried(expression)
            if value:
                return value
            if time.monotonic() > end:
                text = self._tried("document.body.innerText") or ""
                raise AssertionError(f"never true: {expression}\n{self.errors}\n{text[:3000]}")
            time.sleep(LOOK_S)  # The page is drawn when the browser likes.

    def _tried(self, expression: str) -> Any:
        try:
            return self.eval(expression)
        except RuntimeError:  # The page is being loaded.
            return None

    def text(self, selector: str) -> str:
        return str(self.eval(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def click(self, selector: str) -> None:
        self.until(f"!!document.querySelector({json.dumps(selector)})")
        self.eval(f"document.querySelector({json.dumps(selector)}).click()")

    def choose(self, selector: str, value: str) -> None:
        """Set a field as a user would: value, then its events."""
        self.eval(
            f"(() => {{ const field = document.querySelector({json.dumps(selector)});"
            f" field.value = {json.dumps(value)};"
            " for (const kind of ['input', 'change'])"
            " field.dispatchEvent(new Event(kind, {bubbles: true})); })()"
        )

    def key(self, name: str) -> None:
        """Press a key."""
        text = {"Enter": "\r"}.get(name, "")
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            codes = {"windowsVirtualKeyCode": {"Enter": 13, "Tab": 9, "Escape": 27}.get(name, 0)}
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, **codes, **extra)

    @property
    def violations(self) -> list[str]:
        found: list[str] = self.eval("globalThis.violations")
        return found

    def picture(self, file: Path) -> None:
        """A screenshot of what is seen."""
        file.write_bytes(
            base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        )


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A browser with its own profile; all its processes are ended at the end."""
    found = find_browser()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [str(found.path), *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            env={**os.environ, **found.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            browser = Browser(_port(Path(profile), process))
            try:
                yield browser
            finally:
                browser.close()
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def _port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    """The port of the protocol, which the browser writes into a file once it listens."""
    file = profile / "DevToolsActivePort"
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if file.exists() and (lines := file.read_text().split()):
            return int(lines[0])
        if process.poll() is not None:
            raise RuntimeError(f"the browser ended with {process.returncode}")
        time.sleep(LOOK_S)  # It starts when it likes.
    raise RuntimeError("the browser does not get ready")
