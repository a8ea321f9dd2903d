/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and writing slots, and the lock that makes some steps one. */
#include "slots.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_MS 1 /* between two tries for the lock */

enum seqb_status slots_fail(struct seqb_error *err, enum seqb_status status,
                            const char *format, ...)
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

/* --- slots --- */

enum seqb_status slot_read(const struct file *file, off_t at, size_t size,
                           struct slot *out, struct seqb_error *err)
{
    if (pread(file->fd, out, size, at) == (ssize_t)size)
        return SEQB_OK;
    return slots_fail(err, SEQB_CORRUPT, "file %s: cannot read %s", file->name,
                      file->path);
}

enum seqb_status slots_end(const struct file *file, off_t *out,
                           struct seqb_error *err)
{
    struct stat about;

    if (fstat(file->fd, &about) != 0)
        return slots_fail(err, SEQB_UNREACHABLE, "file %s: %s", file->name,
                          strerror(errno));
    *out = about.st_size - about.st_size % (off_t)sizeof(struct slot);
    return SEQB_OK;
}

enum seqb_status slot_find(const struct file *file, const char *name,
                           struct place *out, struct seqb_error *err)
{
    off_t end = 0;
    off_t at;
    enum seqb_status status = slots_end(file, &end, err);

    *out = (struct place){.at = end};
    for (at = 0; at < end && status == SEQB_OK; at += SLOT) {
        status = slot_read(file, at, SECTOR, &out->slot, err);
        if (status == SEQB_OK && strncmp(out->slot.name, name, NAME_SIZE) == 0)
            break;
        if (at > 0 && out->slot.name[0] == '\0' && out->at == end)
            out->at = at; /* it is free */
    }
    if (status != SEQB_OK)
        return status;
    if (at < end) {
        out->at = at;
        out->is_there = true;
        return slot_read(file, at, sizeof out->slot, &out->slot, err);
    }
    memset(&out->slot, 0, sizeof out->slot);
    (void)snprintf(out->slot.name, NAME_SIZE, "%s", name);
    return SEQB_OK;
}

enum seqb_status slot_write(const struct file *file, const struct place *place,
                            struct seqb_error *err)
{
    const size_t size = place->is_there ? SECTOR : sizeof place->slot;

    if (pwrite(file->fd, &place->slot, size, place->at) == (ssize_t)size)
        return SEQB_OK;
    return slots_fail(err, SEQB_UNCERTAIN, "file %s: cannot write %s: %s",
                      file->name, file->path, strerror(errno));
}

enum seqb_status counter_write(const struct file *file, struct place *place,
                               int64_t value, struct seqb_error *err)
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

enum seqb_status slots_lock(const struct file *file, struct seqb_error *err)
{
    const int64_t until_ms = now_ms() + file->timeout_ms;
    struct stat mine;
    struct stat there;

    while (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
        if (now_ms() >= until_ms)
            return slots_fail(err, SEQB_UNREACHABLE, "file %s: %s stays locked",
                              file->name, file->path);
        (void)poll(NULL, 0, LOCK_MS);
    }
    if (fstat(file->fd, &mine) == 0 && stat(file->path, &there) == 0 &&
        mine.st_dev == there.st_dev && mine.st_ino == there.st_ino)
        return SEQB_OK;
    (void)flock(file->fd, LOCK_UN);
    return slots_fail(err, SEQB_UNREACHABLE, "file %s: %s is another file now",
                      file->name, file->path);
}

enum seqb_status slots_sync(const struct file *file, struct seqb_error *err)
{
    if (fdatasync(file->fd) == 0)
        return SEQB_OK;
    return slots_fail(err, SEQB_UNCERTAIN, "file %s: cannot sync %s: %s",
                      file->name, file->path, strerror(errno));
}

enum seqb_status slots_unlock(const struct file *file, enum seqb_status status,
                              struct seqb_error *err)
{
    if (status == SEQB_OK)
        status = slots_sync(file, err);
    (void)flock(file->fd, LOCK_UN);
    return status;
}
