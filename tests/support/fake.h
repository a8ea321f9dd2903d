/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted backend. Its store is plain memory that outlives its backends. It
 * follows the contract of <seqbroker/backend.h>, and fails on command.
 * Thread-safe. Stores are found by `options.path`, which is the store's name.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/backend.h>

extern const struct seqb_backend_ops backend_fake;          /* direct */
extern const struct seqb_backend_ops backend_fake_windowed; /* windowed */

struct fake_store;

enum fake_call {
    FAKE_OPEN,
    FAKE_RESERVE,
    FAKE_RAISE,
    FAKE_INSTALL,
    FAKE_CLAIM,
    FAKE_SWAP,
    FAKE_PURGE,
    FAKE_LIST,
    FAKE_CLOCK,
    FAKE_CALLS /* the number of kinds */
};

/* Makes an empty store that is up and a primary. `name` has at most 63 bytes
 * and is unique among existing stores. NULL if there are 64 already. A backend
 * whose store does not exist fails to open with SEQB_UNREACHABLE. */
struct fake_store *fake_store_new(const char *name);

/* Close its backends first. NULL is allowed. */
void fake_store_free(struct fake_store *store);

/* --- how its calls answer --- */

/* The next `times` calls of that kind do nothing and answer `status`. An open
 * fails with it; after any other call the backend must be closed. 0 ends it.
 * Such calls are counted. This precedes all other faults except a hang. */
void fake_fail(struct fake_store *store, enum fake_call call, int64_t times,
               enum seqb_status status);

/* Calls of that kind (FAKE_RESERVE, FAKE_RAISE, FAKE_INSTALL, FAKE_CLAIM or
 * FAKE_SWAP) do nothing for that one counter or claim, and answer `status` for
 * it alone. The backend stays usable. SEQB_OK ends it. At most 8 refusals at
 * once. */
void fake_refuse(struct fake_store *store, enum fake_call call,
                 const char *counter, enum seqb_status status);

/* The next `times` calls of that kind take effect, but the answer is lost:
 * SEQB_UNCERTAIN, and the block is spent. Not for FAKE_OPEN. */
void fake_lose_answers(struct fake_store *store, enum fake_call call,
                       int64_t times);

/* While set, every call answers SEQB_UNREACHABLE. */
void fake_set_down(struct fake_store *store, bool is_down);

/* While not a primary, every call does nothing and answers SEQB_ROLE. */
void fake_set_primary(struct fake_store *store, bool is_primary);

/* Every call takes `ms` longer; the default is 0. */
void fake_set_delay(struct fake_store *store, int32_t ms);

/* No grant is larger than `most`. */
void fake_set_grant_max(struct fake_store *store, int64_t most);

/* Windows are installed together with the first values taken, as SQL stores
 * do. */
void fake_set_takes(struct fake_store *store);

/* From now on the store has a wall clock, which is `ahead_ms` ahead of ours.
 * Without this call it has none. */
void fake_set_clock(struct fake_store *store, int64_t ahead_ms);

/*
 * From now on calls hang, until fake_release or until their `timeout_ms` (open:
 * `connect_timeout_ms`) has passed. A call that is released in time continues
 * normally. Otherwise it takes effect and answers SEQB_UNCERTAIN (open:
 * SEQB_UNREACHABLE).
 */
void fake_hang(struct fake_store *store);
void fake_hang_call(struct fake_store *store, enum fake_call call); /* only */
void fake_release(struct fake_store *store);

/* Backends opened from now on have a socket, like those of engines that do not
 * time calls out themselves. A backend whose socket was shut down answers
 * SEQB_UNREACHABLE. */
void fake_use_sockets(struct fake_store *store);

/* The next call of that kind on a backend with a socket blocks in a read,
 * ignoring its `timeout_ms`, until the socket is shut down: SEQB_UNCERTAIN. Not
 * for FAKE_OPEN. */
void fake_block(struct fake_store *store, enum fake_call call);

/* The number of blocked calls that a shutdown ended. */
int64_t fake_ended(struct fake_store *store);

/* Waits until `count` calls hang or block at the same time; false if
 * `timeout_ms` has passed. */
bool fake_wait_for_hanging(struct fake_store *store, int64_t count,
                           int32_t timeout_ms);

/* --- what happens to the store --- */

/* Breaks its connections: the next call on each open backend answers
 * SEQB_UNREACHABLE. A windowed store also loses its data and changes its
 * origin. A direct store gets a new incarnation. */
void fake_restart(struct fake_store *store);

/* Removes all counters, and a direct store's base. Origin and claims stay. */
void fake_flush(struct fake_store *store);

/* Removes the claims whose names begin with `names`. */
void fake_forget(struct fake_store *store, const char *names);

/* Changes the origin: every counter then belongs to another history. */
void fake_change_origin(struct fake_store *store);

/* Lowers every counter by `values`, at most to 0, with the same origin. No real
 * store may do this. */
void fake_go_back(struct fake_store *store, int64_t values);

/* fake_save copies the store. fake_restore replaces its counters by the copy's,
 * like a failover that lost commits: origin and incarnation are new, and every
 * connection is broken. */
void fake_save(struct fake_store *store);
void fake_restore(struct fake_store *store);

/* Replaces everything by the copy, including claims and origin, like a restored
 * disk. Only the incarnation is new. */
void fake_put_back(struct fake_store *store);

/* The same, but connections stay open, as when a file is replaced under a
 * process. */
void fake_put_back_silently(struct fake_store *store);

/* Exchanges the store and its copy, like two servers that both keep running:
 * each has its own incarnation whenever it is active again. Every connection is
 * broken. */
void fake_exchange(struct fake_store *store);

/* --- observing the store --- */

/* The number of calls of that kind so far, whatever they answered. */
int64_t fake_calls(struct fake_store *store, enum fake_call call);

/* The number of answers so far that fake_refuse made. */
int64_t fake_refusals(struct fake_store *store);

/* Waits until fake_calls is at least `count`; false if `timeout_ms` has
 * passed. */
bool fake_wait_for_calls(struct fake_store *store, enum fake_call call,
                         int64_t count, int32_t timeout_ms);

/* The counter's value (windowed: the number of offsets used); -1 if there is no
 * such counter. */
int64_t fake_value(struct fake_store *store, const char *counter);

/* The first raise of a direct store's counter since its origin changed; limit
 * 0: not raised since. Its pointers are NULL. */
struct seqb_raise fake_first_raise(struct fake_store *store,
                                   const char *counter);

/* The counter's current window; SEQB_NO_WINDOW if there is no such counter. */
int64_t fake_window(struct fake_store *store, const char *counter);

/* The time, as clock_now_ms(), until which the counter is kept; 0: forever; -1
 * if there is no such counter. */
int64_t fake_until_ms(struct fake_store *store, const char *counter);

/* Sets a direct counter to `value`, bound to the current origin. Creates it if
 * necessary. */
void fake_put(struct fake_store *store, const char *counter, int64_t value);

/* Copies the claim of that name; "" if there is none. */
void fake_claim_text(struct fake_store *store, const char *name, char *out,
                     size_t size);

/* Replaces a claim's text. */
void fake_claim_put(struct fake_store *store, const char *name,
                    const char *text);

/* The number of open backends of this store. */
int64_t fake_open_backends(struct fake_store *store);

/* The number of times that the store's user broke the contract, which must stay
 * 0: a call on a backend that had to be closed, two calls on one backend at the
 * same time, or a request out of range. */
int64_t fake_misuses(struct fake_store *store);
