/* SPDX-License-Identifier: Apache-2.0 */
/* The state of all pools in one line. It has an entry for each partition that
 * may not be asked or refuses a counter. */
#include "ha/startup.h"

#include <string.h>

#include "ha/worker_pools.h"
#include "platform/text.h"
#include "platform/text_list.h"

#define ENTRY_SIZE 512
#define REST_SIZE  4096 /* for the text about pools that can serve */

const char *seqb_health_name(enum seqb_health health)
{
    static const char *const names[] = {
        [SEQB_HEALTH_SERVING] = "serving",
        [SEQB_HEALTH_DEGRADED] = "degraded",
        [SEQB_HEALTH_NOT_SERVING] = "not serving",
        [SEQB_HEALTH_UNKNOWN] = "unknown",
    };

    return (size_t)health < sizeof names / sizeof names[0] ? names[health]
                                                           : "unknown";
}

/* What is wrong with one pool. */
struct report {
    struct text_list *list;
    const char *pool; /* the pool's name */
    bool cannot_serve;
    bool is_wrong; /* it has an entry */
};

/* Texts of backends may have several lines. */
static void make_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ')
            *text = ' ';
    }
}

static void report_add(struct report *report, const char *words)
{
    char entry[ENTRY_SIZE] = "";

    if (!report->is_wrong)
        (void)text_format(entry, sizeof entry, "pool %s%s: ", report->pool,
                          report->cannot_serve ? " cannot serve" : "");
    (void)text_append(entry, sizeof entry, "%s", words);
    make_one_line(entry);
    text_list_add(report->list, entry);
    report->is_wrong = true;
}

/* --- a pool, with its lock held --- */

/* A member that may not be asked, and why. */
static void describe_member(const struct ha_pool *pool, int32_t i,
                            struct report *report)
{
    const struct pool_member *member = &pool->pool.member[i];
    const char *name = worker_name(pool->workers[i]);
    char words[ENTRY_SIZE];

    if (i < pool->pool.partitions)
        (void)text_format(words, sizeof words, "partition %d (%s) is %s",
                          (int)i, name,
                          seqb_partition_state_name(member->state));
    else
        (void)text_format(words, sizeof words, "authority %s is %s", name,
                          seqb_partition_state_name(member->state));
    if (member->reason[0] != '\0')
        (void)text_append(words, sizeof words, ": %.*s",
                          pool_reason_bytes(&pool->pool, i, member->reason),
                          member->reason);
    report_add(report, words);
}

/* A partition that may be asked, and what it refuses. */
static void describe_refusals(const struct ha_pool *pool, int32_t i,
                              struct report *report)
{
    char words[ENTRY_SIZE];

    (void)text_format(words, sizeof words, "partition %d (%s) ", (int)i,
                      worker_name(pool->workers[i]));
    slot_refusals_report(pool, i, words, sizeof words);
    report_add(report, words);
}

/* The lessors that wait, and what each waits for. */
static void describe_lessors(const struct ha_pool *pool, struct report *report)
{
    const struct lessors *lessors = &pool->lessors;

    for (int32_t i = 0; i < lessors->count; i++) {
        const struct lessor *lessor = &lessors->lessor[i];
        const int32_t other = lessors->lessor[lessor->waits_for].member;
        char words[ENTRY_SIZE];

        if (lessor->state != HA_LESSOR_WAITING)
            continue;
        (void)text_format(words, sizeof words,
                          "partition %d (%s) leases no windows: it waits for "
                          "%s",
                          (int)lessor->member,
                          worker_name(pool->workers[lessor->member]),
                          worker_name(pool->workers[other]));
        report_add(report, words);
    }
}

/* Whether a partition that may be asked has a spare window, or could lease
 * one. */
static bool has_windows(const struct ha_pool *pool)
{
    const struct lessors *lessors = &pool->lessors;

    if (lessors->count == 0 ||
        lessors_can_lease(lessors, lessors_away(lessors, &pool->pool)))
        return true;
    for (int32_t i = 0; i < pool->pool.partitions; i++) {
        if (pool_is_usable(&pool->pool, i) && pool->spares[i] > 0)
            return true;
    }
    return false;
}

/* All that is wrong. Members that are down come before those that refuse a
 * counter, since the text may be cut. */
static void describe_pool(const struct ha_pool *pool, struct report *report)
{
    const struct pool *members = &pool->pool;

    for (int32_t i = 0; i < pool->members; i++) {
        if (!pool_is_usable(members, i))
            describe_member(pool, i, report);
    }
    describe_lessors(pool, report);
    for (int32_t i = 0; i < members->partitions; i++) {
        if (pool_is_usable(members, i) && pool->refusals[i].count > 0)
            describe_refusals(pool, i, report);
    }
}

static enum seqb_health pool_health(struct ha_pool *pool,
                                    struct text_list *first,
                                    struct text_list *rest)
{
    struct report report = {.list = rest, .pool = pool->options->layout.name};
    bool lacks_windows;

    pthread_mutex_lock(pool->lock);
    report.cannot_serve = !pool_has_usable(&pool->pool, 0);
    lacks_windows = !report.cannot_serve && !has_windows(pool);
    report.cannot_serve = report.cannot_serve || lacks_windows;
    if (report.cannot_serve)
        report.list = first;
    if (lacks_windows)
        report_add(&report, "no neighbour can lease a window, and no spare one "
                            "is left");
    describe_pool(pool, &report);
    pthread_mutex_unlock(pool->lock);
    if (report.cannot_serve)
        return SEQB_HEALTH_NOT_SERVING;
    return report.is_wrong ? SEQB_HEALTH_DEGRADED : SEQB_HEALTH_SERVING;
}

/* --- all of them --- */

/* Moves the entries, which are separated by newlines. */
static void add_lines(struct text_list *list, const struct text_list *from)
{
    char *at = from->out;

    while (*at != '\0') {
        char *end = at + strcspn(at, "\n");
        const bool is_last = *end == '\0';

        *end = '\0';
        text_list_add(list, at);
        at = is_last ? end : end + 1;
    }
    list->left_out += from->left_out;
}

/* Pools that cannot serve come before those that can. */
enum seqb_health ha_health(struct ha *ha, char *reason, size_t size)
{
    enum seqb_health worst = SEQB_HEALTH_SERVING;
    char none[1];
    char words[REST_SIZE];
    struct text_list line;
    struct text_list rest;

    if (reason == NULL || size == 0) {
        reason = none;
        size = sizeof none;
    }
    text_list_init(&line, reason, size, "; ");
    text_list_init(&rest, words, sizeof words, "\n");
    for (size_t i = 0; i < ha->options->pool_count; i++) {
        const enum seqb_health health =
            pool_health(&ha->pools[i], &line, &rest);

        if (health > worst)
            worst = health;
    }
    add_lines(&line, &rest);
    text_list_finish(&line);
    return worst;
}
