/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences by key, and the sessions that wait for them; see waitlist.h. */
#include "daemon/waitlist.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_SLOTS 64

/* Called on a thread of the library: only sets a mark and wakes the loop. The
 * release pairs with the acquire in waitlists_serve: a reader that sees the
 * mark sees the numbers. */
static void waitlist_on_ready(void *context)
{
    struct waitlist *waitlist = context;
    const uint64_t one = 1;

    atomic_store_explicit(&waitlist->is_ready, true, memory_order_release);
    /* Fails only if the eventfd's counter is full: the loop is awake then. */
    if (write(waitlist->wake_fd, &one, sizeof one) < 0)
        return;
}

static uint64_t key_hash(const char *key, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3;
    return hash;
}

static struct waitlist **waitlists_slot(struct waitlists *waitlists,
                                        const char *key, size_t length)
{
    return &waitlists
                ->slots[key_hash(key, length) & (waitlists->slot_count - 1)];
}

void waitlists_init(struct waitlists *waitlists, struct seqb_broker *broker,
                    int wake_fd)
{
    *waitlists = (struct waitlists){.broker = broker, .wake_fd = wake_fd};
    TAILQ_INIT(&waitlists->waiting);
}

void waitlists_fini(struct waitlists *waitlists)
{
    for (size_t i = 0; i < waitlists->slot_count; i++) {
        struct waitlist *waitlist = waitlists->slots[i];

        while (waitlist != NULL) {
            struct waitlist *next = waitlist->next;

            free(waitlist);
            waitlist = next;
        }
    }
    free((void *)waitlists->slots);
    waitlists->slots = NULL;
    waitlists->slot_count = 0;
}

static void waitlists_insert(struct waitlists *waitlists,
                             struct waitlist *waitlist)
{
    struct waitlist **slot =
        waitlists_slot(waitlists, waitlist->key, waitlist->key_length);

    waitlist->next = *slot;
    *slot = waitlist;
}

/* Grows the hash table, to keep its load factor at 1 or below. */
static bool waitlists_widen(struct waitlists *waitlists)
{
    struct waitlists old = *waitlists;
    size_t count = old.slot_count == 0 ? FIRST_SLOTS : 2 * old.slot_count;
    struct waitlist **slots = NULL;

    if (old.count < old.slot_count)
        return true;
    slots = (struct waitlist **)calloc(count, sizeof(struct waitlist *));
    if (slots == NULL)
        return false;
    waitlists->slots = slots;
    waitlists->slot_count = count;
    for (size_t i = 0; i < old.slot_count; i++) {
        while (old.slots[i] != NULL) {
            struct waitlist *waitlist = old.slots[i];

            old.slots[i] = waitlist->next;
            waitlists_insert(waitlists, waitlist);
        }
    }
    free((void *)old.slots);
    return true;
}

static enum seqb_status waitlist_fail(struct seqb_error *err,
                                      enum seqb_status status, const char *text)
{
    err->status = status;
    snprintf(err->text, sizeof err->text, "%s", text);
    return status;
}

static struct waitlist *waitlist_new(struct seqb_sequence *sequence,
                                     const char *key, int wake_fd)
{
    struct waitlist *waitlist = calloc(1, sizeof *waitlist);

    if (waitlist == NULL)
        return NULL;
    waitlist->key_length = strlen(key);
    memcpy(waitlist->key, key, waitlist->key_length + 1);
    waitlist->sequence = sequence;
    waitlist->wake_fd = wake_fd;
    TAILQ_INIT(&waitlist->line);
    atomic_init(&waitlist->is_ready, false);
    return waitlist;
}

static enum seqb_status waitlists_add(struct waitlists *waitlists,
                                      const char *key, struct waitlist **out,
                                      struct seqb_error *err)
{
    struct seqb_sequence *sequence = NULL;
    struct waitlist *waitlist = NULL;
    enum seqb_status status =
        seqb_get_sequence(waitlists->broker, key, &sequence, err);

    if (status != SEQB_OK)
        return status;
    waitlist = waitlists_widen(waitlists)
                   ? waitlist_new(sequence, key, waitlists->wake_fd)
                   : NULL;
    if (waitlist == NULL)
        return waitlist_fail(err, SEQB_NO_MEMORY, "out of memory");
    waitlists_insert(waitlists, waitlist);
    waitlists->count++;
    seqb_on_ready(sequence, waitlist_on_ready, waitlist);
    *out = waitlist;
    return SEQB_OK;
}

static struct waitlist *waitlists_known(struct waitlists *waitlists,
                                        struct resp_slice key)
{
    struct waitlist *waitlist = NULL;

    if (waitlists->slot_count > 0)
        waitlist = *waitlists_slot(waitlists, key.data, key.length);
    while (waitlist != NULL &&
           (waitlist->key_length != key.length ||
            memcmp(waitlist->key, key.data, key.length) != 0))
        waitlist = waitlist->next;
    return waitlist;
}

bool waitlists_have(struct waitlists *waitlists, struct resp_slice key)
{
    return waitlists_known(waitlists, key) != NULL;
}

enum seqb_status waitlists_find(struct waitlists *waitlists,
                                struct resp_slice key, struct waitlist **out,
                                struct seqb_error *err)
{
    struct waitlist *waitlist = NULL;
    char text[SEQB_KEY_MAX + 1];

    /* The library takes strings: a key that it would see truncated is refused
     * here. */
    if (key.length > SEQB_KEY_MAX || memchr(key.data, '\0', key.length))
        return waitlist_fail(
            err, SEQB_INVALID,
            "not a sequence key: 1 to 64 of A-Z a-z 0-9 . _ : -");
    waitlist = waitlists_known(waitlists, key);
    if (waitlist != NULL) {
        *out = waitlist;
        return SEQB_OK;
    }
    memcpy(text, key.data, key.length);
    text[key.length] = '\0';
    return waitlists_add(waitlists, text, out, err);
}

bool waitlist_has_waiters(const struct waitlist *waitlist)
{
    return !waitlist->is_serving && !TAILQ_EMPTY(&waitlist->line);
}

void waitlists_join(struct waitlists *waitlists, struct waitlist *waitlist,
                    struct waiter *waiter, bool is_first)
{
    if (TAILQ_EMPTY(&waitlist->line))
        TAILQ_INSERT_TAIL(&waitlists->waiting, waitlist, waiting);
    if (is_first)
        TAILQ_INSERT_HEAD(&waitlist->line, waiter, entry);
    else
        TAILQ_INSERT_TAIL(&waitlist->line, waiter, entry);
    waiter->waitlist = waitlist;
    waitlists->waiter_count++;
    waitlist->is_serving = false;
}

void waitlists_leave(struct waitlists *waitlists, struct waiter *waiter)
{
    struct waitlist *waitlist = waiter->waitlist;

    if (waitlist == NULL)
        return;
    TAILQ_REMOVE(&waitlist->line, waiter, entry);
    waiter->waitlist = NULL;
    waitlists->waiter_count--;
    if (TAILQ_EMPTY(&waitlist->line))
        TAILQ_REMOVE(&waitlists->waiting, waitlist, waiting);
}

/* Whether waiters are left that may be resumed. */
static bool waitlist_serve(struct waitlists *waitlists,
                           struct waitlist *waitlist, int *left,
                           void (*resume)(struct session *session))
{
    bool has_more = false;

    waitlist->is_serving = true;
    while (waitlist->is_serving && !TAILQ_EMPTY(&waitlist->line) && *left > 0) {
        struct waiter *waiter = TAILQ_FIRST(&waitlist->line);

        (*left)--;
        waitlists_leave(waitlists, waiter);
        resume(waiter->session);
    }
    has_more = waitlist->is_serving && !TAILQ_EMPTY(&waitlist->line);
    waitlist->is_serving = false;
    return has_more;
}

/* The others are served before it the next time. */
static void waitlist_postpone(struct waitlists *waitlists,
                              struct waitlist *waitlist)
{
    TAILQ_REMOVE(&waitlists->waiting, waitlist, waiting);
    TAILQ_INSERT_TAIL(&waitlists->waiting, waitlist, waiting);
    atomic_store_explicit(&waitlist->is_ready, true, memory_order_relaxed);
}

bool waitlists_serve(struct waitlists *waitlists,
                     void (*resume)(struct session *session))
{
    struct waitlist *waitlist = TAILQ_FIRST(&waitlists->waiting);
    int left = WAITLISTS_TURNS;

    while (waitlist != NULL && left > 0) {
        /* Serving this waitlist does not empty another one, so `next` stays in
         * the list. */
        struct waitlist *next = TAILQ_NEXT(waitlist, waiting);

        if (atomic_exchange_explicit(&waitlist->is_ready, false,
                                     memory_order_acquire) &&
            waitlist_serve(waitlists, waitlist, &left, resume))
            waitlist_postpone(waitlists, waitlist);
        waitlist = next;
    }
    return left == 0 && !TAILQ_EMPTY(&waitlists->waiting);
}
