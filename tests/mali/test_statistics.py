"""What Mesa's compilers print is read in each of its forms."""

import pytest

from edged.errors import DeviceError
from tools.mali.statistics import Compiled, device_of, read_output, read_statistics

MIDGARD = (
    "SHADER-DB: MESA_SHADER_KERNEL shader: 90 inst, 41 bundles, 60 quadwords, 5 registers, 2 threads, 1 loops, "
    "0:0 spills:fills"
)
BIFROST = (
    "SHADER-DB: MESA_SHADER_KERNEL shader: 300 inst, 200 tuples, 40 clauses, 12.000000 cycles, 8.250000 arith, "
    "0.000000 texture, 0.000000 vary, 12.000000 ldst, 150 quadwords, 1 threads, 0 preloads, 3 loops, "
    "4:17 spills:fills"
)
VALHALL = (
    "SHADER-DB: MESA_SHADER_KERNEL shader: 400 inst, 9.000000 cycles, 2.000000 fma, 1.500000 cvt, 3.000000 sfu, "
    "0.000000 v, 0.000000 t, 9.000000 ls, 70 quadwords, 2 threads, 0 loops, 0:0 spills:fills"
)
MESA_26 = (
    "MESA_SHADER_KERNEL shader: 500 instrs, 20.000000 cycles, 2.000000 fma, 4.000000 cvt, 3.000000 sfu, "
    "0.000000 v, 0.000000 t, 20.000000 ls, 4096 code size, 1 threads, 2 loops, 3:20 spills:fills, 900 spill cost, "
    "64 registers used, 8 uniforms used"
)
VIDEOCORE = (
    "SHADER-DB-(null) - MESA_SHADER_COMPUTE shader: 67 inst, 4 threads, 1 loops, 9 uniforms, 12 max-temps, "
    "2:3 spills:fills, 0 sfu-stalls, 70 inst-and-stalls, 4 nops"
)
G52 = (
    "edged device platform rusticl\nedged device name Mali-G52 (Panfrost)\nedged device version OpenCL 3.0 \n"
    "edged device driver_version 25.0.7-2\nedged device extensions cl_khr_fp16 cl_khr_integer_dot_product\n"
    "edged device type 4\nedged device max_compute_units 4\nedged device global_mem_size 4096000000\n"
    "edged device native_vector_width_float 1\nedged device mem_base_addr_align 4096\n"
    "edged device host_unified_memory 1\nedged device max_work_group_size 256\n"
)
ADRENO = """\
MESA: info: :6:0003:0000[c0c20001x_00000002x] stp.u32 p[0], r1.x, 1
MESA: info: ; CL prog 2/1: 91 instr, 39 nops, 52 non-nops, 5 mov, 4 cov, 160 dwords
MESA: info: ; CL prog 2/1: 0 last-baryf, 0 last-helper, 0 half, 6 full, 12 constlen
MESA: info: ; CL prog 2/1: 0 sstall, 0 (ss), 110 systall, 1 (sy), 0 loops
MESA: info: :6:0004:0000[c1460001x_01800004x] stp.u32 p[4], r1.x, 1
MESA: info: :6:0009:0000[c1460001x_01800004x] ldp.u32 r1.x, p[4], 1
MESA: info: :6:0012:0000[c1460001x_01800004x] (sy)ldp.u32 r1.y, p[4], 1
MESA: info: ; CL prog 3/1: 120 instr, 39 nops, 81 non-nops, 5 mov, 4 cov, 160 dwords
MESA: info: ; CL prog 3/1: 0 last-baryf, 0 last-helper, 2 half, 12 full, 12 constlen
MESA: info: ; CL prog 3/1: 0 sstall, 0 (ss), 110 systall, 1 (sy), 2 loops"""


@pytest.mark.parametrize(
    ("line", "unit", "cycles", "registers", "threads", "loops", "spills"),
    [
        (MIDGARD, "bundles", 41, 5, 2, 1, (0, 0)),
        (BIFROST, "arith", 8.25, None, 1, 3, (4, 17)),
        (VALHALL, "fma", 2, None, 2, 0, (0, 0)),
        (MESA_26, "ls", 20, 64, 1, 2, (3, 20)),
        (VIDEOCORE, "inst-and-stalls", 70, 12, 4, 1, (2, 3)),
    ],
    ids=["Midgard", "Bifrost", "Valhall", "Mesa 26", "VideoCore"],
)
def test_a_line_has_cycles_by_unit_registers_and_spills(
    line: str, unit: str, cycles: float, registers: int | None, threads: int, loops: int, spills: tuple[int, int]
) -> None:
    found = read_statistics(line)

    assert found
    assert found.counts[unit] == cycles
    assert (found.registers, found.threads, found.loops) == (registers, threads, loops)
    assert (found.spills, found.fills) == spills


@pytest.mark.parametrize("line", ["", "Unknown parameter 43", "MESA_SHADER_FRAGMENT shader: 1 inst"])
def test_other_lines_have_no_statistics(line: str) -> None:
    assert read_statistics(line) is None


def test_a_form_that_is_not_understood_is_an_error() -> None:
    with pytest.raises(DeviceError, match="not understood"):
        read_statistics("MESA_SHADER_KERNEL shader: 4 inst, many registers")


def test_of_the_two_kernels_that_mesa_compiles_the_one_for_offsets_of_zero_counts() -> None:
    general = VALHALL.replace("400 inst", "410 inst")

    output = read_output(f"edged begin 0\n{general}\n{VALHALL}\nedged private 48\nedged group 256\nedged end 0\n")

    found = output.compiled[0].statistics
    assert found
    assert found.counts["inst"] == 400
    assert (output.compiled[0].largest_group, output.compiled[0].private_bytes) == (256, 48)


def test_of_adrenos_kernels_the_last_counts_with_what_it_stores_and_loads_of_its_registers() -> None:
    output = read_output(f"edged begin 0\n{ADRENO}\nedged private 8\nedged group 1024\nedged end 0\n")

    found = output.compiled[0].statistics
    assert found
    assert (found.counts["instr"], found.registers, found.threads, found.loops) == (120, 12, 16, 2)
    assert (found.spills, found.fills) == (1, 2)


def test_a_program_that_fails_has_the_compilers_words_and_the_next_one_its_own_result() -> None:
    output = read_output(
        "edged begin 0\nedged failed -11\n\nunknown type name 'flaot'\nin line 3\nedged end 0\n"
        f"edged begin 1\n{VALHALL}\nedged group 64\nedged end 1\n"
    )

    assert output.compiled[0] == Compiled(failure="OpenCL error -11: unknown type name 'flaot' in line 3")
    assert output.compiled[1].largest_group == 64


def test_a_program_without_statistics_has_failed() -> None:
    assert read_output("edged begin 0\nedged group 64\nedged end 0").compiled[0].failure


def test_a_program_that_ended_the_process_is_named() -> None:
    output = read_output(
        f"edged begin 0\n{VALHALL}\nedged group 64\nedged end 0\nedged begin 1\nqemu: signal 11\n"
    )

    assert list(output.compiled) == [0]
    assert output.unfinished == 1


def test_the_device_is_described_as_edged_describes_one_that_is_present() -> None:
    device = device_of(read_output(G52).properties)

    assert (device.platform, device.name, device.kind) == ("rusticl", "Mali-G52 (Panfrost)", "gpu")
    assert (device.compute_units, device.alignment, device.release) == (4, 512, (25, 0, 7))
    assert (device.fp16, device.integer_dot, device.unified_memory) == (True, True, True)


@pytest.mark.parametrize(("reported", "units"), [(4, 4), (9999, 2)])
def test_a_number_of_units_that_stands_for_none_is_the_fewest(reported: int, units: int) -> None:
    output = read_output(G52.replace("max_compute_units 4", f"max_compute_units {reported}"))

    assert device_of(output.properties).compute_units == units


def test_no_gpu_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(DeviceError, match="remove the root"):
        device_of({})
