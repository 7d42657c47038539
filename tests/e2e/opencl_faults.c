/* LD_PRELOAD: in the process that takes away the file $OPENCL_FAULT, an OpenCL function fails from then on, as a driver
 * lets it fail whose device is lost. The file holds the function's name and the code that it returns. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char failing[64]; /* the function's name */
static int code;

static int is_loader(struct dl_phdr_info *library, size_t size, void *path) {
    (void)size;
    if (!strstr(library->dlpi_name, "libOpenCL")) return 0;
    *(const char **)path = library->dlpi_name;
    return 1;
}

/* Python loads it for pyopencl alone: RTLD_NEXT would not find it. */
static void *original(const char *function) {
    const char *path = NULL;
    dl_iterate_phdr(is_loader, &path);
    return dlsym(dlopen(path, RTLD_LAZY | RTLD_NOLOAD), function);
}

static int fails(const char *function) {
    const char *path = getenv("OPENCL_FAULT");
    char taken[4096];
    if (!*failing && path && !access(path, F_OK)) {
        snprintf(taken, sizeof taken, "%s.taken", path);
        if (!rename(path, taken)) {
            FILE *file = fopen(taken, "r");
            if (!file || fscanf(file, "%63s %d", failing, &code) != 2) abort();
            fclose(file);
        }
    }
    return !strcmp(failing, function);
}

int clEnqueueNDRangeKernel(void *queue, void *kernel, unsigned dimensions, const size_t *offset, const size_t *size,
                           const size_t *group, unsigned waits, const void *after, void *event) {
    if (fails(__func__)) return code;
    int (*real)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned, const void *,
                void *) = original(__func__);
    return real(queue, kernel, dimensions, offset, size, group, waits, after, event);
}

int clWaitForEvents(unsigned count, const void *events) {
    if (fails(__func__)) return code;
    int (*real)(unsigned, const void *) = original(__func__);
    return real(count, events);
}
