/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of leases, and the rules of which broker may take an id. */
#include "lease/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "platform/checksum.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* The widths are the buffer sizes less 1: a scan format cannot name a
 * constant. */
#define HOLDER_FORMAT "%127[^ ]"
#define ORIGIN_FORMAT "%159[^\n]"

#define TIME_MAX (INT64_MAX / 4) /* keeps sums in range; above: damage */

/* How long another broker's lease is respected: one of the two clocks may run
 * faster by a quarter. */
static int64_t patience_of(int64_t lease_ms)
{
    return lease_ms + lease_ms / 4 + 1;
}

/* --- the rows of worker ids --- */

void lease_write(const struct lease_row *row, char *out, size_t size)
{
    (void)text_format(out, size,
                      "worker 1 state=%s tenure=%" PRId64 " count=%" PRId64
                      " key=%016" PRIx64 " renewed=%" PRId64 " upto=%" PRId64
                      " lease=%" PRId64 " holder=%s origin=%s",
                      row->is_held ? "held" : "free", row->tenure, row->count,
                      row->key, row->renewed_ms, row->upto_ms, row->lease_ms,
                      row->holder, row->origin);
}

static bool is_time(int64_t value)
{
    return value >= 0 && value <= TIME_MAX;
}

bool lease_read(const char *text, struct lease_row *out)
{
    char again[LEASE_TEXT_SIZE];
    char state[8] = "";

    memset(out, 0, sizeof *out);
    /* NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion) */
    if (sscanf(text,
               "worker 1 state=%7s tenure=%" SCNd64 " count=%" SCNd64
               " key=%16" SCNx64 " renewed=%" SCNd64 " upto=%" SCNd64
               " lease=%" SCNd64 " holder=" HOLDER_FORMAT
               " origin=" ORIGIN_FORMAT,
               state, &out->tenure, &out->count, &out->key, &out->renewed_ms,
               &out->upto_ms, &out->lease_ms, out->holder, out->origin) < 9)
        return false;
    out->is_held = strcmp(state, "held") == 0;
    lease_write(out, again, sizeof again);
    return strcmp(text, again) == 0 && is_time(out->tenure) &&
           is_time(out->count) && is_time(out->renewed_ms) &&
           is_time(out->upto_ms) && is_time(out->lease_ms);
}

int64_t lease_watch(struct observation *observation, const char *text,
                    int64_t boot_ms)
{
    const uint64_t checksum = checksum_of(text, strlen(text));

    if (!observation->is_seen || observation->checksum != checksum)
        *observation = (struct observation){
            .checksum = checksum, .since_ms = boot_ms, .is_seen = true};
    return boot_ms - observation->since_ms;
}

enum lease_verdict lease_evaluate(const char *text, int64_t unchanged_ms,
                                  const struct lease_self *self,
                                  int64_t wall_ms, int64_t *left_ms)
{
    struct lease_row row;

    *left_ms = 0;
    if (text[0] == '\0')
        return LEASE_TAKE;
    if (!lease_read(text, &row))
        return LEASE_DAMAGED;
    if (row.is_held && row.key == self->key)
        return LEASE_OURS;
    if (row.is_held) {
        *left_ms =
            patience_of(max_of(row.lease_ms, self->lease_ms)) - unchanged_ms;
        if (*left_ms > 0)
            return LEASE_WAIT;
    }
    if (row.upto_ms > wall_ms + (self->is_exact ? 0 : self->lease_ms))
        return LEASE_AHEAD;
    return LEASE_TAKE;
}

static void row_stamp(struct lease_row *row, const struct lease_self *self,
                      int64_t wall_ms)
{
    row->is_held = true;
    row->key = self->key;
    row->lease_ms = self->lease_ms;
    row->renewed_ms = max_of(wall_ms, 0);
    row->upto_ms = max_of(row->upto_ms, row->renewed_ms + self->lease_ms);
    (void)text_copy(row->holder, sizeof row->holder, self->holder);
    (void)text_copy(row->origin, sizeof row->origin, self->origin);
}

struct lease_row lease_taken(const struct lease_row *standing,
                             const struct lease_self *self, int64_t wall_ms)
{
    struct lease_row row = {0};

    if (standing != NULL) {
        row.tenure = standing->tenure;
        row.upto_ms = standing->upto_ms;
    }
    row.tenure++;
    row.count = 1;
    row_stamp(&row, self, wall_ms);
    return row;
}

struct lease_row lease_renewed(const struct lease_row *row,
                               const struct lease_self *self, int64_t wall_ms)
{
    struct lease_row next = *row;

    next.count++;
    row_stamp(&next, self, wall_ms);
    return next;
}

struct lease_row lease_given_back(const struct lease_row *row, int64_t used_ms,
                                  int64_t wall_ms)
{
    struct lease_row next = *row;

    next.count++;
    next.is_held = false;
    next.renewed_ms = max_of(wall_ms, 0);
    next.upto_ms = used_ms;
    return next;
}

/* --- the row of the store's origin --- */

struct origin_row {
    bool is_open;
    int64_t lease_ms; /* the longest lease of its brokers */
    char origin[SEQB_ORIGIN_SIZE];
};

static void origin_write(const struct origin_row *row, char *out)
{
    (void)text_format(
        out, LEASE_TEXT_SIZE, "workers 1 state=%s lease=%" PRId64 " origin=%s",
        row->is_open ? "open" : "waiting", row->lease_ms, row->origin);
}

/* A text that cannot be read is bound again, like one of another history. */
static bool origin_read(const char *text, struct origin_row *out)
{
    char again[LEASE_TEXT_SIZE];
    char state[8] = "";

    memset(out, 0, sizeof *out);
    /* NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion) */
    if (sscanf(text,
               "workers 1 state=%7s lease=%" SCNd64 " origin=" ORIGIN_FORMAT,
               state, &out->lease_ms, out->origin) < 3)
        return false;
    out->is_open = strcmp(state, "open") == 0;
    origin_write(out, again);
    return strcmp(text, again) == 0 && is_time(out->lease_ms);
}

enum lease_origin_verdict lease_check_origin(const char *text,
                                             int64_t unchanged_ms,
                                             const struct lease_self *self,
                                             int64_t *left_ms, char *next)
{
    struct origin_row row;
    const bool is_bound =
        origin_read(text, &row) && strcmp(row.origin, self->origin) == 0;
    const int64_t longest_ms = lease_longest(self);
    const bool knows_lease = row.lease_ms >= longest_ms;

    row.lease_ms = max_of(is_time(row.lease_ms) ? row.lease_ms : 0, longest_ms);
    *left_ms = patience_of(row.lease_ms) - unchanged_ms;
    if (is_bound && knows_lease && row.is_open)
        return LEASE_ORIGIN_OPEN;
    if (is_bound && knows_lease && *left_ms > 0)
        return LEASE_ORIGIN_WAIT;
    row.is_open = text[0] == '\0' ? self->is_founder
                                  : is_bound && (row.is_open || knows_lease);
    (void)text_copy(row.origin, sizeof row.origin, self->origin);
    origin_write(&row, next);
    return LEASE_ORIGIN_SWAP;
}
