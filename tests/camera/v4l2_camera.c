/* A Video4Linux camera that gives Motion JPEG, in the processes that preload this library.

   V4L2_RAW: if set, it gives YUYV until it is asked for Motion JPEG.
   V4L2_CAMERA: a regular file, which takes the place of the device; its pages are the buffers that a program maps.
   V4L2_PICTURES: a folder with 0.jpg, 1.jpg … , which the camera gives in turn, 25 in a second. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 320
#define HEIGHT 240
#define LENGTH (1 << 18)
#define BUFFERS 8

static unsigned queue[BUFFERS], queued, buffers, given;

static int is_camera(int descriptor)
{
    struct stat ours, camera;
    const char *path = getenv("V4L2_CAMERA");
    return path && !fstat(descriptor, &ours) && !stat(path, &camera) && ours.st_ino == camera.st_ino;
}

static int fails(int number)
{
    errno = number;
    return -1;
}

static int is_asked_for_jpeg;

static int is_raw(void)
{
    return getenv("V4L2_RAW") && !is_asked_for_jpeg;
}

static void choose(const struct v4l2_pix_format *format)
{
    if (format->pixelformat == V4L2_PIX_FMT_MJPEG || format->pixelformat == V4L2_PIX_FMT_YUYV)
        is_asked_for_jpeg = format->pixelformat == V4L2_PIX_FMT_MJPEG;
}

static void describe(struct v4l2_pix_format *format)
{
    memset(format, 0, sizeof *format);
    format->width = WIDTH;
    format->height = HEIGHT;
    format->pixelformat = is_raw() ? V4L2_PIX_FMT_YUYV : V4L2_PIX_FMT_MJPEG;
    format->field = V4L2_FIELD_NONE;
    format->sizeimage = LENGTH;
}

static int map_buffers(int descriptor, struct v4l2_requestbuffers *request)
{
    buffers = request->count < BUFFERS ? request->count : BUFFERS;
    request->count = buffers;
    queued = 0;
    return ftruncate(descriptor, (off_t)BUFFERS * LENGTH);
}

static int locate(struct v4l2_buffer *buffer)
{
    if (buffer->index >= buffers)
        return fails(EINVAL);
    buffer->length = LENGTH;
    buffer->m.offset = buffer->index * LENGTH;
    return 0;
}

static int enqueue(const struct v4l2_buffer *buffer)
{
    if (buffer->index >= buffers || queued == BUFFERS)
        return fails(EINVAL);
    queue[queued++] = buffer->index;
    return 0;
}

/* Write the next picture, or the first one again, into the buffer that waits longest. */
static int dequeue(int descriptor, struct v4l2_buffer *buffer)
{
    static char picture[LENGTH];
    char path[4096];
    struct timespec pause = {0, 40000000};
    if (!queued)
        return fails(EAGAIN);
    nanosleep(&pause, NULL);
    snprintf(path, sizeof path, "%s/%u.jpg", getenv("V4L2_PICTURES"), given);
    if (access(path, R_OK)) {
        given = 0;
        snprintf(path, sizeof path, "%s/0.jpg", getenv("V4L2_PICTURES"));
    }
    given++;
    FILE *file = fopen(path, "rb");
    if (!file)
        return fails(EIO);
    size_t size = fread(picture, 1, sizeof picture, file);
    fclose(file);
    buffer->index = queue[0];
    memmove(queue, queue + 1, --queued * sizeof *queue);
    if (locate(buffer) || pwrite(descriptor, picture, size, buffer->m.offset) != (ssize_t)size)
        return fails(EIO);
    buffer->bytesused = size;
    buffer->flags = V4L2_BUF_FLAG_MAPPED | V4L2_BUF_FLAG_DONE;
    return 0;
}

static int answer(int descriptor, unsigned long request, void *argument)
{
    switch (request) {
    case VIDIOC_QUERYCAP: {
        struct v4l2_capability *capability = argument;
        memset(capability, 0, sizeof *capability);
        strcpy((char *)capability->driver, "test");
        strcpy((char *)capability->card, "test");
        capability->device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
        capability->capabilities = capability->device_caps | V4L2_CAP_DEVICE_CAPS;
        return 0;
    }
    case VIDIOC_G_INPUT:
        *(int *)argument = 0;
        return 0;
    case VIDIOC_S_INPUT:
    case VIDIOC_S_PARM:
    case VIDIOC_STREAMON:
        return 0;
    case VIDIOC_STREAMOFF:
        queued = 0;
        return 0;
    case VIDIOC_G_PARM: {
        struct v4l2_streamparm *parameters = argument;
        parameters->parm.capture.timeperframe.numerator = 1;
        parameters->parm.capture.timeperframe.denominator = 25;
        return 0;
    }
    case VIDIOC_S_FMT:
        choose(&((struct v4l2_format *)argument)->fmt.pix);
        describe(&((struct v4l2_format *)argument)->fmt.pix);
        return 0;
    case VIDIOC_G_FMT:
    case VIDIOC_TRY_FMT:
        describe(&((struct v4l2_format *)argument)->fmt.pix);
        return 0;
    case VIDIOC_REQBUFS:
        return map_buffers(descriptor, argument);
    case VIDIOC_QUERYBUF:
        return locate(argument);
    case VIDIOC_QBUF:
        return enqueue(argument);
    case VIDIOC_DQBUF:
        return dequeue(descriptor, argument);
    default:
        return fails(EINVAL);
    }
}

int ioctl(int descriptor, unsigned long request, ...)
{
    static int (*real)(int, unsigned long, ...);
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (!real)
        real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    return is_camera(descriptor) ? answer(descriptor, request, argument) : real(descriptor, request, argument);
}
