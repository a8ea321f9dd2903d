/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time zone as a table: from when on which offset holds. What reads a zone
 * file (zone_file.c) and its footer (zone_footer.c) adds to it, in order; then
 * it is searched. Times are seconds since 1970, local times as if the zone
 * were UTC. Private to this folder.
 *
 * The effective local time at t is the latest that the local clock has shown
 * up to t: it never goes back. Stamps are made of it alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "period/period.h"

/* No time of a zone is farther from 1970; it is what zic begins time with. */
#define ZONE_TIME_MAX   (INT64_C(1) << 59)
/* The offsets that RFC 8536 allows, either way. */
#define ZONE_OFFSET_MAX 93599
#define ZONE_OFFSET_MIN (-89999)

#define ZONE_FOOTER_SIZE 128
#define ZONE_FILE_MAX    65536 /* bytes; the largest there is has some 3,000 */

struct zone_segment {
    int64_t from;
    int64_t reached; /* every local time below was shown or skipped before
                        `from`; set last */
    int64_t offset;  /* local time less UTC */
};

struct period_zone {
    struct zone_segment *segments; /* the first is since ever */
    size_t count;
    size_t room;
    int64_t repeats; /* from then on all is as it was 400 years before;
                        INT64_MAX: the last offset is for ever */
};

/* An empty zone, NULL when out of memory. For period_zone_close. */
struct period_zone *zone_new(void);

/* The offset is another from then on, or the same. No `from` may be less than
 * the one before; of two that are the same the later counts. The first must be
 * -ZONE_TIME_MAX or earlier. False when out of memory. */
bool zone_add(struct period_zone *zone, int64_t from, int64_t offset);

/* To be called once all was added, before the zone is searched. */
void zone_finish(struct period_zone *zone);

/* The effective local time at `at`. */
int64_t zone_local(const struct period_zone *zone, int64_t at);

/* The first time at which the effective local time is `local` or later. */
int64_t zone_reach(const struct period_zone *zone, int64_t local);

/* Reads the bytes of a zone file, TZif of version 1 to 4. SEQB_INVALID: what
 * is wrong with it; SEQB_NO_MEMORY. `*out` is for period_zone_close. */
enum seqb_status zone_file_read(const char *bytes, size_t size,
                                struct period_zone **out,
                                struct seqb_error *err);

/*
 * Adds what the footer of a zone file says of the time after `last`, the last
 * transition in the file, and how that repeats. `text` is a TZ string as of
 * POSIX, ended by a 0; empty: it says nothing. SEQB_INVALID, SEQB_NO_MEMORY.
 */
enum seqb_status zone_footer_add(struct period_zone *zone, int64_t last,
                                 const char *text, struct seqb_error *err);
