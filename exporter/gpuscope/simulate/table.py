"""How simulated functions are written down: a C signature and a Python function."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import NOT_SUPPORTED, UNINITIALIZED, Status, put, text

__all__ = ["Entry", "Function", "either", "getter", "mig_off", "physical", "refused", "system", "text_getter"]

Function = Callable[..., int]
Entry = tuple[str, Function]
"""Argument types (``p`` pointer or handle, ``s`` C string, ``u`` unsigned int, ``i`` int, ``q`` unsigned long long)
and function."""


def system(function: Callable[..., int]) -> Function:
    """For functions without a device."""

    @wraps(function)
    def call(node: Node, *rest: Any) -> int:
        node.tick()
        if not node.initialized:
            raise Status(UNINITIALIZED)
        return function(node, *rest)

    return call


def physical(function: Callable[..., int]) -> Function:
    """For functions of physical GPUs; a MIG device answers "not supported"."""

    @wraps(function)
    def call(node: Node, handle: int, *rest: Any) -> int:
        gpu, instance = node.find(handle)
        if instance is not None:
            raise Status(NOT_SUPPORTED)
        with gpu.lock:
            gpu.advance(node.clock.now())
            return function(node, gpu, *rest)

    return call


def either(function: Callable[..., int]) -> Function:
    """For functions that MIG devices answer too: the function gets the GPU and the MIG device or ``None``."""

    @wraps(function)
    def call(node: Node, handle: int, *rest: Any) -> int:
        gpu, instance = node.find(handle)
        with gpu.lock:
            gpu.advance(node.clock.now())
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


def text_getter(value: Callable[[SimGpu, SimMig | None], str | None]) -> Entry:
    """A function that fills a buffer with text; ``None`` answers "not supported"."""

    @either
    def call(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int, size: int) -> int:
        found = value(gpu, instance)
        if found is None:
            raise Status(NOT_SUPPORTED)
        return text(pointer, size, found)

    return "ppu", call


def refused(code: int, signature: str) -> Entry:
    """A function of a device that always answers the same error."""

    @either
    def call(_node: Node, _gpu: SimGpu, _instance: SimMig | None, *_rest: Any) -> int:
        raise Status(code)

    return signature, call


def mig_off(gpu: SimGpu) -> bool:
    """Whether the GPU answers what a parent in MIG mode does not."""
    return not gpu.mig_mode
