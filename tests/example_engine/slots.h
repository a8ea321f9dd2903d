/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of counter_file.c: a row of slots, found by looking at one after the
 * other, and a lock over all of them. What the slots mean is counter_file.c's.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <seqbroker/backend.h>

#define NAME_SIZE                                                              \
    136 /* of a counter, or of a claim with its mark before it                 \
         */
#define SECTOR 512
#define SLOT   ((off_t)sizeof(struct slot))

struct slot {
    char name[NAME_SIZE];          /* "": the base, or further on: free */
    char origin[SEQB_ORIGIN_SIZE]; /* where `value` holds */
    int64_t value;                 /* of a claim: which text stands, 0 or 1 */
    char unused[SECTOR - NAME_SIZE - SEQB_ORIGIN_SIZE - sizeof(int64_t)];
    char text[2][SEQB_CLAIM_SIZE]; /* of a claim; of the base: the file's id */
};

struct file {
    struct seqb_backend base;
    int fd;
    int32_t timeout_ms;
    char *name;
    char *path;
};

/* A slot and where it is; where it may be made if it is not there. */
struct place {
    struct slot slot;
    off_t at;
    bool is_there;
};

/* Sets `err`, if that is wanted; the status. */
enum seqb_status __attribute__((format(printf, 3, 4)))
slots_fail(struct seqb_error *err, enum seqb_status status, const char *format,
           ...);

/* Locks the file against all others, and checks that it is still the one that
 * stands under its name. */
enum seqb_status slots_lock(const struct file *file, struct seqb_error *err);

/* Ends what slots_lock began; what was written is durable if it is SEQB_OK. */
enum seqb_status slots_unlock(const struct file *file, enum seqb_status status,
                              struct seqb_error *err);

/* The rest is under the lock. */

/* What was written is durable before what is written next. */
enum seqb_status slots_sync(const struct file *file, struct seqb_error *err);

/* Where the last slot ends. */
enum seqb_status slots_end(const struct file *file, off_t *out,
                           struct seqb_error *err);

/* Reads a slot, or the first `size` bytes of it. */
enum seqb_status slot_read(const struct file *file, off_t at, size_t size,
                           struct slot *out, struct seqb_error *err);

enum seqb_status slot_find(const struct file *file, const char *name,
                           struct place *out, struct seqb_error *err);

/* A slot that is there changes in its first sector only. */
enum seqb_status slot_write(const struct file *file, const struct place *place,
                            struct seqb_error *err);

/* The same, with a value that holds in the file's origin. */
enum seqb_status counter_write(const struct file *file, struct place *place,
                               int64_t value, struct seqb_error *err);
