/* SPDX-License-Identifier: Apache-2.0 */
/* The first process of a PostgreSQL, by the file that it has in its folder. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct postmaster {
    pid_t pid;     /* 0: there is no such file */
    int segment;   /* of System V's shared memory; -1: none yet */
    bool is_ready; /* serves, by what it says itself */
};

/* `folder` holds the folder "data". */
struct postmaster postmaster_of(const char *folder);

/* A killed one leaves its segment, of which a machine has no more than
 * 4,096. */
void postmaster_clean(const struct postmaster *killed);
