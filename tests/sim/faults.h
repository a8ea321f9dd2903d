/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of faults of a store and of the network to it. */
#pragma once

#include "run.h"

enum fault_kind {
    FAULT_OUTAGE,   /* the server stops, and starts again */
    FAULT_HANG,     /* the server freezes, and continues */
    FAULT_CUT,      /* no packets pass, for some of the brokers */
    FAULT_SLOW,     /* the server is many times slower */
    FAULT_LOSSES,   /* answers are lost */
    FAULT_BREAK,    /* connections break */
    FAULT_FAILOVER, /* another server continues with a copy of its data */
    FAULT_DEMOTE,   /* a replica for a while, then the primary again */
    FAULT_EMPTY,    /* all counters are deleted */
    FAULT_EVICT,    /* answers are lost, and a windowed store's cells, too */
    FAULT_SPLIT,    /* two primaries for a while */
    FAULT_ASTRAY,   /* some brokers are led to a replica */
    FAULT_BACK,     /* an old disk is put back, in a pool with neighbours */
    FAULT_KINDS
};

/* The last fault that may happen to any store. */
#define FAULT_LAST FAULT_ASTRAY

/* Faults up to this one do not change the stores. */
#define FAULT_HARMLESS FAULT_BREAK

/*
 * Gives backend i that fault for `for_us`, beginning soon. False if it may not
 * have the fault, or if its server has another one.
 */
bool fault_begin(struct run *run, int32_t i, enum fault_kind kind,
                 int64_t for_us);

/* Call it before stores restart or go back: of those that went back, notes
 * which are level again. */
void fault_look(struct run *run);

/* Whether the store may lose leases: false while another lessor of the present
 * layout lacks some, because what both lost may be known to no other store. */
bool fault_is_alone(const struct run *run, const struct store *store);

/* Whether the store may not go back to that content: brokers refuse a store
 * that is new though its pool is in use, and no migration is run again if none
 * of its direct stores knows the old layout. */
bool fault_is_too_old(const struct run *run, const struct store *store,
                      const struct store_content *content);
