/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of faults of a store and of the way to it. */
#pragma once

#include "run.h"

enum fault_kind {
    FAULT_OUTAGE,   /* stopped, and started again */
    FAULT_HANG,     /* stopped in the middle, and let go on */
    FAULT_CUT,      /* nothing passes, for some of the brokers */
    FAULT_SLOW,     /* many times slower */
    FAULT_LOSSES,   /* answers are lost */
    FAULT_BREAK,    /* the connections break */
    FAULT_FAILOVER, /* another server goes on with what it had */
    FAULT_DEMOTE,   /* a replica for a while, then the primary again */
    FAULT_EMPTY,    /* all counters are deleted */
    FAULT_EVICT,    /* answers are lost, a windowed store's cells as well */
    FAULT_SPLIT,    /* two primaries for a while */
    FAULT_ASTRAY,   /* some brokers are led to a replica */
    FAULT_BACK,     /* a disk is put back, in a pool of neighbours */
    FAULT_KINDS
};

/* The last that may come to any store. */
#define FAULT_LAST FAULT_ASTRAY

/* Those up to it leave the stores as they are. */
#define FAULT_HARMLESS FAULT_BREAK

/*
 * Backend i has that fault from some moments after now on, for so long.
 * False if it may not, or its server has one already.
 */
bool fault_begin(struct run *run, int32_t i, enum fault_kind kind,
                 int64_t for_us);
