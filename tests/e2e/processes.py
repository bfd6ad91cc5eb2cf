"""Our programs as processes of their own, to be stopped, killed and started again by tests."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

LOST_THE_LEAD = 3  # exit code
STOP_S = 30


class HeadroomProcess:
    """Ready when `start` returns; its log goes to a file that a failed test shows."""

    def __init__(self, log: Path, *arguments: str) -> None:
        self._arguments = arguments
        self._log = log
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Self:
        """Start it and wait until it says that it is ready."""
        command = (sys.executable, "-m", "headroom", *self._arguments)
        with self._log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self._process.stdout.readline() if self._process.stdout else ""
        if line.strip() != "ready":
            self.kill()
            raise AssertionError(f"headroom {self._arguments[0]} did not get ready:\n{self.log()}")
        return self

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The pid while it runs, else None."""
        return self._process.pid if self._process is not None and self.alive else None

    @property
    def exit_code(self) -> int | None:
        """What it ended with by itself; None while it runs, and where we ended it."""
        return self._process.poll() if self._process is not None else None

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and see that it does."""
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Let it keep its connections and answer nothing."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def log(self, lines: int = 60) -> str:
        return "\n".join(self._log.read_text(encoding="utf-8").splitlines()[-lines:])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            print(self.log(), file=sys.stderr)
        self.stop()

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(STOP_S)
        finally:
            self._process.kill()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process.wait()
            self._process = None


class OperatorProcess(HeadroomProcess):
    """The operator; once it is ready it leads."""

    def start_if_it_lost_the_lead(self) -> None:
        """Do what its Deployment would: an API server that does not answer costs the lead."""
        if self.exit_code == LOST_THE_LEAD:
            self.kill()
            self.start()

    def __init__(self, kubeconfig: Path, log: Path, *flags: str) -> None:
        super().__init__(log, "run", "--kubeconfig", str(kubeconfig), *flags)


class WebhookProcess(HeadroomProcess):
    """The webhook; once it is ready API servers know whom to trust."""

    def __init__(self, kubeconfig: Path, log: Path, port: int, *flags: str) -> None:
        listen = ("--listen", f"127.0.0.1:{port}")
        super().__init__(log, "webhook", "--kubeconfig", str(kubeconfig), *listen, *flags)
