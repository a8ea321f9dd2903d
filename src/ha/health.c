/* SPDX-License-Identifier: Apache-2.0 */
/* The state of all pools in one line. It has an entry for each partition that
 * may not be asked, does not answer or refuses a counter. */
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

/* A member that may not be asked or does not answer, and why. */
static void describe_member(const struct ha_pool *pool, int32_t i,
                            struct report *report)
{
    const struct pool_member *member = &pool->pool.member[i];
    const char *name = worker_name(pool->workers[i]);
    char words[ENTRY_SIZE];

    if (i < pool->pool.partitions)
        (void)text_format(words, sizeof words, "partition %d (%s) ", (int)i,
                          name);
    else
        (void)text_format(words, sizeof words, "authority %s ", name);
    if (pool_is_usable(&pool->pool, i) && pool_is_stuck(&pool->pool, i))
        (void)text_append(words, sizeof words, "does not answer");
    else
        (void)text_append(words, sizeof words, "is %s",
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

/* The pool can serve, but not this sequence. The partitions that refuse it are
 * listed as well. */
static void describe_unserved(const struct ha_pool *pool, struct report *report)
{
    const char *key = NULL;
    char words[ENTRY_SIZE];

    for (int32_t i = 0; i < pool->pool.partitions && key == NULL; i++) {
        if (pool_is_usable(&pool->pool, i))
            key = slot_refusals_unserved(pool, i);
    }
    if (key == NULL)
        return;
    (void)text_format(words, sizeof words, "no partition grants sequence %s",
                      key);
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

/* Whether windows can be leased, or a partition counts in none. */
static bool can_lease(const struct ha_pool *pool)
{
    const struct pool *members = &pool->pool;

    if (pool->lessors.count > 0)
        return lessors_can_lease(&pool->lessors,
                                 lessors_away(&pool->lessors, members));
    for (int32_t i = 0; i < pool->members; i++) {
        if (!pool_may_answer(members, i))
            continue;
        if (pool->authority == NULL || pool->workers[i] == pool->authority ||
            !pool_is_windowed(pool, i))
            return true;
    }
    return false;
}

/* Whether a partition that answers could lease a window, or has a spare one. */
static bool has_windows(const struct ha_pool *pool)
{
    if (can_lease(pool))
        return true;
    for (int32_t i = 0; i < pool->pool.partitions; i++) {
        if (pool_may_answer(&pool->pool, i) && pool->spares[i] > 0)
            return true;
    }
    return false;
}

static bool has_partition(const struct pool *pool)
{
    for (int32_t i = 0; i < pool->partitions; i++) {
        if (pool_may_answer(pool, i))
            return true;
    }
    return false;
}

/* All that is wrong. Members that are down come before those that refuse a
 * counter, since the text may be cut. One slow call is not a fault, but a
 * member that is slow may be the last one. */
static void describe_pool(const struct ha_pool *pool, struct report *report)
{
    const struct pool *members = &pool->pool;

    for (int32_t i = 0; i < pool->members; i++) {
        if (!pool_may_answer(members, i))
            describe_member(pool, i, report);
    }
    describe_lessors(pool, report);
    describe_unserved(pool, report);
    for (int32_t i = 0; i < members->partitions; i++) {
        if (pool_is_usable(members, i) && pool->refusals[i].count > 0)
            describe_refusals(pool, i, report);
    }
    for (int32_t i = 0; i < pool->members && report->is_wrong; i++) {
        if (pool_may_answer(members, i) &&
            members->member[i].state == SEQB_PARTITION_SUSPECT)
            describe_member(pool, i, report);
    }
}

static enum seqb_health pool_health(struct ha_pool *pool,
                                    struct text_list *first,
                                    struct text_list *rest)
{
    struct report report = {.list = rest, .pool = pool->options->layout.name};
    bool lacks_windows;

    pthread_mutex_lock(pool->lock);
    report.cannot_serve = !has_partition(&pool->pool);
    lacks_windows = !report.cannot_serve && !has_windows(pool);
    report.cannot_serve = report.cannot_serve || lacks_windows;
    if (report.cannot_serve)
        report.list = first;
    if (lacks_windows)
        report_add(&report, pool->lessors.count > 0
                                ? "no neighbour can lease a window, and no "
                                  "spare one is left"
                                : "the authority is away, and no spare window "
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
