"""How simulated functions are written down: a C signature and a Python function."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from gpuscope.simulate.device import SimGpu, SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import NOT_SUPPORTED, Status, put

__all__ = ["Entry", "Function", "either", "getter", "physical"]

Function = Callable[..., int]
Entry = tuple[str, Function]
"""Argument types (``p`` pointer or handle, ``u`` unsigned int, ``i`` int, ``q`` unsigned long long) and function."""


def physical(function: Callable[..., int]) -> Function:
    """For functions of physical GPUs; a MIG device answers "not supported"."""

    @wraps(function)
    def call(node: Node, handle: int, *rest: Any) -> int:
        gpu, instance = node.find(handle)
        if instance is not None:
            raise Status(NOT_SUPPORTED)
        return function(node, gpu, *rest)

    return call


def either(function: Callable[..., int]) -> Function:
    """For functions that MIG devices answer too: the function gets the GPU and the MIG device or ``None``."""

    @wraps(function)
    def call(node: Node, handle: int, *rest: Any) -> int:
        gpu, instance = node.find(handle)
        return function(node, gpu, instance, *rest)

    return call


def getter(layout: str, value: Callable[[SimGpu], Any], *, when: Callable[[SimGpu], object] | None = None) -> Entry:
    """A function of a physical GPU with one out-parameter per value.

    Args:
        layout: one ``struct`` letter per out-parameter.
        value: the value, or a tuple of them.
        when: answers "not supported" where this is false.
    """

    @physical
    def call(_node: Node, gpu: SimGpu, *pointers: int) -> int:
        if when is not None and not when(gpu):
            raise Status(NOT_SUPPORTED)
        found = value(gpu)
        values = found if isinstance(found, tuple) else (found,)
        for pointer, letter, one in zip(pointers, layout, values, strict=True):
            put(pointer, letter, one)
        return 0

    return "p" * (len(layout) + 1), call


def mig_off(gpu: SimGpu) -> bool:
    """Whether the GPU answers what a parent in MIG mode does not."""
    return not gpu.mig_mode


def is_instance(instance: SimMig | None) -> bool:
    """Whether the handle was a MIG device's."""
    return instance is not None
