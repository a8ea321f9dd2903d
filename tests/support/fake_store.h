/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a fake store, for fake.c, fake_serve.c and fake_store.c alone:
 * its cells, its script, and how a call meets the script.
 */
#pragma once

#include <pthread.h>

#include "support/fake.h"

#define FAKE_CELLS_MAX    512
#define FAKE_CLAIMS_MAX   512
#define FAKE_REFUSALS_MAX 8
#define FAKE_BASE         "" /* where direct counters start that have no cell */
#define FAKE_TIME         '@' /* what names of cells begin with that hold times */

struct fake_cell {
    char counter[SEQB_COUNTER_SIZE]; /* meaningful if `is_used` */
    bool is_used;
    int64_t value; /* the last value granted; windowed: offsets used */
    int64_t origin;
    int64_t incarnation; /* compared of a cell in a direct store */
    int64_t window;      /* windowed only, like `size` */
    int64_t size;
    int64_t until_ms; /* windowed only: it vanishes then; 0: never */
    struct seqb_raise first_raise; /* direct only; see fake_first_raise */
};

struct fake_claim {
    char *name; /* NULL: free */
    char *text;
};

/* What is refused, to whom, and how; no counter: free. */
struct fake_refusal {
    char counter[SEQB_COUNTER_SIZE];
    enum fake_call call;
    enum seqb_status status;
};

struct fake_script {
    struct fake_refusal refusals[FAKE_REFUSALS_MAX];
    int64_t failures[FAKE_CALLS];         /* calls still to fail ... */
    enum seqb_status failure[FAKE_CALLS]; /* ... with this */
    int64_t losses[FAKE_CALLS];           /* answers still to lose */
    bool blocks[FAKE_CALLS];              /* whether the next one blocks */
    int64_t grant_max;
    int64_t ahead_ms; /* read only if `has_clock` */
    int32_t delay_ms;
    bool is_down;
    bool is_replica;
    bool is_hanging;
    bool has_sockets;
    bool has_clock;
    bool takes;
};

struct fake_store {
    char name[64];
    pthread_mutex_t lock;   /* guards all below */
    pthread_cond_t changed; /* script, calls or hanging */
    struct fake_script script;
    bool is_windowed; /* as last opened */
    int64_t origin;
    int64_t saved_origin;
    int64_t incarnation;
    int64_t saved_incarnation; /* below 0: the copy was not started yet */
    int64_t incarnations;      /* so far, of the store and its copy */
    int64_t generation;        /* of connections: older ones are broken */
    int64_t calls[FAKE_CALLS];
    int64_t hanging;
    int64_t ended; /* calls that blocked until a shutdown */
    int64_t open_backends;
    int64_t refusals;
    int64_t misuses;
    struct fake_cell cells[FAKE_CELLS_MAX];
    struct fake_cell saved[FAKE_CELLS_MAX];
    struct fake_claim claims[FAKE_CLAIMS_MAX];
    struct fake_claim saved_claims[FAKE_CLAIMS_MAX];
};

/* The living store of that name, or NULL. */
struct fake_store *fake_store_find(const char *name);

/* All below: the store's lock is held. */

/* The counter's cell, or NULL. */
struct fake_cell *fake_cell_find(struct fake_store *store, const char *counter);

/* Puts the counter's cell, made if absent, at `value` and the store's origin.
 * A test with too many counters stops here. */
struct fake_cell *fake_cell_put(struct fake_store *store, const char *counter,
                                int64_t value);

/* False also for NULL. */
bool fake_cell_is_bound(const struct fake_store *store,
                        const struct fake_cell *cell);

/* What stands under `name` after storing `text`, if nothing did. */
const char *fake_claim_stand(struct fake_store *store, const char *name,
                             const char *text);

/* Puts `text` in the place of what stands under `name`, or stores it; `text`.
 */
const char *fake_claim_replace(struct fake_store *store, const char *name,
                               const char *text);

/* The incarnation as the store's backends have it; "" of a windowed one. */
void fake_incarnation(const struct fake_store *store, char *out, size_t size);

/* Frees them all. */
void fake_claims_free(struct fake_claim *claims);

void fake_call_count(struct fake_store *store, enum fake_call call);

/* What the script says to a call for that one counter or claim. */
enum seqb_status fake_script_refuses(struct fake_store *store,
                                     enum fake_call call, const char *counter,
                                     struct seqb_error *err);

/* Waits for what the script delays or hangs; false if it took too long. */
bool fake_script_wait(struct fake_store *store, int32_t timeout_ms);

/* What the script says to a call of that kind, before anything is done. */
enum seqb_status fake_script_verdict(struct fake_store *store,
                                     enum fake_call call,
                                     struct seqb_error *err);
