/* compile_kernels LIST: compile OpenCL kernels and describe the device, for tools/mali.
 *
 * LIST is a file with a line for each kernel: the file of its source, its name and the compiler's options, with tabs
 * between them. First come the device's properties, a line "edged device NAME VALUE" each; then for each line of LIST,
 * counted from 0:
 *
 *     edged begin NUMBER
 *     …                     what the compiler prints of itself
 *     edged private BYTES   of a work-item's arrays and registers that lie in memory
 *     edged group ITEMS     the largest work-group, or: edged failed STATUS, and the compiler's log
 *     edged end NUMBER
 *
 * A program that takes longer than LIMIT_S has a begin and no end, and so has one at which the compiler crashes.
 * Exit code 1: no device, or no such list.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_S 120  /* for one program: where registers are far too few, a compiler may never end */

static cl_device_id device;

static void print_text(const char *name, cl_device_info what)
{
    char text[16384] = "";
    clGetDeviceInfo(device, what, sizeof text, text, NULL);
    printf("edged device %s %s\n", name, text);
}

/* Integers of 4 or of 8 bytes: the driver writes as many as the property has, the lowest first. */
static void print_number(const char *name, cl_device_info what)
{
    cl_ulong number = 0;
    clGetDeviceInfo(device, what, sizeof number, &number, NULL);
    printf("edged device %s %llu\n", name, (unsigned long long)number);
}

static void describe(cl_platform_id platform)
{
    char name[256] = "";
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    printf("edged device platform %s\n", name);
    print_text("name", CL_DEVICE_NAME);
    print_text("version", CL_DEVICE_VERSION);
    print_text("driver_version", CL_DRIVER_VERSION);
    print_text("extensions", CL_DEVICE_EXTENSIONS);
    print_number("type", CL_DEVICE_TYPE);
    print_number("max_compute_units", CL_DEVICE_MAX_COMPUTE_UNITS);
    print_number("global_mem_size", CL_DEVICE_GLOBAL_MEM_SIZE);
    print_number("native_vector_width_float", CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    print_number("mem_base_addr_align", CL_DEVICE_MEM_BASE_ADDR_ALIGN);
    print_number("host_unified_memory", CL_DEVICE_HOST_UNIFIED_MEMORY);
    print_number("max_work_group_size", CL_DEVICE_MAX_WORK_GROUP_SIZE);
}

/* Return the content of a file, which the process keeps; ends it where the file cannot be read. */
static char *content_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        exit(1);
    }
    const long size = ftell(file);
    char *content = calloc(1, size + 1);
    rewind(file);
    if (!content || fread(content, 1, size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return content;
}

static void print_failure(cl_int status, cl_program program)
{
    static char text[65536];
    text[0] = 0;
    if (program)
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL);
    printf("edged failed %d\n%s\n", status, text);
}

static void compile(cl_context context, const char *source, const char *name, const char *options)
{
    cl_int status;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    if (!status)
        status = clBuildProgram(program, 1, &device, options, NULL, NULL);
    cl_kernel kernel = status ? NULL : clCreateKernel(program, name, &status);
    size_t group = 0;
    cl_ulong private = 0;
    if (!status)
        status = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    if (!status)
        status = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private, &private, NULL);
    if (status)
        print_failure(status, program);
    else
        printf("edged private %llu\nedged group %zu\n", (unsigned long long)private, group);
    if (kernel)
        clReleaseKernel(kernel);
    if (program)
        clReleaseProgram(program);
}

int main(int count, char **arguments)
{
    cl_platform_id platform;
    cl_uint found = 0;
    if (count != 2 || clGetPlatformIDs(1, &platform, &found) || !found ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &found) || !found) {
        fprintf(stderr, "edged: no OpenCL device\n");
        return 1;
    }
    describe(platform);
    cl_int status;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (status) {
        fprintf(stderr, "edged: no OpenCL context: status %d\n", status);
        return 1;
    }
    char *rest, *list = content_of(arguments[1]);
    int number = 0;
    for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), number++) {
        char *fields, *path = strtok_r(line, "\t", &fields), *name = strtok_r(NULL, "\t", &fields);
        printf("edged begin %d\n", number);
        fflush(stdout);  /* the compiler prints on standard error */
        alarm(LIMIT_S);  /* which ends this process: the rest is for another one */
        compile(context, content_of(path), name, fields);
        alarm(0);
        printf("edged end %d\n", number);
        fflush(stdout);
    }
    return 0;
}
