"""What all sections of the file have in common."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from edged.address import HOST_AND_PORT, ZMQ_ADDRESS, host_and_port, is_ipc, is_local

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"


def _with_port(address: str) -> str:
    """Raises ValueError for a port that cannot be."""
    if not is_ipc(address) and not 1 <= host_and_port(address)[1] <= 65535:
        raise ValueError("the port must be 1 to 65535")
    return address


def _one_or_three(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Raises ValueError."""
    if len(numbers) not in {1, 3}:
        raise ValueError(f"expected three numbers, or one for a gray network, found {len(numbers)}")
    return numbers


Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[str, Field(min_length=1, max_length=4096)]
Share = Annotated[float, Field(ge=0, le=1)]
Pixels = Annotated[int, Field(ge=1, le=16384)]
Positive = Annotated[float, Field(gt=0)]
ByChannel = Annotated[tuple[float, ...], AfterValidator(_one_or_three)]
PositiveByChannel = Annotated[tuple[Positive, ...], AfterValidator(_one_or_three)]
ZmqAddress = Annotated[str, Field(pattern=ZMQ_ADDRESS), AfterValidator(_with_port)]
HttpAddress = Annotated[str, Field(pattern=HOST_AND_PORT), AfterValidator(_with_port)]


class Section(BaseModel):
    """A part of the file: unknown keys are refused, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


def local_or_protected(address: str, info: ValidationInfo) -> str:
    """An address of this host, or one that may be open to others. Raises ValueError."""
    if is_local(address) or info.data.get("insecure") or is_encrypted(info):
        return address
    raise ValueError(
        "is open to other hosts, unencrypted: use 127.0.0.1, or add security: with keys "
        "(`edged keys new`), or insecure: true beside it"
    )


def is_encrypted(info: ValidationInfo) -> bool:
    """Whether the file has a section `security`, as the reader says, which has seen all of it."""
    return bool(info.context and info.context.get("security"))
