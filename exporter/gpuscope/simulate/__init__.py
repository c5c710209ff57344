"""A simulated NVIDIA driver below the real binding: for demos, tests, and whoever has no GPU at hand."""

from gpuscope.simulate.clock import Clock, ManualClock, RealClock
from gpuscope.simulate.driver import SimulatedDriver
from gpuscope.simulate.filesystems import SimulatedFilesystems
from gpuscope.simulate.launch import environment, install, uninstall
from gpuscope.simulate.scenario import Scenario, ScenarioInfo, load, scenarios
from gpuscope.simulate.tenants import SimulatedTenants

__all__ = [
    "Clock",
    "ManualClock",
    "RealClock",
    "Scenario",
    "ScenarioInfo",
    "SimulatedDriver",
    "SimulatedFilesystems",
    "SimulatedTenants",
    "environment",
    "install",
    "load",
    "scenarios",
    "uninstall",
]
