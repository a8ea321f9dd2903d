/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snowflake engine: values of time | worker | counter, made here, without
 * a store. One generator a backend, whatever counter is asked. Which times it
 * may give is time.c's; the worker id is leased in ha/.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "backends/backends.h"
#include "backends/snowflake/time.h"
#include "period/period.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

struct snowflake {
    struct seqb_backend base;
    const char *name;
    struct bits_layout layout;
    struct flake_lease lease;
    struct flake_last last;
    int64_t worker; /* meaningful if it was ever leased */
};

static const char *snowflake_library(void)
{
    return "snowflake, built in";
}

static enum seqb_status snowflake_init(struct snowflake *flake,
                                       const struct seqb_backend_options *from,
                                       struct seqb_error *err)
{
    struct seqb_error why;

    flake->base.ops = &backend_snowflake;
    flake->base.fd = -1;
    flake->name = from->name;
    flake->layout = (struct bits_layout){.epoch_ms = from->epoch_ms,
                                         .unit_ms = 1,
                                         .time = from->time_bits,
                                         .shard = from->worker_bits,
                                         .counter = from->counter_bits};
    if (bits_check(&flake->layout, &why) != SEQB_OK)
        return error_set(err, SEQB_INVALID, "snowflake %s: %s", from->name,
                         why.text);
    (void)text_copy(flake->base.origin, sizeof flake->base.origin, "snowflake");
    (void)text_copy(flake->base.domain, sizeof flake->base.domain,
                    "this process");
    (void)text_format(flake->base.server, sizeof flake->base.server,
                      "snowflake %d|%d|%d", (int)from->time_bits,
                      (int)from->worker_bits, (int)from->counter_bits);
    return SEQB_OK;
}

static void snowflake_close(struct seqb_backend *backend)
{
    free(backend);
}

static enum seqb_status
snowflake_open(const struct seqb_backend_options *options,
               struct seqb_backend **out, struct seqb_error *err)
{
    struct snowflake *flake = calloc(1, sizeof *flake);

    if (flake == NULL)
        return error_set(err, SEQB_NO_MEMORY, "snowflake %s: out of memory",
                         options->name);
    if (snowflake_init(flake, options, err) != SEQB_OK) {
        snowflake_close(&flake->base);
        return SEQB_INVALID;
    }
    *out = &flake->base;
    return SEQB_OK;
}

/* --- reserve --- */

/* A time fits if all values of it do, in the bits and below the limit. */
static struct flake_rules rules_for(const struct bits_layout *layout,
                                    int64_t limit)
{
    const int32_t low = layout->shard + layout->counter;
    const int64_t times = (int64_t)(((uint64_t)limit + 1) >> low);
    const int64_t end_ms = bits_end_ms(layout);
    struct flake_rules rules = {
        .first_ms = layout->epoch_ms + 1, /* no value is 0 */
        .end_ms = layout->epoch_ms + times,
        .ms_values = bits_counter_max(layout) + 1,
    };

    if (rules.end_ms > end_ms)
        rules.end_ms = end_ms;
    return rules;
}

static enum seqb_status refuse(const struct snowflake *flake,
                               enum flake_verdict verdict, int64_t behind_ms,
                               struct seqb_error *err)
{
    switch (verdict) {
    case FLAKE_AGAIN:
        return error_set(err, SEQB_AGAIN,
                         "snowflake %s: the values of this ms are given",
                         flake->name);
    case FLAKE_BEHIND:
        return error_set(err, SEQB_CLOCK,
                         "snowflake %s: the machine's clock is %" PRId64
                         " ms behind the last time of worker id %" PRId64
                         ": set it right, or wait",
                         flake->name, behind_ms, flake->worker);
    case FLAKE_OVER:
        return error_set(err, SEQB_EXHAUSTED,
                         "snowflake %s: the time does not fit its bits any "
                         "more",
                         flake->name);
    default:
        return error_set(err, SEQB_FENCED,
                         "snowflake %s: its lease of a worker id has ended",
                         flake->name);
    }
}

static enum seqb_status grant(struct snowflake *flake,
                              struct seqb_request *request,
                              struct seqb_error *err)
{
    const struct flake_rules rules = rules_for(&flake->layout, request->limit);
    /* Read here: what is made of them is made at once, or never. */
    const struct flake_now now = {clock_wall_ms(), clock_boot_ms()};
    struct flake_block block;
    struct bits_parts parts;
    const enum flake_verdict verdict = flake_next(
        &rules, &flake->lease, now, request->want, &flake->last, &block);

    if (verdict != FLAKE_GIVE)
        return refuse(flake, verdict, block.time_ms - now.wall_ms, err);
    parts = (struct bits_parts){.time_ms = block.time_ms,
                                .shard = flake->worker,
                                .counter = block.counter};
    request->block.count = block.count;
    return bits_compose(&flake->layout, &parts, &request->block.first, err);
}

static enum seqb_status snowflake_reserve(struct seqb_backend *backend,
                                          struct seqb_request *requests,
                                          size_t n, struct seqb_error *err)
{
    struct snowflake *flake = (struct snowflake *)backend;

    (void)err; /* there is no connection to fail */
    for (size_t i = 0; i < n; i++) {
        requests[i].window = SEQB_NO_WINDOW;
        requests[i].block = (struct seqb_block){0, 0};
        requests[i].status = grant(flake, &requests[i], &requests[i].error);
    }
    return SEQB_OK;
}

/* --- the lease --- */

/* Another id's values of the same ms would be lower than those given. */
static enum seqb_status snowflake_install(struct seqb_backend *backend,
                                          const struct seqb_window *window,
                                          int64_t *standing,
                                          struct seqb_error *err)
{
    struct snowflake *flake = (struct snowflake *)backend;
    int64_t above = window->above;

    if (window->window < 0 || window->window > bits_shard_max(&flake->layout) ||
        above < 0 || above > window->upto || window->upto == INT64_MAX)
        return error_set(err, SEQB_INVALID,
                         "snowflake %s: no lease of worker id %" PRId64
                         " from %" PRId64 " up to %" PRId64,
                         flake->name, window->window, above, window->upto);
    if (window->window != flake->worker && above < flake->last.time_ms)
        above = flake->last.time_ms;
    flake->worker = window->window;
    flake->lease = (struct flake_lease){
        .above = above, .upto = window->upto, .until_ms = window->until_ms};
    *standing = window->window;
    return SEQB_OK;
}

/* --- what stores do --- */

static enum seqb_status snowflake_raise(struct seqb_backend *backend,
                                        const struct seqb_raise *raise,
                                        int64_t *out, struct seqb_error *err)
{
    (void)out;
    return error_set(err, SEQB_INVALID,
                     "snowflake %s: %s: values that are made of the time "
                     "cannot be raised",
                     ((struct snowflake *)backend)->name, raise->counter);
}

/* What is claimed of it is written in its settings, and stands. */
static enum seqb_status snowflake_claim(struct seqb_backend *backend,
                                        const char *name, const char *text,
                                        char *standing, size_t size,
                                        struct seqb_error *err)
{
    if (text_copy(standing, size, text == NULL ? "" : text))
        return SEQB_OK;
    return error_set(err, SEQB_PROTOCOL, "snowflake %s: claim %s is too long",
                     ((struct snowflake *)backend)->name, name);
}

static enum seqb_status snowflake_swap(struct seqb_backend *backend,
                                       const struct seqb_swap *swap,
                                       char *standing, size_t size,
                                       struct seqb_error *err)
{
    (void)standing;
    (void)size;
    return error_set(err, SEQB_INVALID, "snowflake %s: %s: it has no store",
                     ((struct snowflake *)backend)->name, swap->name);
}

static enum seqb_status snowflake_purge(struct seqb_backend *backend,
                                        const struct seqb_purge *purge,
                                        int32_t *deleted,
                                        struct seqb_error *err)
{
    (void)backend;
    (void)purge;
    (void)err;
    *deleted = 0;
    return SEQB_OK;
}

static enum seqb_status snowflake_clock(struct seqb_backend *backend,
                                        int64_t *out_ms, struct seqb_error *err)
{
    (void)backend;
    (void)err;
    *out_ms = 0;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_snowflake = {
    .engine = "snowflake",
    .guarantee = SEQB_LOCAL,
    .library = snowflake_library,
    .open = snowflake_open,
    .reserve = snowflake_reserve,
    .raise = snowflake_raise,
    .install = snowflake_install,
    .claim = snowflake_claim,
    .swap = snowflake_swap,
    .purge = snowflake_purge,
    .clock = snowflake_clock,
    .close = snowflake_close,
};
