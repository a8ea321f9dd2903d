/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a zone file, or, if they do not begin as one, as the TZ string
 * in the footer of one. What must hold: they are refused with a reason, or
 * make a zone whose time never goes back, and whose spans follow each other.
 */
#include "fuzz/fuzz.h"
#include "period/zone.h"
#include "unit/zone_fixture.h"

#define STEP_MS INT64_C(2000003000017) /* some 60 years: 120 looks */

/* At an instant, and at where its span ends. */
static void check_span(const struct period_rules *rules, int64_t ms)
{
    struct period_span span;
    struct period_span next;

    period_span_at(rules, ms, &span);
    require(span.begin_ms <= ms && ms < span.end_ms);
    if (span.end_ms > PERIOD_MAX_MS)
        return;
    period_span_at(rules, span.end_ms, &next);
    require(next.begin_ms == span.end_ms && next.stamp > span.stamp);
    period_span_at(rules, span.end_ms - 1, &next);
    require(next.stamp == span.stamp && next.begin_ms == span.begin_ms);
}

/* At every change of the table, and all along the time there is. */
static void check_zone(const struct period_zone *zone)
{
    for (int unit = PERIOD_SECOND; unit <= PERIOD_YEAR; unit++) {
        const struct period_rules rules = {(enum period_unit)unit, zone, 4, 6};

        for (size_t i = 0; i < zone->count; i += 1 + zone->count / 64) {
            const int64_t from = zone->segments[i].from;

            if (from > 0 && from < PERIOD_MAX_MS / 1000)
                check_span(&rules, from * 1000);
        }
        for (int64_t ms = 0; ms < PERIOD_MAX_MS; ms += STEP_MS)
            check_span(&rules, ms);
    }
}

static void check(const char *bytes, size_t size)
{
    struct period_zone *zone = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    char *copy = malloc(size + (size == 0));

    require(copy != NULL);
    if (size > 0)
        memcpy(copy, bytes, size);
    if (zone_file_read(copy, size, &zone, &err) == SEQB_OK) {
        free(copy);
        check_zone(zone);
        period_zone_close(zone);
        return;
    }
    free(copy);
    require(zone == NULL && err.status == SEQB_INVALID && err.text[0] != '\0');
}

static void check_footer(const uint8_t *data, size_t size)
{
    static const int32_t offset = 0;
    char footer[2 * ZONE_FOOTER_SIZE];
    struct zone_parts parts = {'3', NULL, NULL, 0, &offset, 1, footer};
    struct zone_image image;

    if (size >= sizeof footer)
        return;
    if (size > 0)
        memcpy(footer, data, size);
    footer[size] = '\0';
    zone_image_make(&parts, &image);
    check(image.bytes, image.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 4 && memcmp(data, "TZif", 4) == 0)
        check((const char *)data, size);
    else
        check_footer(data, size);
    return 0;
}
