/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An example of an engine: it knows the public headers and POSIX, no more.
 *
 * The file is a row of slots, each a counter or a claim, found by looking at
 * one after the other: right for some dozen counters. flock() makes a call one
 * step, fdatasync() makes it durable before it is answered. What changes of a
 * slot lies in one sector, which disks write whole or not at all.
 *
 * Slot 0 is the base, where new counters begin. The origin is the file (device
 * and inode) with a random id inside it: a copy has another one, and all of its
 * counters are fenced until they are raised.
 */
#include "counter_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define NAME_SIZE                                                              \
    136 /* of a counter, or of a claim with its mark before it                 \
         */
#define SECTOR  512
#define LOCK_MS 1 /* between two tries for the lock */

struct slot {
    char name[NAME_SIZE];
    char origin[SEQB_ORIGIN_SIZE]; /* where `value` holds */
    int64_t value;
    char unused[SECTOR - NAME_SIZE - SEQB_ORIGIN_SIZE - sizeof(int64_t)];
    char text[SEQB_CLAIM_SIZE]; /* of a claim; of the base: the file's id */
};

struct file {
    struct seqb_backend base;
    int fd;
    int32_t timeout_ms;
    char *name;
    char *path;
};

/* A slot and where it is; at the end of the file if it is not there. */
struct place {
    struct slot slot;
    off_t at;
    bool is_there;
};

static enum seqb_status __attribute__((format(printf, 3, 4)))
fail(struct seqb_error *err, enum seqb_status status, const char *format, ...)
{
    va_list args;

    if (err == NULL)
        return status;
    err->status = status;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

static const char *file_library(void)
{
    return "counter-file 1";
}

/* --- slots, under the lock --- */

static enum seqb_status slot_read(const struct file *file, off_t at,
                                  struct slot *out, struct seqb_error *err)
{
    if (pread(file->fd, out, sizeof *out, at) == (ssize_t)sizeof *out)
        return SEQB_OK;
    return fail(err, SEQB_CORRUPT, "file %s: cannot read %s", file->name,
                file->path);
}

static enum seqb_status slot_find(const struct file *file, const char *name,
                                  struct place *out, struct seqb_error *err)
{
    struct stat about;
    off_t end;

    out->is_there = false;
    if (fstat(file->fd, &about) != 0)
        return fail(err, SEQB_UNREACHABLE, "file %s: %s", file->name,
                    strerror(errno));
    end = about.st_size - about.st_size % (off_t)sizeof out->slot;
    for (out->at = 0; out->at < end; out->at += (off_t)sizeof out->slot) {
        if (slot_read(file, out->at, &out->slot, err) != SEQB_OK)
            return SEQB_CORRUPT;
        out->is_there = strncmp(out->slot.name, name, NAME_SIZE) == 0;
        if (out->is_there)
            return SEQB_OK;
    }
    memset(&out->slot, 0, sizeof out->slot);
    (void)snprintf(out->slot.name, NAME_SIZE, "%s", name);
    return SEQB_OK;
}

/* A slot that is there changes in its first sector only. */
static enum seqb_status slot_write(const struct file *file,
                                   const struct place *place,
                                   struct seqb_error *err)
{
    const size_t size = place->is_there ? SECTOR : sizeof place->slot;

    if (pwrite(file->fd, &place->slot, size, place->at) == (ssize_t)size)
        return SEQB_OK;
    return fail(err, SEQB_UNCERTAIN, "file %s: cannot write %s: %s", file->name,
                file->path, strerror(errno));
}

static enum seqb_status counter_write(const struct file *file,
                                      struct place *place, int64_t value,
                                      struct seqb_error *err)
{
    place->slot.value = value;
    memcpy(place->slot.origin, file->base.origin, sizeof place->slot.origin);
    return slot_write(file, place, err);
}

/* --- the lock --- */

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum seqb_status file_lock(const struct file *file,
                                  struct seqb_error *err)
{
    const int64_t until_ms = now_ms() + file->timeout_ms;
    struct stat mine;
    struct stat there;

    while (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
        if (now_ms() >= until_ms)
            return fail(err, SEQB_UNREACHABLE, "file %s: %s stays locked",
                        file->name, file->path);
        (void)poll(NULL, 0, LOCK_MS);
    }
    if (fstat(file->fd, &mine) == 0 && stat(file->path, &there) == 0 &&
        mine.st_dev == there.st_dev && mine.st_ino == there.st_ino)
        return SEQB_OK;
    (void)flock(file->fd, LOCK_UN);
    return fail(err, SEQB_UNREACHABLE, "file %s: %s is another file now",
                file->name, file->path);
}

/* Ends what file_lock began; what was written is durable if it is SEQB_OK. */
static enum seqb_status file_unlock(const struct file *file,
                                    enum seqb_status status,
                                    struct seqb_error *err)
{
    if (status == SEQB_OK && fdatasync(file->fd) != 0)
        status = fail(err, SEQB_UNCERTAIN, "file %s: cannot sync %s: %s",
                      file->name, file->path, strerror(errno));
    (void)flock(file->fd, LOCK_UN);
    return status;
}

/* --- open and close --- */

static void file_close(struct seqb_backend *backend)
{
    struct file *file = (struct file *)backend;

    if (file == NULL)
        return;
    if (file->fd >= 0)
        (void)close(file->fd);
    free(file->name);
    free(file->path);
    free(file);
}

/* The name of a new file must last as long as what is in it. */
static bool folder_sync(const char *path)
{
    char *folder = strdup(path);
    bool is_synced = false;
    int fd;

    if (folder == NULL)
        return false;
    strrchr(folder, '/')[1] = '\0';
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        is_synced = fsync(fd) == 0;
        (void)close(fd);
    }
    free(folder);
    return is_synced;
}

static enum seqb_status base_make(struct file *file, struct place *base,
                                  struct seqb_error *err)
{
    uint64_t id[2];

    if (getrandom(id, sizeof id, 0) != (ssize_t)sizeof id ||
        !folder_sync(file->path))
        return fail(err, SEQB_UNREACHABLE, "file %s: cannot make %s",
                    file->name, file->path);
    (void)snprintf(base->slot.text, sizeof base->slot.text,
                   "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
    return SEQB_OK;
}

/* Finds the file's id, and makes the base of a new file. */
static enum seqb_status origin_read(struct file *file, bool create,
                                    struct seqb_error *err)
{
    struct stat about;
    struct place base;
    enum seqb_status status = slot_find(file, "", &base, err);

    if (status != SEQB_OK || fstat(file->fd, &about) != 0)
        return status;
    if (!base.is_there && !create)
        return fail(err, SEQB_UNREACHABLE, "file %s: %s is empty", file->name,
                    file->path);
    if (base.at != 0 || (base.is_there && strlen(base.slot.text) != 32))
        return fail(err, SEQB_CORRUPT, "file %s: %s is none of ours",
                    file->name, file->path);
    if (!base.is_there)
        status = base_make(file, &base, err);
    (void)snprintf(file->base.origin, sizeof file->base.origin, "%ju:%ju:%.32s",
                   (uintmax_t)about.st_dev, (uintmax_t)about.st_ino,
                   base.slot.text);
    (void)snprintf(file->base.domain, sizeof file->base.domain, "disk %u:%u",
                   major(about.st_dev), minor(about.st_dev));
    if (status == SEQB_OK && !base.is_there)
        status = counter_write(file, &base, 0, err);
    return status;
}

static enum seqb_status file_connect(struct file *file, bool create,
                                     struct seqb_error *err)
{
    enum seqb_status status;

    file->fd =
        open(file->path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
    if (file->fd < 0)
        return fail(err, errno == ENOENT ? SEQB_UNREACHABLE : SEQB_REFUSED,
                    "file %s: %s: %s", file->name, file->path, strerror(errno));
    status = file_lock(file, err);
    if (status != SEQB_OK)
        return status;
    return file_unlock(file, origin_read(file, create, err), err);
}

static enum seqb_status file_open(const struct seqb_backend_options *options,
                                  struct seqb_backend **out,
                                  struct seqb_error *err)
{
    struct file *file;
    enum seqb_status status = SEQB_NO_MEMORY;

    if (options->path == NULL || options->path[0] != '/')
        return fail(err, SEQB_INVALID, "file %s: needs a 'path'",
                    options->name);
    file = calloc(1, sizeof *file);
    if (file == NULL)
        return fail(err, SEQB_NO_MEMORY, "file %s: no memory", options->name);
    file->base.ops = &counter_file;
    file->base.fd = -1;
    file->fd = -1;
    file->timeout_ms = options->timeout_ms;
    (void)snprintf(file->base.server, sizeof file->base.server, "%s",
                   file_library());
    file->name = strdup(options->name);
    file->path = strdup(options->path);
    if (file->name != NULL && file->path != NULL)
        status = file_connect(file, options->create, err);
    else
        (void)fail(err, status, "file %s: no memory", options->name);
    if (status != SEQB_OK) {
        file_close(&file->base);
        return status;
    }
    *out = &file->base;
    return SEQB_OK;
}

/* --- counters --- */

static bool is_bound(const struct file *file, const struct place *place)
{
    return strcmp(place->slot.origin, file->base.origin) == 0;
}

static enum seqb_status request_serve(const struct file *file,
                                      struct seqb_request *request,
                                      struct seqb_error *err)
{
    struct place base;
    struct place place;
    int64_t count = request->want;
    enum seqb_status status = slot_find(file, request->counter, &place, err);

    request->window = SEQB_NO_WINDOW;
    if (status == SEQB_OK && !place.is_there) {
        status = slot_find(file, "", &base, err);
        place.slot.value = base.slot.value;
        memcpy(place.slot.origin, base.slot.origin, sizeof place.slot.origin);
    }
    if (status != SEQB_OK)
        return status;
    request->status = !is_bound(file, &place)              ? SEQB_FENCED
                      : place.slot.value >= request->limit ? SEQB_EXHAUSTED
                                                           : SEQB_OK;
    if (request->status != SEQB_OK) {
        (void)fail(&request->error, request->status, "file %s: %s: %s",
                   file->name, request->counter,
                   seqb_status_text(request->status));
        return SEQB_OK;
    }
    if (count > request->limit - place.slot.value)
        count = request->limit - place.slot.value;
    request->block = (struct seqb_block){place.slot.value + 1, count};
    return counter_write(file, &place, place.slot.value + count, err);
}

static enum seqb_status file_reserve(struct seqb_backend *backend,
                                     struct seqb_request *requests, size_t n,
                                     struct seqb_error *err)
{
    const struct file *file = (const struct file *)backend;
    struct seqb_error why;
    enum seqb_status status = file_lock(file, &why);

    if (status == SEQB_OK) {
        for (size_t i = 0; i < n && status == SEQB_OK; i++)
            status = request_serve(file, &requests[i], &why);
        status = file_unlock(file, status, &why);
    }
    if (status == SEQB_OK)
        return SEQB_OK;
    /* What was written may last: nobody gets it. */
    for (size_t i = 0; i < n; i++) {
        requests[i].status = status;
        requests[i].error = why;
    }
    return fail(err, status, "%s", why.text);
}

/* Foreign values are `gap` higher; false if that is no number. */
static bool value_rebind(const struct file *file, struct place *place,
                         int64_t gap)
{
    if (is_bound(file, place))
        return true;
    if (place->slot.value > INT64_MAX - gap)
        return false;
    place->slot.value += gap;
    return true;
}

static enum seqb_status raise_slots(const struct file *file,
                                    const struct seqb_raise *raise,
                                    int64_t *out, struct seqb_error *err)
{
    struct place base;
    struct place place;
    bool fits;
    enum seqb_status status = slot_find(file, "", &base, err);

    if (status == SEQB_OK)
        status = slot_find(file, raise->counter, &place, err);
    if (status != SEQB_OK)
        return status;
    fits = value_rebind(file, &base, raise->base_gap);
    /* The first slot was emptied: the base has no origin. */
    if (base.slot.origin[0] == '\0' && base.slot.value < raise->base_floor)
        base.slot.value = raise->base_floor;
    if (place.is_there)
        fits = value_rebind(file, &place, raise->gap) && fits;
    else
        place.slot.value = base.slot.value;
    if (place.slot.value < raise->floor)
        place.slot.value = raise->floor;
    if (!fits || place.slot.value > raise->limit)
        return fail(err, SEQB_EXHAUSTED, "file %s: %s: no value is left",
                    file->name, raise->counter);
    *out = place.slot.value;
    /* The counter first: if the base alone were bound, a counter that is not
     * there would begin below the gap. */
    status = counter_write(file, &place, place.slot.value, err);
    if (status != SEQB_OK)
        return status;
    return counter_write(file, &base, base.slot.value, err);
}

static enum seqb_status file_raise(struct seqb_backend *backend,
                                   const struct seqb_raise *raise, int64_t *out,
                                   struct seqb_error *err)
{
    const struct file *file = (const struct file *)backend;
    int64_t value = 0;
    enum seqb_status status = file_lock(file, err);

    if (status != SEQB_OK)
        return status;
    status = file_unlock(file, raise_slots(file, raise, &value, err), err);
    if (status == SEQB_OK)
        *out = value;
    return status;
}

static enum seqb_status file_install(struct seqb_backend *backend,
                                     const struct seqb_window *window,
                                     int64_t *standing, struct seqb_error *err)
{
    const struct file *file = (const struct file *)backend;

    (void)standing;
    return fail(err, SEQB_INVALID, "file %s: %s: has no windows", file->name,
                window->counter);
}

/* --- claims --- */

static enum seqb_status claim_stand(const struct file *file, const char *name,
                                    const char *text, struct place *out,
                                    struct seqb_error *err)
{
    char marked[NAME_SIZE];
    enum seqb_status status;

    (void)snprintf(marked, sizeof marked, "claim:%s", name);
    status = slot_find(file, marked, out, err);
    if (status != SEQB_OK || out->is_there || text == NULL)
        return status;
    (void)snprintf(out->slot.text, sizeof out->slot.text, "%s", text);
    return slot_write(file, out, err);
}

static enum seqb_status file_claim(struct seqb_backend *backend,
                                   const char *name, const char *text,
                                   char *standing, size_t size,
                                   struct seqb_error *err)
{
    const struct file *file = (const struct file *)backend;
    struct place place;
    enum seqb_status status = file_lock(file, err);

    if (status != SEQB_OK)
        return status;
    status = file_unlock(file, claim_stand(file, name, text, &place, err), err);
    if (status != SEQB_OK)
        return status;
    if (strlen(place.slot.text) >= size)
        return fail(err, SEQB_PROTOCOL, "file %s: claim %s is too long",
                    file->name, name);
    (void)snprintf(standing, size, "%s", place.slot.text);
    return SEQB_OK;
}

const struct seqb_backend_ops counter_file = {
    .engine = "counter-file",
    .guarantee = SEQB_DIRECT,
    .library = file_library,
    .open = file_open,
    .reserve = file_reserve,
    .raise = file_raise,
    .install = file_install,
    .claim = file_claim,
    .close = file_close,
};
