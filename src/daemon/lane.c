/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences by key, and who waits for them; see lane.h. */
#include "daemon/lane.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_SLOTS 64

/* On a thread of the library: no more than a mark and a wake-up. The release
 * pairs with the acquire in lanes_serve: who sees the mark sees the numbers. */
static void lane_on_ready(void *context)
{
    struct lane *lane = context;
    const uint64_t one = 1;

    atomic_store_explicit(&lane->is_ready, true, memory_order_release);
    /* It fails only if 2^64 - 2 wake-ups are waiting to be seen. */
    if (write(lane->wake_fd, &one, sizeof one) < 0)
        return;
}

static uint64_t key_hash(const char *key, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3;
    return hash;
}

static struct lane **lanes_slot(struct lanes *lanes, const char *key,
                                size_t length)
{
    return &lanes->slots[key_hash(key, length) & (lanes->slot_count - 1)];
}

void lanes_init(struct lanes *lanes, struct seqb_broker *broker, int wake_fd)
{
    *lanes = (struct lanes){.broker = broker, .wake_fd = wake_fd};
    TAILQ_INIT(&lanes->waiting);
}

void lanes_fini(struct lanes *lanes)
{
    for (size_t i = 0; i < lanes->slot_count; i++) {
        struct lane *lane = lanes->slots[i];

        while (lane != NULL) {
            struct lane *next = lane->next;

            free(lane);
            lane = next;
        }
    }
    free((void *)lanes->slots);
    lanes->slots = NULL;
    lanes->slot_count = 0;
}

static void lanes_insert(struct lanes *lanes, struct lane *lane)
{
    struct lane **slot = lanes_slot(lanes, lane->key, lane->key_length);

    lane->next = *slot;
    *slot = lane;
}

/* Keeps the lists of the hash table about one lane long. */
static bool lanes_widen(struct lanes *lanes)
{
    struct lanes old = *lanes;
    size_t count = old.slot_count == 0 ? FIRST_SLOTS : 2 * old.slot_count;
    struct lane **slots = NULL;

    if (old.count < old.slot_count)
        return true;
    slots = (struct lane **)calloc(count, sizeof(struct lane *));
    if (slots == NULL)
        return false;
    lanes->slots = slots;
    lanes->slot_count = count;
    for (size_t i = 0; i < old.slot_count; i++) {
        while (old.slots[i] != NULL) {
            struct lane *lane = old.slots[i];

            old.slots[i] = lane->next;
            lanes_insert(lanes, lane);
        }
    }
    free((void *)old.slots);
    return true;
}

static enum seqb_status lane_fail(struct seqb_error *err,
                                  enum seqb_status status, const char *text)
{
    err->status = status;
    snprintf(err->text, sizeof err->text, "%s", text);
    return status;
}

static struct lane *lane_new(struct seqb_sequence *sequence, const char *key,
                             int wake_fd)
{
    struct lane *lane = calloc(1, sizeof *lane);

    if (lane == NULL)
        return NULL;
    lane->key_length = strlen(key);
    memcpy(lane->key, key, lane->key_length + 1);
    lane->sequence = sequence;
    lane->wake_fd = wake_fd;
    TAILQ_INIT(&lane->line);
    atomic_init(&lane->is_ready, false);
    return lane;
}

static enum seqb_status lanes_add(struct lanes *lanes, const char *key,
                                  struct lane **out, struct seqb_error *err)
{
    struct seqb_sequence *sequence = NULL;
    struct lane *lane = NULL;
    enum seqb_status status =
        seqb_get_sequence(lanes->broker, key, &sequence, err);

    if (status != SEQB_OK)
        return status;
    lane = lanes_widen(lanes) ? lane_new(sequence, key, lanes->wake_fd) : NULL;
    if (lane == NULL)
        return lane_fail(err, SEQB_NO_MEMORY, "out of memory");
    lanes_insert(lanes, lane);
    lanes->count++;
    seqb_on_ready(sequence, lane_on_ready, lane);
    *out = lane;
    return SEQB_OK;
}

static struct lane *lanes_known(struct lanes *lanes, struct resp_slice key)
{
    struct lane *lane = NULL;

    if (lanes->slot_count > 0)
        lane = *lanes_slot(lanes, key.data, key.length);
    while (lane != NULL && (lane->key_length != key.length ||
                            memcmp(lane->key, key.data, key.length) != 0))
        lane = lane->next;
    return lane;
}

enum seqb_status lanes_find(struct lanes *lanes, struct resp_slice key,
                            struct lane **out, struct seqb_error *err)
{
    struct lane *lane = NULL;
    char text[SEQB_KEY_MAX + 1];

    /* The library takes strings: what would be cut there is refused here. */
    if (key.length > SEQB_KEY_MAX || memchr(key.data, '\0', key.length))
        return lane_fail(err, SEQB_INVALID,
                         "not a sequence key: 1 to 64 of A-Z a-z 0-9 . _ : -");
    lane = lanes_known(lanes, key);
    if (lane != NULL) {
        *out = lane;
        return SEQB_OK;
    }
    memcpy(text, key.data, key.length);
    text[key.length] = '\0';
    return lanes_add(lanes, text, out, err);
}

bool lane_has_line(const struct lane *lane)
{
    return !lane->is_serving && !TAILQ_EMPTY(&lane->line);
}

void lanes_join(struct lanes *lanes, struct lane *lane, struct waiter *waiter,
                bool is_first)
{
    if (TAILQ_EMPTY(&lane->line))
        TAILQ_INSERT_TAIL(&lanes->waiting, lane, waiting);
    if (is_first)
        TAILQ_INSERT_HEAD(&lane->line, waiter, entry);
    else
        TAILQ_INSERT_TAIL(&lane->line, waiter, entry);
    waiter->lane = lane;
    lane->is_serving = false;
}

void lanes_leave(struct lanes *lanes, struct waiter *waiter)
{
    struct lane *lane = waiter->lane;

    if (lane == NULL)
        return;
    TAILQ_REMOVE(&lane->line, waiter, entry);
    waiter->lane = NULL;
    if (TAILQ_EMPTY(&lane->line))
        TAILQ_REMOVE(&lanes->waiting, lane, waiting);
}

/* Ends: whoever is resumed uses up input that was read before. */
static void lane_serve(struct lanes *lanes, struct lane *lane,
                       void (*resume)(struct session *session))
{
    lane->is_serving = true;
    while (lane->is_serving && !TAILQ_EMPTY(&lane->line)) {
        struct waiter *waiter = TAILQ_FIRST(&lane->line);

        lanes_leave(lanes, waiter);
        resume(waiter->session);
    }
    lane->is_serving = false;
}

void lanes_serve(struct lanes *lanes, void (*resume)(struct session *session))
{
    struct lane *lane = TAILQ_FIRST(&lanes->waiting);

    while (lane != NULL) {
        /* Serving this lane empties no other, so that `next` stays in the
         * list. */
        struct lane *next = TAILQ_NEXT(lane, waiting);

        if (atomic_exchange_explicit(&lane->is_ready, false,
                                     memory_order_acquire))
            lane_serve(lanes, lane, resume);
        lane = next;
    }
}
