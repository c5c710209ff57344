"""Gives a Python program that loads ``libnvidia-ml.so.1`` the simulated driver instead.

This folder comes first on PYTHONPATH when ``gpuscope simulate run`` starts a program. Python imports this module by
itself at start; another ``sitecustomize`` that it hides is run afterwards.
"""

import os
import runpy
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _hook() -> None:
    try:
        import gpuscope  # noqa: F401
    except ImportError:
        # The program has an environment of its own: gpuscope comes from where this file is.
        sys.path.append(str(_HERE.parents[2]))
    from gpuscope import simulate
    from gpuscope.errors import ConfigError

    try:
        scenario = simulate.load(os.environ["GPUSCOPE_SIMULATE"])
    except ConfigError as error:
        # Going on would mean to show real GPUs, or none, in the place of those asked for; and an exception here
        # would be reported as a broken installation of Python.
        sys.stderr.write(f"gpuscope simulate: {error}\n")
        sys.stderr.flush()
        os._exit(2)
    clock = simulate.RealClock(float(os.environ.get("GPUSCOPE_SIMULATE_SPEED", "1")))
    seed = os.environ.get("GPUSCOPE_SIMULATE_SEED", "node-a")
    simulate.install(simulate.SimulatedDriver(scenario, clock=clock, seed=seed))


def _run_hidden() -> None:
    for entry in sys.path:
        hidden = Path(entry or ".") / "sitecustomize.py"
        if hidden.is_file() and hidden.resolve().parent != _HERE:
            runpy.run_path(str(hidden), run_name="sitecustomize")
            return


if os.environ.get("GPUSCOPE_SIMULATE_HOOK"):
    _hook()
    _run_hidden()
