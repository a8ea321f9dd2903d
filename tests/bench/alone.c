/* SPDX-License-Identifier: Apache-2.0 */
/* Looks inside the library: texts are written as src/number/number.c does. */
#include "bench/alone.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/by_hand.h"
#include "bench/die.h"
#include "bench/now.h"
#include "number/shuffle.h"
#include "number/template.h"

#define DAY    20261121
#define SECRET "how to be sure that nobody counts"

/* A day's numbers, one after the other. */
struct day {
    struct period_zone *zone;
    struct period_rules rules;
    struct template *template;
    struct seqb_stamp stamp;
    int64_t next;
    char texts[ALONE_ROUND][BY_HAND_SIZE];
};

static void day_open(struct day *day, const char *text, const char *zone)
{
    struct template_rules rules = {.key = "order", .period = &day->rules};
    struct period_span span;
    struct seqb_error err;

    must(period_zone_open(zone, &day->zone, &err), &err);
    day->rules = (struct period_rules){PERIOD_DAY, day->zone, 1, 1};
    must(template_make(text, &rules, &day->template, &err), &err);
    if (!period_span_of(&day->rules, DAY, &span))
        die("no such day");
    day->stamp = (struct seqb_stamp){span.stamp, span.begin_ms, span.end_ms};
    day->next = 1;
}

static void day_close(struct day *day)
{
    template_free(day->template);
    period_zone_close(day->zone);
}

static void write_template(struct day *day)
{
    struct facts facts = {.key = "order", .stamp = day->stamp, .shard = -1};
    struct draft draft;
    struct seqb_error err;

    date_fields_of(PERIOD_DAY, day->stamp.digits, &facts.date);
    must(template_begin(day->template, &facts, &draft, &err), &err);
    for (int i = 0; i < ALONE_ROUND; i++) {
        facts.number = day->next + i;
        must(template_write(&draft, day->texts[i], &err), &err);
    }
}

static void write_by_hand(struct day *day)
{
    for (int i = 0; i < ALONE_ROUND; i++) {
        char date[BY_HAND_DATE];

        by_hand_date(day->stamp.begins_ms, date);
        by_hand_write(date, day->next + i, day->texts[i]);
    }
}

static void write_by_hand_dated(struct day *day)
{
    char date[BY_HAND_DATE];

    by_hand_date(day->stamp.begins_ms, date);
    for (int i = 0; i < ALONE_ROUND; i++)
        by_hand_write(date, day->next + i, day->texts[i]);
}

static void day_compare(struct day *day, void (*write)(struct day *day))
{
    char other[ALONE_ROUND][BY_HAND_SIZE];

    write_template(day);
    memcpy(other, day->texts, sizeof other);
    write(day);
    for (int i = 0; i < ALONE_ROUND; i++) {
        if (strcmp(other[i], day->texts[i]) != 0)
            die("a text is not what is written by hand");
    }
}

/* Numbers of six digits, mostly, as a busy day has them. */
static double day_ns(struct day *day, void (*write)(struct day *day),
                     double seconds)
{
    const int64_t start_ns = now_ns();
    const double end = now_s() + seconds;
    int64_t count = 0;

    do {
        for (int i = 0; i < 16; i++) {
            write(day);
            day->next = day->next % 1000000 + ALONE_ROUND;
            count += ALONE_ROUND;
        }
    } while (now_s() < end);
    return (double)(now_ns() - start_ns) / (double)count;
}

double alone_text_ns(const char *text, const char *zone, enum alone_way way,
                     double seconds)
{
    static void (*const ways[])(struct day *) = {
        [ALONE_TEMPLATE] = write_template,
        [ALONE_HAND] = write_by_hand,
        [ALONE_HAND_DATED] = write_by_hand_dated,
    };
    static struct day day;
    double ns;

    day_open(&day, text, zone);
    day_compare(&day, ways[way]);
    ns = day_ns(&day, ways[way], seconds);
    day_close(&day);
    return ns;
}

double alone_shuffle_ns(int width, bool is_back, double seconds)
{
    uint64_t (*const turn)(const struct shuffle *, uint64_t, uint64_t) =
        is_back ? shuffle_backward : shuffle_forward;
    struct shuffle_key key;
    struct shuffle shuffle;
    uint64_t size = 1;
    uint64_t used = 0;
    int64_t count = 0;
    int64_t start_ns;
    double end;

    for (int i = 0; i < width; i++)
        size *= 10;
    shuffle_key_make(SECRET, strlen(SECRET), &key);
    shuffle_init(&shuffle, &key, size);
    start_ns = now_ns();
    end = now_s() + seconds;
    do {
        for (uint64_t i = 0; i < 4096; i++)
            used += turn(&shuffle, DAY, (uint64_t)(count + (int64_t)i) % size);
        count += 4096;
    } while (now_s() < end);
    if (used == 0)
        die("all values are 0");
    return (double)(now_ns() - start_ns) / (double)count;
}
