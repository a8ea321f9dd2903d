/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a broker with the spool, over two SQLite files, in a process of
 * its own: it takes over what an earlier one left, issues numbers, gives some
 * to the spool and takes some back, gives the rest and ends. Everything that it
 * issues is written to a pipe at once, so that this is known even if the
 * process was killed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LIFE_BITS        1 /* two partitions */
#define LIFE_MEMORY_BITS 2

/* The result of a life that was not killed. */
enum life_end {
    LIFE_EMPTY,  /* there was nothing in the spool */
    LIFE_HEIR,   /* it began with what an earlier life had left */
    LIFE_FAILED, /* an error that must not happen */
};

struct life_watch {
    /* Called before and after each exchange. */
    void (*exchange)(bool is_exchanging);
    bool may_fail; /* an exchange may fail; else that is LIFE_FAILED */
};

/* Lives in `folder`, and writes its numbers to `fd`. Several lives may run at
 * the same time. */
enum life_end spool_live(const char *folder, int fd,
                         const struct life_watch *watch);

/* The same, but it only issues all that is in the spool. */
enum life_end spool_empty(const char *folder, int fd,
                          const struct life_watch *watch);
