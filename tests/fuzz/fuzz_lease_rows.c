/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as what a store keeps of worker ids: the row of an id, the row of
 * the store's origin, and the claim that notes the longest lease. What must
 * hold: a row is refused, or it is what writing the same again gives; no row
 * that follows allows times again that were used; a store that was bound to
 * another origin is opened after a wait alone; and what is written can be read.
 */
#include "fuzz/fuzz.h"
#include "ha/ha.h"
#include "lease/worker_lease.h"

#define WALL_MS  INT64_C(1700000000000)
#define LEASE_MS 10000
#define LONG_MS  (INT64_MAX / 2) /* longer than any lease */

static const struct lease_self self = {
    .key = 7, .lease_ms = LEASE_MS, .holder = "host:1", .origin = "now"};

/* --- the row of an id --- */

static void check_next(const struct lease_row *row,
                       const struct lease_row *before, bool is_kept)
{
    char text[LEASE_TEXT_SIZE];
    struct lease_row again;

    lease_write(row, text, sizeof text);
    require(lease_read(text, &again));
    require(again.tenure == row->tenure && again.count == row->count);
    require(again.upto_ms == row->upto_ms && again.is_held == row->is_held);
    require(!is_kept || row->upto_ms >= before->upto_ms);
}

/* The highest count and tenure are left out: nobody reaches them. */
static void check_successors(const struct lease_row *row)
{
    struct lease_row next;

    if (row->tenure >= INT64_MAX / 4 || row->count >= INT64_MAX / 4)
        return;
    next = lease_taken(row, &self, WALL_MS);
    require(next.is_held && next.tenure == row->tenure + 1);
    check_next(&next, row, true);
    next = lease_renewed(row, &self, WALL_MS);
    require(next.is_held && next.tenure == row->tenure);
    require(next.count == row->count + 1);
    check_next(&next, row, true);
    next = lease_given_back(row, row->renewed_ms, WALL_MS);
    require(!next.is_held);
    check_next(&next, row, false);
}

static void check_verdict(const char *text, const struct lease_row *row,
                          int64_t unchanged_ms)
{
    int64_t left_ms;
    const enum lease_verdict verdict =
        lease_evaluate(text, unchanged_ms, &self, WALL_MS, &left_ms);

    require((verdict == LEASE_WAIT) == (left_ms > 0));
    require((verdict == LEASE_DAMAGED) == (row == NULL && text[0] != '\0'));
    if (row == NULL || verdict != LEASE_TAKE)
        return;
    require(row->upto_ms <= WALL_MS + LEASE_MS);
    require(!row->is_held || unchanged_ms > row->lease_ms);
}

static void check_row(const char *text)
{
    struct lease_row row;
    const bool is_row = lease_read(text, &row);
    char again[LEASE_TEXT_SIZE];

    if (is_row) {
        lease_write(&row, again, sizeof again);
        require(strcmp(again, text) == 0);
        check_successors(&row);
    }
    check_verdict(text, is_row ? &row : NULL, 0);
    check_verdict(text, is_row ? &row : NULL, LEASE_MS + LEASE_MS / 4 + 1);
    check_verdict(text, is_row ? &row : NULL, LONG_MS);
}

/* --- the row of the origin --- */

static void check_origin(const char *text)
{
    char next[LEASE_TEXT_SIZE];
    char after[LEASE_TEXT_SIZE];
    int64_t left_ms;

    if (lease_check_origin(text, 0, &self, &left_ms, next) != LEASE_ORIGIN_SWAP)
        return;
    if (strstr(text, "origin=now") == NULL)
        require(lease_check_origin(next, 0, &self, &left_ms, after) ==
                LEASE_ORIGIN_WAIT);
    if (lease_check_origin(next, 0, &self, &left_ms, after) ==
        LEASE_ORIGIN_OPEN)
        return;
    require(left_ms > LEASE_MS);
    require(lease_check_origin(next, LONG_MS, &self, &left_ms, after) ==
            LEASE_ORIGIN_SWAP);
    require(lease_check_origin(after, 0, &self, &left_ms, next) ==
            LEASE_ORIGIN_OPEN);
}

/* --- the note --- */

static void check_note(const char *text)
{
    static const struct worker_lease lease = {
        .self = {.key = 7, .lease_ms = LEASE_MS}};
    char claim[HA_TEXT_SIZE];
    char noted[HA_TEXT_SIZE];

    require(lease_note_read(text) >= 0);
    require(lease_note_read(text) <= LEASE_NOTED_MAX_MS);
    if (!text_copy(claim, sizeof claim, text))
        return;
    lease_note_write(&lease, 1, claim, noted, sizeof noted);
    require(strlen(noted) == sizeof noted - 1 ||
            lease_note_read(noted) == LEASE_MS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    check_row(text);
    check_origin(text);
    check_note(text);
    free(text);
    return 0;
}
