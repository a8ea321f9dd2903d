/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases of worker ids, clocks and memory that the test sets, for programs of
 * generators that are linked with the --wrap of each function in the .c file.
 */
#pragma once

#include "queue/snowflake/snowflake.h"
#include "support/test.h"

#define EPOCH INT64_C(1577836800000)
#define NOW   (EPOCH + 1000) /* when a test begins */
#define BOOT  INT64_C(5000)
#define UNTIL (BOOT + 500) /* end of the leases */
#define HELD  "held by another one"

struct worker_lease {
    enum seqb_status status; /* of the calls that may fail */
    struct worker_id id;
    bool is_ended; /* its id must not be used; waiting for it fails */
    int uses, hurries, ends;
    int64_t used_ms;
    int started, awaited; /* the how manyth call of a start it was */
};

struct lease_script {
    int64_t wall_us, boot_us;
    int64_t guarded_ms; /* what the guarded clock says, and its status */
    enum seqb_status guarded;
    struct worker_lease leases[2]; /* of workers 7 and 8, by the pool */
    int made, freed;
    int starts;
    bool lacks_memory;
    const struct ticks *measured;
};

extern struct lease_script script;

/* Begins anew, and returns the options of two pools with four ids a ms, of site
 * 3. */
struct lease_options *script_begin(void);

/* A quarter of a ms after these times. */
void script_at(int64_t time_ms, int64_t boot_ms);
