/* SPDX-License-Identifier: Apache-2.0 */
/* The table of looks has a few places for each hash of a key; see looks.h. */
#include "queue/looks/looks.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/queue_state.h"

#define SETS   ((size_t)256)
#define WAYS   4 /* keys of a set */
#define PLACES (SETS * WAYS)

/* One call of each store asks about so many keys, and then rests. */
#define BATCH   HA_KNOWN_MAX
#define REST_MS 100

/* How long a key is refused without asking the stores again: another broker may
 * use it meanwhile, or the store that knows it may come back. */
#define KEEP_MS 5000

enum look_state {
    LOOK_FREE,
    LOOK_WAITS, /* for the thread, or for what the stores say */
    LOOK_UNKNOWN
};

struct look {
    enum look_state state;
    int64_t until_ms; /* LOOK_UNKNOWN: when it may be asked again */
    char key[SEQB_KEY_MAX + 1];
};

void looks_init(struct looks *looks,
                void (*add)(struct queue *queue, const char *key))
{
    looks->add = add;
    pthread_mutex_init(&looks->lock, NULL);
    condition_init(&looks->changed);
}

void looks_fini(struct looks *looks)
{
    free(looks->table);
    pthread_cond_destroy(&looks->changed);
    pthread_mutex_destroy(&looks->lock);
}

/* --- the table; with the lock held --- */

static struct look *set_of(const struct looks *looks, const char *key)
{
    return &looks->table[hash_text(key) % SETS * WAYS];
}

/* The place of the key, or one that may be used for it: free, or else of the
 * key that was refused first. NULL: all wait. */
static struct look *place_of(const struct looks *looks, const char *key)
{
    struct look *set = set_of(looks, key);
    struct look *best = NULL;

    for (int i = 0; i < WAYS; i++) {
        if (set[i].state != LOOK_FREE && strcmp(set[i].key, key) == 0)
            return &set[i];
        if (set[i].state != LOOK_WAITS &&
            (best == NULL || set[i].until_ms < best->until_ms))
            best = &set[i];
    }
    return best;
}

static void look_begin(struct looks *looks, struct look *look, const char *key)
{
    (void)text_copy(look->key, sizeof look->key, key);
    look->state = LOOK_WAITS;
    looks->waiting++;
    pthread_cond_signal(&looks->changed);
}

/* --- the thread --- */

/* The next keys that wait. They do so until their look ends. */
static size_t looks_take(struct looks *looks, struct look **batch)
{
    size_t count = 0;

    for (size_t i = 0; i < PLACES && count < BATCH; i++) {
        struct look *look = &looks->table[looks->next];

        looks->next = (looks->next + 1) % PLACES;
        if (look->state == LOOK_WAITS)
            batch[count++] = look;
    }
    return count;
}

/* Waits for keys. 0: the thread has to end. */
static size_t looks_await(struct looks *looks, struct look **batch)
{
    size_t count = 0;

    pthread_mutex_lock(&looks->lock);
    while (looks->waiting == 0 && !looks->is_stopping)
        pthread_cond_wait(&looks->changed, &looks->lock);
    if (!looks->is_stopping)
        count = looks_take(looks, batch);
    pthread_mutex_unlock(&looks->lock);
    return count;
}

/* The rest is what bounds the calls of the stores. */
static void looks_rest(struct looks *looks)
{
    const int64_t until_ms = clock_now_ms() + REST_MS;

    pthread_mutex_lock(&looks->lock);
    while (!looks->is_stopping && clock_now_ms() < until_ms)
        (void)condition_wait(&looks->changed, &looks->lock, until_ms);
    pthread_mutex_unlock(&looks->lock);
}

/* A key that is known has its sequence, and needs its place no more, unless
 * there was no memory. */
static void look_end(struct queue *queue, struct look *look, bool is_known)
{
    if (is_known)
        queue->looks.add(queue, look->key);
    pthread_mutex_lock(&queue->looks.lock);
    queue->looks.waiting--;
    look->state = is_known ? LOOK_FREE : LOOK_UNKNOWN;
    look->until_ms = is_known ? 0 : clock_now_ms() + KEEP_MS;
    pthread_mutex_unlock(&queue->looks.lock);
}

/* The keys of looks that wait do not change. */
static void looks_run_batch(struct queue *queue, struct look **batch,
                            size_t count)
{
    const char *keys[BATCH];
    bool is_known[BATCH] = {false};
    const struct queue_sequence_options *automatic;
    struct ha_pool *pool = NULL;

    for (size_t i = 0; i < count; i++)
        keys[i] = batch[i]->key;
    pthread_rwlock_rdlock(&queue->catalog_lock);
    automatic = queue->options->automatic;
    if (automatic != NULL)
        pool = ha_pool_at(queue->ha, (size_t)automatic->pool);
    pthread_rwlock_unlock(&queue->catalog_lock);
    pthread_mutex_lock(&queue->admit_lock);
    if (pool != NULL)
        ha_known(queue->ha, pool, keys, count, is_known);
    pthread_mutex_unlock(&queue->admit_lock);
    for (size_t i = 0; i < count; i++)
        look_end(queue, batch[i], is_known[i]);
}

static void *looks_run(void *argument)
{
    struct queue *queue = argument;
    struct look *batch[BATCH];
    size_t count;

    while ((count = looks_await(&queue->looks, batch)) > 0) {
        looks_run_batch(queue, batch, count);
        looks_rest(&queue->looks);
    }
    return NULL;
}

void looks_shut(struct looks *looks)
{
    pthread_mutex_lock(&looks->lock);
    looks->is_stopping = true;
    pthread_cond_signal(&looks->changed);
    pthread_mutex_unlock(&looks->lock);
}

bool looks_are_shut(struct looks *looks)
{
    bool is_stopping;

    pthread_mutex_lock(&looks->lock);
    is_stopping = looks->is_stopping;
    pthread_mutex_unlock(&looks->lock);
    return is_stopping;
}

void looks_stop(struct looks *looks)
{
    looks_shut(looks);
    if (looks->is_started)
        pthread_join(looks->thread, NULL);
    looks->is_started = false;
}

/* --- asking --- */

/* With the lock held. */
static enum seqb_status looks_start(struct queue *queue, struct seqb_error *err)
{
    struct looks *looks = &queue->looks;
    enum seqb_status status;

    if (looks->is_stopping)
        return error_set(err, SEQB_CLOSED, "the broker is closing");
    if (looks->table == NULL)
        looks->table = calloc(PLACES, sizeof *looks->table);
    if (looks->table == NULL)
        return error_set(err, SEQB_NO_MEMORY, "queue: out of memory");
    if (looks->is_started)
        return SEQB_OK;
    status = thread_start(&looks->thread, "seqb:look", looks_run, queue, err);
    looks->is_started = status == SEQB_OK;
    return status;
}

/* With the lock held. */
static bool is_looked_at(struct looks *looks, const char *key)
{
    struct look *look = place_of(looks, key);

    if (look == NULL)
        return false;
    if (look->state != LOOK_FREE && strcmp(look->key, key) == 0) {
        if (look->state == LOOK_WAITS)
            return true;
        if (clock_now_ms() < look->until_ms)
            return false;
    }
    look_begin(looks, look, key);
    return true;
}

enum seqb_status looks_ask(struct queue *queue, const char *key,
                           struct seqb_error *err)
{
    struct looks *looks = &queue->looks;
    enum seqb_status status;
    bool is_asked = false;

    pthread_mutex_lock(&looks->lock);
    status = looks_start(queue, err);
    if (status == SEQB_OK)
        is_asked = is_looked_at(looks, key);
    pthread_mutex_unlock(&looks->lock);
    if (status != SEQB_OK)
        return status;
    return is_asked
               ? error_set(err, SEQB_UNAVAILABLE,
                           "sequence %s is not there yet: the limit of "
                           "auto_sequences, %lld, is reached, and the stores "
                           "are asked whether they know it: try again",
                           key, (long long)queue->options->auto_limit)
               : error_set(err, SEQB_UNKNOWN_KEY,
                           "unknown sequence '%s', and the limit of "
                           "auto_sequences, %lld, is reached",
                           key, (long long)queue->options->auto_limit);
}
