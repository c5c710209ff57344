"""Gives a Python program that loads ``libnvidia-ml.so.1`` the simulated driver instead.

This folder comes first on PYTHONPATH when ``gpuscope simulate run`` starts a program. Python imports this module by
itself at start; another ``sitecustomize`` that it hides is run afterwards.
"""

import os
import runpy
import sys
from pathlib import Path


def _hook() -> None:
    from gpuscope import simulate
    from gpuscope.simulate.launch import install

    driver = simulate.SimulatedDriver(
        simulate.load(os.environ["GPUSCOPE_SIMULATE"]),
        clock=simulate.RealClock(float(os.environ.get("GPUSCOPE_SIMULATE_SPEED", "1"))),
        seed=os.environ.get("GPUSCOPE_SIMULATE_SEED", "node-a"),
    )
    install(driver)


def _run_hidden() -> None:
    here = Path(__file__).resolve().parent
    for entry in sys.path:
        hidden = Path(entry or ".") / "sitecustomize.py"
        if hidden.is_file() and hidden.resolve().parent != here:
            runpy.run_path(str(hidden), run_name="sitecustomize")
            return


if os.environ.get("GPUSCOPE_SIMULATE_HOOK"):
    _hook()
    _run_hidden()
