/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internals of a fake store, for fake.c, fake_past.c, fake_serve.c and
 * fake_store.c alone: its cells, its script, and what the script does to a
 * call.
 */
#pragma once

#include <pthread.h>

#include "support/fake.h"

#define FAKE_CELLS_MAX    512
#define FAKE_CLAIMS_MAX   512
#define FAKE_REFUSALS_MAX 8
#define FAKE_BASE         "" /* the base: where new direct counters begin */
/* First character of the names of cells that hold times. */
#define FAKE_TIME         '@'

struct fake_cell {
    char counter[SEQB_COUNTER_SIZE]; /* valid if `is_used` */
    bool is_used;
    int64_t value; /* last value granted; windowed: offsets used */
    int64_t origin;
    int64_t incarnation; /* compared only for windows in a direct store */
    int64_t window;      /* windowed only, like `size` */
    int64_t size;
    int64_t until_ms; /* windowed only: when it expires; 0: never */
    struct seqb_raise first_raise; /* direct only; see fake_first_raise */
};

struct fake_claim {
    char *name; /* NULL: free */
    char *text;
};

/* Which calls for which counter are refused with what; without a counter:
 * free. */
struct fake_refusal {
    char counter[SEQB_COUNTER_SIZE];
    enum fake_call call;
    enum seqb_status status;
};

struct fake_script {
    struct fake_refusal refusals[FAKE_REFUSALS_MAX];
    /* Number of calls that still fail ... */
    int64_t failures[FAKE_CALLS];
    enum seqb_status failure[FAKE_CALLS]; /* ... with this status */
    /* Number of answers that are still lost. */
    int64_t losses[FAKE_CALLS];
    bool blocks[FAKE_CALLS]; /* the next call blocks */
    int64_t grant_max;
    int64_t ahead_ms; /* read only if `has_clock` */
    int32_t delay_ms;
    bool is_down;
    bool is_replica;
    bool hangs[FAKE_CALLS];
    bool has_sockets;
    bool has_clock;
    bool takes;
};

struct fake_store {
    char name[64];
    pthread_mutex_t lock;   /* guards all members below */
    pthread_cond_t changed; /* the script, calls or hanging changed */
    struct fake_script script;
    bool is_windowed; /* of the backend opened last */
    int64_t origin;
    int64_t saved_origin;
    int64_t incarnation;
    int64_t saved_incarnation; /* negative: the copy was not started yet */
    int64_t incarnations;      /* given out so far, to store and copy */
    int64_t generation;        /* of connections; older ones are broken */
    int64_t calls[FAKE_CALLS];
    int64_t hanging;
    int64_t ended; /* blocked calls that a shutdown ended */
    int64_t open_backends;
    int64_t refusals;
    int64_t misuses;
    struct fake_cell cells[FAKE_CELLS_MAX];
    struct fake_cell saved[FAKE_CELLS_MAX];
    struct fake_claim claims[FAKE_CLAIMS_MAX];
    struct fake_claim saved_claims[FAKE_CLAIMS_MAX];
};

/* The existing store of that name; NULL: none. */
struct fake_store *fake_store_find(const char *name);

/* For all functions below, the caller holds the store's lock. */

/* The counter's cell; NULL: none. */
struct fake_cell *fake_cell_find(struct fake_store *store, const char *counter);

/* Sets the counter's cell to `value` and to the store's origin. Creates it if
 * necessary; aborts the program if there are too many counters. */
struct fake_cell *fake_cell_put(struct fake_store *store, const char *counter,
                                int64_t value);

/* Whether the cell belongs to the store's current history: has its origin and,
 * for a window in a direct store, its incarnation. False for NULL. */
bool fake_cell_is_bound(const struct fake_store *store,
                        const struct fake_cell *cell);

/* Stores `text` under `name` unless a text is stored there already. Returns the
 * text stored afterwards. */
const char *fake_claim_stand(struct fake_store *store, const char *name,
                             const char *text);

/* Stores `text` under `name`, replacing what is stored there. Returns the
 * stored text. */
const char *fake_claim_replace(struct fake_store *store, const char *name,
                               const char *text);

/* The incarnation as text, as backends report it; "" for a windowed store. */
void fake_incarnation(const struct fake_store *store, char *out, size_t size);

/* Frees the texts of all claims. */
void fake_claims_free(struct fake_claim *claims);

void fake_call_count(struct fake_store *store, enum fake_call call);

/* The status that the script has for a call for that counter or claim. */
enum seqb_status fake_script_refuses(struct fake_store *store,
                                     enum fake_call call, const char *counter,
                                     struct seqb_error *err);

/* Waits as the script demands (delay or hang); false if that took longer than
 * `timeout_ms`. */
bool fake_script_wait(struct fake_store *store, enum fake_call call,
                      int32_t timeout_ms);

/* The status that the script has for a call of that kind, before the call takes
 * effect. */
enum seqb_status fake_script_verdict(struct fake_store *store,
                                     enum fake_call call,
                                     struct seqb_error *err);
