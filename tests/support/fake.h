/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted backend: an engine whose store is plain memory that outlives its
 * backends, keeps the contract of <seqbroker/backend.h>, and fails on command.
 * Thread-safe. A store is found by `options.path`, which is its name.
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
    FAKE_CALLS /* how many kinds there are */
};

/* A store named `name` (at most 63 bytes; unique among those that live), empty,
 * up, a primary. NULL if there are 64 already. A name with no store opens as
 * SEQB_UNREACHABLE. */
struct fake_store *fake_store_new(const char *name);

/* Its backends must be closed. Takes NULL. */
void fake_store_free(struct fake_store *store);

/* --- what its calls answer --- */

/* The next `times` calls of that kind do nothing and answer `status`, an open
 * as such, the others as a call after which the backend must be closed.
 * 0 ends it. Counts and outranks all else but a hang. */
void fake_fail(struct fake_store *store, enum fake_call call, int64_t times,
               enum seqb_status status);

/* Calls of that kind, which is FAKE_RESERVE, FAKE_RAISE, FAKE_INSTALL or
 * FAKE_CLAIM, do nothing for that one counter or claim and answer `status` for
 * it alone: the backend is fit for another call. SEQB_OK ends it. At most 8 of
 * them at once. */
void fake_refuse(struct fake_store *store, enum fake_call call,
                 const char *counter, enum seqb_status status);

/* The next `times` calls of that kind are done, but the answer is lost:
 * SEQB_UNCERTAIN, the block spent. Not for FAKE_OPEN. */
void fake_lose_answers(struct fake_store *store, enum fake_call call,
                       int64_t times);

/* Every call of every kind answers SEQB_UNREACHABLE, until unset. */
void fake_set_down(struct fake_store *store, bool is_down);

/* SEQB_ROLE instead of doing anything, until set again. */
void fake_set_primary(struct fake_store *store, bool is_primary);

/* Every call takes so many ms longer; 0 by default. */
void fake_set_delay(struct fake_store *store, int32_t ms);

/* No grant is larger than `most`. */
void fake_set_grant_max(struct fake_store *store, int64_t most);

/* Windows are put there with what is taken of them, as SQL stores do it. */
void fake_set_takes(struct fake_store *store);

/* Its machine's wall clock is so far ahead of ours from now on; without this it
 * has none of its own. */
void fake_set_clock(struct fake_store *store, int64_t ahead_ms);

/*
 * Calls hang from now on, until fake_release or their own `timeout_ms` (open:
 * `connect_timeout_ms`). Released in time, they go on as if nothing had been;
 * else they are done and answer SEQB_UNCERTAIN (open: SEQB_UNREACHABLE).
 */
void fake_hang(struct fake_store *store);
void fake_release(struct fake_store *store);

/* Backends opened from now on have a socket, as engines do that keep no time
 * themselves; one that was shut down answers SEQB_UNREACHABLE. */
void fake_use_sockets(struct fake_store *store);

/* The next call of that kind on a backend with a socket blocks in a read of it,
 * past its `timeout_ms`, until the socket is shut down: SEQB_UNCERTAIN. Not for
 * FAKE_OPEN. */
void fake_block(struct fake_store *store, enum fake_call call);

/* Calls that blocked, and that a shutdown ended. */
int64_t fake_ended(struct fake_store *store);

/* Waits until `count` calls hang or block at once; false if `timeout_ms`
 * passed. */
bool fake_wait_for_hanging(struct fake_store *store, int64_t count,
                           int32_t timeout_ms);

/* --- what happens to it --- */

/* Its connections break: the next call on each open backend answers
 * SEQB_UNREACHABLE. A windowed store also forgets and changes its origin, a
 * direct one has another incarnation. */
void fake_restart(struct fake_store *store);

/* All counters are gone, a direct store's base too; origin and claims stay. */
void fake_flush(struct fake_store *store);

/* Texts that were swapped in under names that begin so are gone. */
void fake_forget(struct fake_store *store, const char *names);

/* Another history begins: every counter is foreign from now on. */
void fake_change_origin(struct fake_store *store);

/* Every counter goes back by `values`, at least to 0, with the same origin:
 * what no store may do. */
void fake_go_back(struct fake_store *store, int64_t values);

/* Copies the store; puts the counters of the copy in the place of those that
 * it has, as a failover that lost commits would: another origin and
 * incarnation, and every connection broken. */
void fake_save(struct fake_store *store);
void fake_restore(struct fake_store *store);

/* Puts the whole copy back, claims and origin as well, as a disk that is put
 * back is: only the incarnation is another one. */
void fake_put_back(struct fake_store *store);

/* The same, while every connection goes on: a file under a process. */
void fake_put_back_silently(struct fake_store *store);

/* The copy takes the store's place, and the store is the copy from then on: two
 * servers that run all the while, so that each has its incarnation whenever it
 * is there again. Every connection is broken. */
void fake_exchange(struct fake_store *store);

/* --- what became of it --- */

/* Calls of that kind so far, whatever their answer. */
int64_t fake_calls(struct fake_store *store, enum fake_call call);

/* Answers so far that fake_refuse made. */
int64_t fake_refusals(struct fake_store *store);

/* Waits until fake_calls is at least `count`; false if `timeout_ms` passed. */
bool fake_wait_for_calls(struct fake_store *store, enum fake_call call,
                         int64_t count, int32_t timeout_ms);

/* The counter's value, windowed: the offsets used; -1 if there is none. */
int64_t fake_value(struct fake_store *store, const char *counter);

/* How the counter of a direct store was first asked to be raised since its
 * origin changed; limit 0: not since. Its pointers are NULL. */
struct seqb_raise fake_first_raise(struct fake_store *store,
                                   const char *counter);

/* The window that the counter stands in; SEQB_NO_WINDOW if it is absent. */
int64_t fake_window(struct fake_store *store, const char *counter);

/* Until when the counter is kept, by clock_now_ms(); 0: for good; -1 if there
 * is none. */
int64_t fake_until_ms(struct fake_store *store, const char *counter);

/* Puts a direct counter at `value`, bound to the origin, made if absent. */
void fake_put(struct fake_store *store, const char *counter, int64_t value);

/* Copies the claim of that name, "" if none stands. */
void fake_claim_text(struct fake_store *store, const char *name, char *out,
                     size_t size);

/* Puts a text in the place of a claim. */
void fake_claim_put(struct fake_store *store, const char *name,
                    const char *text);

/* Backends of this store that are open. */
int64_t fake_open_backends(struct fake_store *store);

/* Breaches of the contract by the store's user, which must stay 0: a call on a
 * backend that had to be closed, two calls at once on one backend, a request
 * out of its range. */
int64_t fake_misuses(struct fake_store *store);
