"""Compile a source for a device; on PoCL without the header that declares every built-in function for every type.

`kernels/pocl_builtins.cl` says how, and declares what kernels use in its place.
"""

import logging
import warnings
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from edged.engine.device import POCL, Device
from edged.engine.opencl import cl, in_one_line

log = logging.getLogger(__name__)

WITHOUT_HEADER = "-D_OPENCL_H_"


def compile_source(context: Any, device: Device, source: str, options: Sequence[str]) -> Any:
    """Return `source` as a built program. Raises cl.Error with what the compiler says of `source` alone.

    Whatever the compiler rejects with the declarations of `shortened`, it gets again with those of its own header.
    """
    short, short_options = shortened(device, source, options)
    if short != source:
        try:
            return build(cl.Program(context, short), short_options)
        except cl.Error as error:
            log.debug("compiling again with the whole header of OpenCL: %s", in_one_line(error))
    return build(cl.Program(context, source), options)


def shortened(device: Device, source: str, options: Sequence[str]) -> tuple[str, list[str]]:
    """Return source and options with which PoCL reads no long header; both as they are for any other compiler.

    PoCL for other devices than CPUs has not been tried.
    """
    if device.platform != POCL or device.kind != "cpu":
        return source, list(options)
    return pocl_builtins() + source, [*options, WITHOUT_HEADER]


@cache
def pocl_builtins() -> str:
    """Read the declarations of the built-in functions that kernels use."""
    return (files("edged.engine") / "kernels" / "pocl_builtins.cl").read_text("utf-8")


def build(program: Any, options: Sequence[str]) -> Any:
    """Build `program`. Some drivers report success so verbosely that pyopencl takes it for a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        return program.build(list(options))
