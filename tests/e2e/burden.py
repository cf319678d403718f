"""What a process of the product costs: its memory at the most, and its time on the processor."""

from pathlib import Path

import psutil


class Burden:
    """Of one process, from now on."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._status = Path(f"/proc/{pid}/status")
        Path(f"/proc/{pid}/clear_refs").write_text("5")
        self._before_mb = self._read("VmRSS")
        self._before_s = self._cpu_s()

    def more_mb(self) -> float:
        """How much more memory than at the start it held at the most."""
        return self._read("VmHWM") - self._before_mb

    def cpu_s(self) -> float:
        return self._cpu_s() - self._before_s

    def _cpu_s(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def _read(self, name: str) -> float:
        [line] = [line for line in self._status.read_text().splitlines() if line.startswith(name)]
        return int(line.split()[1]) / 1024
