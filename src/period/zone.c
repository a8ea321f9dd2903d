/* SPDX-License-Identifier: Apache-2.0 */
/* A zone's table: building and searching it. zone_file.c and zone_footer.c fill
 * it. */
#include "period/zone.h"

#include <stdlib.h>

#include "period/date.h"

#define CYCLE_S (DATE_CYCLE_DAYS * DATE_DAY_S)

struct period_zone *zone_new(void)
{
    struct period_zone *zone = calloc(1, sizeof *zone);

    if (zone != NULL)
        zone->repeats = INT64_MAX;
    return zone;
}

void period_zone_close(struct period_zone *zone)
{
    if (zone == NULL)
        return;
    free(zone->segments);
    free(zone);
}

static bool zone_grow(struct period_zone *zone)
{
    const size_t room = zone->room == 0 ? 64 : 2 * zone->room;
    struct zone_segment *more =
        realloc(zone->segments, room * sizeof *zone->segments);

    if (more == NULL)
        return false;
    zone->segments = more;
    zone->room = room;
    return true;
}

bool zone_add(struct period_zone *zone, int64_t from, int64_t offset)
{
    if (zone->count > 0 && zone->segments[zone->count - 1].from == from)
        zone->count--;
    if (zone->count > 0 && zone->segments[zone->count - 1].offset == offset)
        return true;
    if (zone->count == zone->room && !zone_grow(zone))
        return false;
    zone->segments[zone->count++] = (struct zone_segment){from, 0, offset};
    return true;
}

void zone_finish(struct period_zone *zone)
{
    int64_t reached = INT64_MIN;

    for (size_t i = 0; i < zone->count; i++) {
        struct zone_segment *segment = &zone->segments[i];

        if (i > 0) {
            const int64_t shown = segment->from + segment[-1].offset;

            reached = shown > reached ? shown : reached;
        }
        segment->reached = reached;
    }
}

/* How much to subtract from a time, local or UTC, so that the table covers
 * it. */
static int64_t zone_shift(const struct period_zone *zone, int64_t at)
{
    if (at < zone->repeats)
        return 0;
    return ((at - zone->repeats) / CYCLE_S + 1) * CYCLE_S;
}

/* The last segment that begins at `at` or before. For a local time: the last
 * segment before which that local time was not reached. */
static const struct zone_segment *segment_at(const struct period_zone *zone,
                                             int64_t at, bool is_local)
{
    size_t low = 0;
    size_t high = zone->count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        const struct zone_segment *segment = &zone->segments[middle];

        if ((is_local ? segment->reached : segment->from) <= at)
            low = middle;
        else
            high = middle;
    }
    return &zone->segments[low];
}

int64_t zone_local(const struct period_zone *zone, int64_t at)
{
    const int64_t shift = zone_shift(zone, at);
    const struct zone_segment *segment = segment_at(zone, at - shift, false);
    const int64_t local = at - shift + segment->offset;

    return (local < segment->reached ? segment->reached - 1 : local) + shift;
}

int64_t zone_reach(const struct period_zone *zone, int64_t local)
{
    const int64_t shift = zone_shift(zone, local);
    const struct zone_segment *segment = segment_at(zone, local - shift, true);
    const int64_t at = local - shift - segment->offset;

    return (at < segment->from ? segment->from : at) + shift;
}
