"""The real binding on simulated drivers whose clock the test moves."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pynvml as nvml  # noqa: TID251 - these tests stand on both sides of the real binding
import pytest

from gpuscope import simulate


class Rig:
    """A driver, its clock, and handles by the binding."""

    def __init__(self, scenario: str, **options: Any) -> None:
        self.clock: Any = options.pop("clock", None) or simulate.ManualClock()
        self.driver = simulate.SimulatedDriver(simulate.load(scenario), clock=self.clock, **options)

    def attach(self) -> None:
        nvml.nvmlLib = None
        nvml._nvmlGetFunctionPointer_cache.clear()
        nvml.CDLL = lambda _name: self.driver.open()

    def gpu(self, index: int) -> Any:
        return nvml.nvmlDeviceGetHandleByIndex(index)

    def mig(self, index: int) -> list[Any]:
        """Handles of a GPU's MIG devices, found as programs find them."""
        parent, found = self.gpu(index), []
        for number in range(nvml.nvmlDeviceGetMaxMigDeviceCount(parent)):
            try:
                found.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(parent, number))
            except nvml.NVMLError_NotFound:
                continue
        return found

    def fields(self, index: int, *wanted: Any) -> list[Any]:
        return list(nvml.nvmlDeviceGetFieldValues(self.gpu(index), list(wanted)))


@pytest.fixture
def rig() -> Iterator[Callable[..., Rig]]:
    """Makes rigs with NVML initialised: ``rig("h100x8")``; ``init=False`` leaves that to the test."""
    real = nvml.CDLL

    @contextmanager
    def running(scenario: str, *, init: bool = True, **options: Any) -> Iterator[Rig]:
        one = Rig(scenario, **options)
        one.attach()
        if init:
            nvml.nvmlInit()
        try:
            yield one
        finally:
            one.driver.close()
            assert one.driver.callback_errors == []

    try:
        with ExitStack() as stack:
            yield lambda scenario, **options: stack.enter_context(running(scenario, **options))
    finally:
        nvml.CDLL, nvml.nvmlLib = real, None
        nvml._nvmlGetFunctionPointer_cache.clear()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], str]:
    """Writes a scenario file and returns its path."""

    def write_file(text: str) -> str:
        path = tmp_path / "mine.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write_file
