/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time zone as a table of offsets, each with the time from which it holds.
 * The readers of a zone file (zone_file.c) and of its footer (zone_footer.c)
 * add to it in order; then it is searched. Times are seconds since 1970, local
 * times as if the zone were UTC. Private to this folder.
 *
 * The effective local time at t is the latest that the local clock has shown up
 * to t: it never goes back. Stamps are made only of the effective local time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "period/period.h"

/* No time of a zone is farther from 1970; zic begins time there. */
#define ZONE_TIME_MAX   (INT64_C(1) << 59)
/* The limits of offsets in RFC 8536. */
#define ZONE_OFFSET_MAX 93599
#define ZONE_OFFSET_MIN (-89999)

#define ZONE_FOOTER_SIZE 128
#define ZONE_FILE_MAX    65536 /* bytes; the largest known file has some 3,000 */

struct zone_segment {
    int64_t from;
    int64_t reached; /* each earlier local time was shown or skipped before
                        `from`; zone_finish sets it */
    int64_t offset;  /* local time minus UTC */
};

struct period_zone {
    struct zone_segment *segments; /* the first one has no earlier limit */
    size_t count;
    size_t room;
    int64_t repeats; /* from then on everything repeats what was 400 years
                        before; INT64_MAX: the last offset holds for ever */
};

/* An empty zone; NULL if out of memory. Free it with period_zone_close. */
struct period_zone *zone_new(void);

/* Appends the offset that holds from `from` on; it may be the same as before.
 * `from` is never less than the one before; if both are equal, the later call
 * counts. The first `from` must be -ZONE_TIME_MAX or earlier. False if out of
 * memory. */
bool zone_add(struct period_zone *zone, int64_t from, int64_t offset);

/* Call it once after the last zone_add, before the zone is searched. */
void zone_finish(struct period_zone *zone);

/* The effective local time at `at`. */
int64_t zone_local(const struct period_zone *zone, int64_t at);

/* The first time at which the effective local time is `local` or later. */
int64_t zone_reach(const struct period_zone *zone, int64_t local);

/* Reads the bytes of a zone file, TZif of version 1 to 4. SEQB_INVALID, with
 * what is wrong in the file; SEQB_NO_MEMORY. Free `*out` with
 * period_zone_close. */
enum seqb_status zone_file_read(const char *bytes, size_t size,
                                struct period_zone **out,
                                struct seqb_error *err);

/*
 * Adds what the footer of a zone file says of the time after `last`, the last
 * transition in the file, and how it repeats. `text` is a POSIX TZ string,
 * ended by a 0; an empty one adds nothing. SEQB_INVALID, SEQB_NO_MEMORY.
 */
enum seqb_status zone_footer_add(struct period_zone *zone, int64_t last,
                                 const char *text, struct seqb_error *err);
