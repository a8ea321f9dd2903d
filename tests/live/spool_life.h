/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A broker's life with the spool, over two SQLite files, in a process of its
 * own: takes over what an earlier one left, issues numbers, gives some away
 * and takes some back, gives the rest and ends. Everything that it issues goes
 * into a pipe at once, so that it is known of one that was killed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LIFE_BITS        1 /* two partitions */
#define LIFE_MEMORY_BITS 2

/* What a life that was not cut off ends with. */
enum life_end {
    LIFE_EMPTY,  /* it found nothing in the spool */
    LIFE_HEIR,   /* it began with what another had left */
    LIFE_FAILED, /* something went wrong that must not */
};

struct life_watch {
    /* Called before and after each exchange. */
    void (*exchange)(bool is_exchanging);
    bool may_fail; /* an exchange; else that is a LIFE_FAILED */
};

/* Lives in `folder` and writes the numbers into `fd`. Any number of lives may
 * go on at once. */
enum life_end spool_live(const char *folder, int fd,
                         const struct life_watch *watch);

/* The same, of one that only issues all that it finds in the spool. */
enum life_end spool_empty(const char *folder, int fd,
                          const struct life_watch *watch);
