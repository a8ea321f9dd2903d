/* SPDX-License-Identifier: Apache-2.0 */
/* One broker's life, in small steps. */
#include "spool_life.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "backends/backends.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/flusher/spool.h"

#define PARTITIONS  (1 << LIFE_BITS)
#define BITS        LIFE_BITS
#define MEMORY_BITS LIFE_MEMORY_BITS
#define HELD_MAX    512 /* blocks */
#define PATIENCE_MS 30000
#define RUNS        12 /* in one grant */

struct life {
    struct ha_sink sink; /* first: grants are delivered to it */
    const struct life_watch *watch;
    int fd;
    char paths[PARTITIONS][128];
    struct store_options backends[PARTITIONS];
    struct ha_pool_options pool;
    struct ha_options options;
    struct ha *ha;
    struct ha_counter *counter;
    struct spool *spool;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool is_granted;
    struct spool_block held[HELD_MAX];
    size_t count;

    int64_t inherited; /* numbers taken from the spool so far */
    bool has_failed;
};

static void hold(struct life *life, int64_t first, int64_t length)
{
    if (length > 0 && life->count < HELD_MAX)
        life->held[life->count++] =
            (struct spool_block){.key = "order",
                                 .bits = BITS,
                                 .memory_bits = MEMORY_BITS,
                                 .first = first,
                                 .length = length};
}

/* On a worker's thread. */
static void deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct life *life = (struct life *)sink;

    pthread_mutex_lock(&life->lock);
    hold(life, grant->first, grant->count << MEMORY_BITS);
    life->is_granted = true;
    pthread_cond_signal(&life->changed);
    pthread_mutex_unlock(&life->lock);
}

/* --- opening --- */

static void life_options(struct life *life, const char *folder)
{
    static const char *const names[PARTITIONS] = {"file-0", "file-1"};

    for (int32_t i = 0; i < PARTITIONS; i++) {
        (void)text_format(life->paths[i], sizeof life->paths[i],
                          "%s/partition-%d.db", folder, (int)i);
        life->backends[i] = (struct store_options){
            .ops = &backend_sqlite,
            .options = {.name = names[i],
                        .path = life->paths[i],
                        .timeout_ms = PATIENCE_MS,
                        .connect_timeout_ms = PATIENCE_MS,
                        .auto_create = true}};
        life->pool.layout.partitions[i] = i;
    }
    life->pool.layout.name = "main";
    life->pool.layout.bits = BITS;
    life->pool.layout.authority = -1;
    life->pool.timeout_ms = PATIENCE_MS;
    life->pool.slow_count = 2;
    life->pool.slow_window_ms = PATIENCE_MS;
    life->pool.rescue_after_ms = PATIENCE_MS;
    life->pool.layout.failover_gap = 1000;
    life->options = (struct ha_options){.backends = life->backends,
                                        .backend_count = PARTITIONS,
                                        .pools = &life->pool,
                                        .pool_count = 1,
                                        .open_timeout_ms = PATIENCE_MS};
}

static bool life_open(struct life *life, const char *folder)
{
    char path[128];
    struct seqb_error err;

    life->sink.deliver = deliver;
    pthread_mutex_init(&life->lock, NULL);
    condition_init(&life->changed);
    life_options(life, folder);
    (void)text_format(path, sizeof path, "%s/spool", folder);
    if (ha_open(&life->options, &life->ha, &err) == SEQB_OK &&
        ha_counter_new(ha_pool_at(life->ha, 0), "order", MEMORY_BITS,
                       &life->sink, &life->counter, &err) == SEQB_OK &&
        spool_open(path, life->ha, &life->spool, &err) == SEQB_OK)
        return true;
    (void)fprintf(stderr, "# life: %s\n", err.text);
    life->has_failed = true;
    return false;
}

static enum life_end life_end(struct life *life, int64_t inherited)
{
    spool_close(life->spool);
    ha_close(life->ha);
    ha_counter_free(life->counter);
    if (life->has_failed)
        return LIFE_FAILED;
    return inherited > 0 ? LIFE_HEIR : LIFE_EMPTY;
}

/* --- living --- */

static void issue_one(struct life *life, struct spool_block *block)
{
    const int64_t mask = ((int64_t)1 << MEMORY_BITS) - 1;

    if (write(life->fd, &block->first, sizeof block->first) !=
        sizeof block->first)
        life->has_failed = true;
    block->first += (block->first & mask) == mask
                        ? ((int64_t)1 << (BITS + MEMORY_BITS)) - mask
                        : 1;
    block->length--;
}

/* From the end, so that what was taken last is issued first. */
static void issue(struct life *life, int64_t numbers)
{
    while (numbers-- > 0 && life->count > 0) {
        struct spool_block *block = &life->held[life->count - 1];

        issue_one(life, block);
        if (block->length == 0)
            life->count--;
    }
}

static void grant(struct life *life)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    const int64_t asked =
        ha_counter_ask(life->counter, RUNS, HA_ASK_ONE, clock_now_ms());

    pthread_mutex_lock(&life->lock);
    while (asked > 0 && !life->is_granted &&
           condition_wait(&life->changed, &life->lock, until_ms))
        continue;
    if (!life->is_granted)
        life->has_failed = true;
    life->is_granted = false;
    pthread_mutex_unlock(&life->lock);
}

static enum spool_choice choose(void *context, const struct spool_block *block,
                                int32_t *memory_bits)
{
    (void)context;
    (void)block;
    *memory_bits = MEMORY_BITS;
    return SPOOL_TAKE;
}

static void take(void *context, const struct spool_block *block)
{
    struct life *life = context;

    hold(life, block->first, block->length);
    life->inherited += block->length;
}

/* Gives the blocks from `begin` on. What is given stays the broker's only if
 * the exchange says so. */
static void exchange(struct life *life, size_t begin, bool takes)
{
    struct spool_block give[HELD_MAX];
    struct spool_exchange_options attributes = {.give = give,
                                                .give_count =
                                                    life->count - begin,
                                                .choose = takes ? choose : NULL,
                                                .take = take,
                                                .context = life};
    struct seqb_error err = {SEQB_OK, ""};
    enum seqb_status status;

    for (size_t i = 0; i < attributes.give_count; i++)
        give[i] = life->held[begin + i];
    life->count = begin;
    life->watch->exchange(true);
    status = spool_exchange(life->spool, &attributes,
                            clock_now_ms() + PATIENCE_MS, &err);
    life->watch->exchange(false);
    if (status == SEQB_OK)
        return;
    if (status != SEQB_UNCERTAIN)
        life->count += attributes.give_count; /* where it still stands */
    if (life->watch->may_fail)
        return;
    (void)fprintf(stderr, "# exchange: %s\n", err.text);
    life->has_failed = true;
}

enum life_end spool_live(const char *folder, int fd,
                         const struct life_watch *watch)
{
    struct life life = {.fd = fd, .watch = watch};
    int64_t inherited;

    if (!life_open(&life, folder))
        return life_end(&life, 0);
    exchange(&life, life.count, true); /* takes over */
    inherited = life.inherited;
    issue(&life, 10);
    grant(&life);
    issue(&life, 7);
    exchange(&life, life.count / 2, false); /* one sequence is idle */
    issue(&life, 5);
    exchange(&life, life.count, true); /* and is not any more */
    issue(&life, 9);
    exchange(&life, 0, false); /* a clean stop */
    return life_end(&life, inherited);
}

enum life_end spool_empty(const char *folder, int fd,
                          const struct life_watch *watch)
{
    struct life life = {.fd = fd, .watch = watch};

    if (!life_open(&life, folder))
        return life_end(&life, 0);
    exchange(&life, life.count, true);
    issue(&life, INT64_MAX);
    return life_end(&life, life.inherited);
}
