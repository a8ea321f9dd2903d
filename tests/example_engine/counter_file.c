/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An example of an engine: it knows the public headers and POSIX, no more.
 *
 * The file is a row of slots, each a counter or a claim, found by looking at
 * one after the other: right for some dozen counters. flock() makes a call one
 * step, fdatasync() makes it durable before it is answered. What changes of a
 * slot lies in one sector, which disks write whole or not at all.
 *
 * Slot 0 is the base, where new counters begin; slots whose names begin with
 * "@" hold times, of the base and of purged periods. The origin is the file
 * (device and inode) with a random id inside it: a copy has another one, and
 * all of its counters are fenced until they are raised.
 */
#include "counter_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "claims.h"
#include "slots.h"

#define BASE    ""
#define BASE_MS "@" /* a time: what is kept beside the base */
#define MARK    '@' /* in the names of counters: before the stamp */

static const char *file_library(void)
{
    return "counter-file 1";
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
        return slots_fail(err, SEQB_UNREACHABLE, "file %s: cannot make %s",
                          file->name, file->path);
    (void)snprintf(base->slot.text[0], sizeof base->slot.text[0],
                   "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
    return SEQB_OK;
}

/* Finds the file's id, and makes the base of a new file. */
static enum seqb_status origin_read(struct file *file, bool create,
                                    struct seqb_error *err)
{
    struct stat about;
    struct place base;
    enum seqb_status status = slot_find(file, BASE, &base, err);

    if (status != SEQB_OK || fstat(file->fd, &about) != 0)
        return status;
    if (!base.is_there && !create)
        return slots_fail(err, SEQB_UNREACHABLE, "file %s: %s is empty",
                          file->name, file->path);
    if (base.at != 0 || (base.is_there && strlen(base.slot.text[0]) != 32))
        return slots_fail(err, SEQB_CORRUPT, "file %s: %s is none of ours",
                          file->name, file->path);
    if (!base.is_there)
        status = base_make(file, &base, err);
    (void)snprintf(file->base.origin, sizeof file->base.origin, "%ju:%ju:%.32s",
                   (uintmax_t)about.st_dev, (uintmax_t)about.st_ino,
                   base.slot.text[0]);
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
        return slots_fail(
            err, errno == ENOENT ? SEQB_UNREACHABLE : SEQB_REFUSED,
            "file %s: %s: %s", file->name, file->path, strerror(errno));
    status = slots_lock(file, err);
    if (status != SEQB_OK)
        return status;
    return slots_unlock(file, origin_read(file, create, err), err);
}

static enum seqb_status file_open(const struct seqb_backend_options *options,
                                  struct seqb_backend **out,
                                  struct seqb_error *err)
{
    struct file *file;
    enum seqb_status status = SEQB_NO_MEMORY;

    if (options->path == NULL || options->path[0] != '/')
        return slots_fail(err, SEQB_INVALID, "file %s: needs a 'path'",
                          options->name);
    file = calloc(1, sizeof *file);
    if (file == NULL)
        return slots_fail(err, SEQB_NO_MEMORY, "file %s: no memory",
                          options->name);
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
        (void)slots_fail(err, status, "file %s: no memory", options->name);
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

/* Of a time in ms since 1970, which holds in any origin; none is 0. */
static enum seqb_status time_raise(const struct file *file, const char *name,
                                   int64_t ms, struct seqb_error *err)
{
    struct place place;
    const enum seqb_status status = slot_find(file, name, &place, err);

    if (status != SEQB_OK || place.slot.value >= ms)
        return status;
    return counter_write(file, &place, ms, err);
}

/* The name of the time before which the counter's periods are over. */
static void end_name(char out[NAME_SIZE], const char *counter)
{
    const char *mark = strrchr(counter, MARK);

    (void)snprintf(out, NAME_SIZE, "%c%.*s", MARK,
                   mark != NULL ? (int)(mark - counter) : NAME_SIZE, counter);
}

/* Where a counter begins that has no slot: at the base, or afresh if it is of a
 * period that cannot have been forgotten. */
static enum seqb_status counter_begin(const struct file *file,
                                      const struct seqb_request *request,
                                      struct place *out, bool *is_over,
                                      struct seqb_error *err)
{
    struct place base;
    struct place base_ms;
    struct place end;
    char name[NAME_SIZE];
    enum seqb_status status = slot_find(file, BASE, &base, err);

    out->slot.value = base.slot.value;
    memcpy(out->slot.origin, base.slot.origin, sizeof out->slot.origin);
    if (status != SEQB_OK || request->begins_ms == 0)
        return status;
    end_name(name, request->counter);
    status = slot_find(file, name, &end, err);
    if (status == SEQB_OK)
        status = slot_find(file, BASE_MS, &base_ms, err);
    if (status != SEQB_OK)
        return status;
    *is_over = request->begins_ms < end.slot.value;
    if (request->begins_ms > base_ms.slot.value)
        out->slot.value = 0;
    return SEQB_OK;
}

static enum seqb_status request_serve(const struct file *file,
                                      struct seqb_request *request,
                                      struct seqb_error *err)
{
    struct place place;
    bool is_over = false;
    int64_t count = request->want;
    enum seqb_status status = slot_find(file, request->counter, &place, err);

    request->window = SEQB_NO_WINDOW;
    if (status == SEQB_OK && !place.is_there)
        status = counter_begin(file, request, &place, &is_over, err);
    if (status != SEQB_OK)
        return status;
    request->status = is_over                                   ? SEQB_EXHAUSTED
                      : !is_bound(file, &place)                 ? SEQB_FENCED
                      : !place.is_there && place.slot.value > 0 ? SEQB_FENCED
                      : place.slot.value >= request->limit      ? SEQB_EXHAUSTED
                                                                : SEQB_OK;
    if (request->status != SEQB_OK) {
        (void)slots_fail(&request->error, request->status, "file %s: %s: %s",
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
    enum seqb_status status = slots_lock(file, &why);

    if (status == SEQB_OK) {
        for (size_t i = 0; i < n && status == SEQB_OK; i++)
            status = request_serve(file, &requests[i], &why);
        status = slots_unlock(file, status, &why);
    }
    if (status == SEQB_OK)
        return SEQB_OK;
    /* What was written may last: nobody gets it. */
    for (size_t i = 0; i < n; i++) {
        requests[i].status = status;
        requests[i].error = why;
    }
    return slots_fail(err, status, "%s", why.text);
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
    bool is_spread;
    enum seqb_status status = slot_find(file, BASE, &base, err);

    if (status == SEQB_OK)
        status = slot_find(file, raise->counter, &place, err);
    if (status != SEQB_OK)
        return status;
    fits = value_rebind(file, &base, raise->base_gap);
    /* The first slot was emptied: the base has no origin. */
    if (base.slot.origin[0] == '\0' && base.slot.value < raise->base_floor)
        base.slot.value = raise->base_floor;
    is_spread = place.is_there ? !is_bound(file, &place) : base.slot.value > 0;
    if (place.is_there)
        fits = value_rebind(file, &place, raise->gap) && fits;
    else
        place.slot.value = base.slot.value;
    if (place.slot.value < raise->floor)
        place.slot.value = raise->floor;
    if (is_spread)
        place.slot.value += seqb_raise_spread(raise, place.slot.value);
    if (!fits || place.slot.value > raise->limit)
        return slots_fail(err, SEQB_EXHAUSTED, "file %s: %s: no value is left",
                          file->name, raise->counter);
    *out = place.slot.value;
    /* The base last: if it alone were bound, a counter that is not there would
     * begin below the gap. */
    status = counter_write(file, &place, place.slot.value, err);
    if (status == SEQB_OK && !is_bound(file, &base))
        status = time_raise(file, BASE_MS, raise->base_ms, err);
    if (status == SEQB_OK)
        status = slots_sync(file, err);
    return status == SEQB_OK ? counter_write(file, &base, base.slot.value, err)
                             : status;
}

static enum seqb_status file_raise(struct seqb_backend *backend,
                                   const struct seqb_raise *raise, int64_t *out,
                                   struct seqb_error *err)
{
    const struct file *file = (const struct file *)backend;
    int64_t value = 0;
    enum seqb_status status = slots_lock(file, err);

    if (status != SEQB_OK)
        return status;
    status = slots_unlock(file, raise_slots(file, raise, &value, err), err);
    if (status == SEQB_OK)
        *out = value;
    return status;
}

/* --- purge --- */

static bool is_purged(const struct slot *slot, const struct seqb_purge *purge)
{
    const size_t length = strlen(purge->counter);

    return strncmp(slot->name, purge->counter, length) == 0 &&
           slot->name[length] == MARK && strcmp(slot->name, purge->keep) < 0;
}

static enum seqb_status slots_purge(const struct file *file,
                                    const struct seqb_purge *purge,
                                    int32_t *deleted, struct seqb_error *err)
{
    struct place place = {.is_there = true};
    char name[NAME_SIZE];
    off_t end = 0;
    enum seqb_status status;

    end_name(name, purge->counter);
    status = time_raise(file, name, purge->before_ms, err);
    if (status == SEQB_OK)
        status = slots_sync(file, err);
    if (status == SEQB_OK)
        status = slots_end(file, &end, err);
    for (place.at = SLOT;
         place.at < end && *deleted < purge->most && status == SEQB_OK;
         place.at += SLOT) {
        status = slot_read(file, place.at, SECTOR, &place.slot, err);
        if (status != SEQB_OK || !is_purged(&place.slot, purge))
            continue;
        place.slot.name[0] = '\0';
        status = slot_write(file, &place, err);
        ++*deleted;
    }
    return status;
}

static enum seqb_status file_purge(struct seqb_backend *backend,
                                   const struct seqb_purge *purge,
                                   int32_t *deleted, struct seqb_error *err)
{
    const struct file *file = (const struct file *)backend;
    int32_t count = 0;
    enum seqb_status status = slots_lock(file, err);

    if (status != SEQB_OK)
        return status;
    status = slots_unlock(file, slots_purge(file, purge, &count, err), err);
    if (status == SEQB_OK)
        *deleted = count;
    return status;
}

const struct seqb_backend_ops counter_file = {
    .engine = "counter-file",
    .guarantee = SEQB_DIRECT,
    .library = file_library,
    .open = file_open,
    .reserve = file_reserve,
    .raise = file_raise,
    .claim = claims_claim,
    .swap = claims_swap,
    .purge = file_purge,
    .close = file_close,
};
