/* SPDX-License-Identifier: Apache-2.0 */
/* The time zones of a topology's sequences, each read once. */
#pragma once

#include "config/arena.h"
#include "config/mistakes.h"
#include "config/schema.h"

struct zone;

/* Zeroed holds none. */
struct zones {
    struct arena *arena; /* of the list, not of the zones */
    struct zone *first;
};

/* Finds the zone of each sequence; one that cannot be read is a mistake. */
void zones_open(struct zones *zones, struct draft *draft,
                struct mistakes *mistakes);

/* Before the arena is freed. */
void zones_close(struct zones *zones);
