/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a backend must be. An engine is one `const struct seqb_backend_ops`;
 * what it opens begins with a `struct seqb_backend`.
 *
 * An engine never retries, locks, logs, sleeps, or parses configuration: the
 * pool decides, the engine does. One thread at a time uses a backend, not
 * always the same one. A call may block up to the options' `timeout_ms`.
 * A value is reported only after the store acknowledged its commit.
 *
 * Two classes. A *direct* counter is dense and durable and carries the origin
 * of its store; a *windowed* one lives in a store that may forget, and counts
 * offsets inside a window which the pool leased once, ever, from a direct
 * backend (docs/guarantees.md).
 *
 * A direct engine that can install counts in windows as well: what it is asked
 * of a counter whose name begins with SEQB_CELL is as in a windowed engine, and
 * the origin of such a cell includes the store's *incarnation*, which changes
 * whenever its server process starts, whatever its files say. So the store may
 * be put back to any older state.
 *
 * A counter whose name ends in "@STAMP" is of one period, of which it is told
 * when that begins: it starts afresh, and is purged when it is old.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum seqb_guarantee { SEQB_DIRECT, SEQB_WINDOWED };

/* Of a connection that needs a certificate, or not. */
enum seqb_tls {
    SEQB_TLS_OFF,
    SEQB_TLS_REQUIRE, /* encrypted; the server's certificate is not checked */
    SEQB_TLS_VERIFY   /* and its certificate and host name are checked */
};

#define SEQB_ORIGIN_SIZE      160
#define SEQB_SERVER_SIZE      64
#define SEQB_INCARNATION_SIZE 96
#define SEQB_ENGINE_SIZE      24 /* of an engine's name, with the final 0 */
#define SEQB_DOMAIN_SIZE      128
#define SEQB_LOSS_SIZE        160
#define SEQB_CLAIM_SIZE       4096
#define SEQB_GUARD_SIZE       256 /* of a claim that is compared, with the 0 */
/* "<pool>/<partition>/<key>", "window/...", "ticket/..." or "cell:..." before
 * it, with the final 0. */
#define SEQB_COUNTER_SIZE     128
#define SEQB_GRANT_MAX        ((int64_t)1 << 31) /* largest `want` */
#define SEQB_NO_WINDOW        ((int64_t)-1)
/* A raise takes no more by chance than one part in so many of what is left. */
#define SEQB_SPREAD_PARTS     4096
/* The begin of a cell's name in a direct engine's store: no pool has a ':'. */
#define SEQB_CELL             "cell:"

/* Strings stay the caller's and live until close; NULL where not given. */
struct seqb_backend_options {
    const char *name;        /* the backend's name in messages */
    const char *path;        /* sqlite: absolute file name */
    const char *host;        /* name or address of the server */
    const char *socket_path; /* unix socket, instead of host */
    const char *user;
    const char *password;         /* never in a message */
    const char *database;         /* mysql, postgres: name; redis: number */
    const char *prefix;           /* redis, memcached: before every key */
    const char *conninfo;         /* postgres: libpq's, instead of the above */
    const char *table_format;     /* mysql-autoinc: %s key, %d partition */
    const char *const *sentinels; /* redis: "host:port" each, NULL at the end */
    const char *master_name;      /* redis: as the sentinels call it */
    const char *tls_ca;           /* file of certificates that are trusted */
    const char *tls_cert;         /* own certificate ... */
    const char *tls_key;          /* ... and its key */
    const char *parameters;       /* as written, for engines of services */
    int64_t keep_rows;            /* mysql-autoinc: rows kept of each counter */
    enum seqb_tls tls;
    int32_t port;               /* 0 only with a socket */
    int32_t timeout_ms;         /* bound of one call */
    int32_t connect_timeout_ms; /* bound of open */
    bool accept_loss; /* open a store whose settings lose commits, too */
    bool auto_create; /* may make what a new counter needs, at any time */
    /* Open tells the store's incarnation. It may make what keeps that, as the
     * note of a SQLite file, which each commit then writes: set for the stores
     * of a pool of neighbours alone. If the store has no room or no rights for
     * it, it opens without one. */
    bool needs_incarnation;
    bool create; /* may make the store's file or tables; else a missing one
                    is SEQB_UNREACHABLE and nothing is made */
    const char *const *endpoints; /* etcd, a Redis Cluster, and mysql-row as the
                                     nodes of a Galera cluster: "host:port"
                                     each, NULL at the end, instead of host and
                                     port */
    const char *sentinel_user;    /* redis: of the sentinels; NULL with a */
    const char *sentinel_password; /* password alone: their default user */
};

/*
 * A condition of a call, compared in the transaction that carries it out, with
 * the claim locked until that ends: under `name` stands a claim that is `text`
 * followed by the store's incarnation at this moment, SEQB_GUARD_SIZE - 1 bytes
 * at most. If it does not, the call is SEQB_FENCED and changes nothing. If the
 * backend has no incarnation, it is SEQB_REFUSED and changes nothing. Requests
 * may share a guard, which has failed if it has for any of them. An engine
 * without `list` is given none, and so is a cell that is raised.
 */
struct seqb_guard {
    const char *name;
    const char *text; /* "" for the incarnation alone */
    bool has_failed;  /* out: the claim differs; else the call failed by itself
                         or not at all */
};

/* Counter values first ... first + count - 1. */
struct seqb_block {
    int64_t first;
    int64_t count;
};

/* One counter's part of a reserve call: the question and its answer. */
struct seqb_request {
    const char *counter; /* in */
    int64_t want;        /* in: 1 ... SEQB_GRANT_MAX */
    int64_t limit;       /* in; direct: the largest value that may be granted;
                            windowed: the size of a window, a cell made with
                            another size is SEQB_LAYOUT */
    int64_t begins_ms;   /* in; of a counter of a period: when that begins, ms
                            since 1970; else 0. If there is no such counter, it is
                            made only if no purge was told a later `before_ms`,
                            else it is SEQB_EXHAUSTED; and a direct one starts at
                            1 if its period begins after the base's `base_ms`,
                            else after the base as others do */

    enum seqb_status status;  /* out, see reserve */
    struct seqb_block block;  /* out; direct: values from 1 on;
                                 windowed: offsets 0 ... limit - 1 */
    struct seqb_guard *guard; /* in; of a "window/..." in a store that has an
                                 incarnation; NULL: none */
    int64_t window;           /* in: the cell's window, as seen last, or
                                 SEQB_NO_WINDOW: a hint, which may save a round
                                 trip. Out; windowed: the window of the block, or
                                 for SEQB_FENCED and SEQB_EXHAUSTED that of the
                                 cell found, SEQB_NO_WINDOW if there is none */
    struct seqb_error error;  /* out; text for any status but SEQB_OK */
};

/* A direct counter is raised to at least `floor`; if its origin is not the
 * store's, by `gap` as well, and is bound to it. So is the base, the value
 * that a counter begins after which is not there, by `base_gap`; a base that
 * is not there itself was 0, and becomes `base_floor` at least. The gaps are
 * how far a store that changed may have gone back. A counter whose origin was
 * not the store's, and one that begins after a base above 0, goes up by
 * seqb_raise_spread as well, last of all. When the base is raised, so
 * is what is kept beside it: counters of periods that begin after `base_ms`
 * cannot have been forgotten, and need not begin after it. */
struct seqb_raise {
    const char *counter;
    int64_t floor;            /* >= 0 */
    int64_t gap;              /* >= 0 */
    int64_t limit;            /* no value above it is stored: SEQB_EXHAUSTED */
    int64_t base_gap;         /* >= 0 */
    int64_t base_floor;       /* >= 0 */
    int64_t base_ms;          /* ms since 1970; >= 0 */
    struct seqb_guard *guard; /* as a request's */
    uint64_t chance;          /* random bits, for seqb_raise_spread */
};

/*
 * What a raise adds by chance to a counter that is at `value` by then. A copy
 * that is put back twice so does not lead to the same values twice. It is below
 * 1/4096 of what is left up to `limit`, so that there is room for thousands of
 * raises, and below 2^16 gaps. 0 without a chance, a gap, or room.
 */
static inline int64_t seqb_raise_spread(const struct seqb_raise *raise,
                                        int64_t value)
{
    const int64_t room =
        value < raise->limit ? (raise->limit - value) / SEQB_SPREAD_PARTS : 0;
    const int64_t most =
        raise->gap < INT64_MAX >> 16 ? raise->gap * 65536 : INT64_MAX;
    const int64_t span = room < most ? room : most;

    return span > 0 ? (int64_t)(raise->chance % (uint64_t)span) : 0;
}

/* A leased window to count in, from offset 0. */
struct seqb_window {
    const char *counter;
    int64_t window; /* >= 1 */
    int64_t size;   /* offsets 0 ... size - 1 */
    int64_t keep_s; /* windowed: the store may forget the cell after so many
                       seconds, which only costs a window; 0: never */
    int64_t over;   /* a valid cell that counts in this window is given up for
                       it, though values are left there; 0: none is */
    int64_t take;   /* 0 ... size: if it is put there, its first so many offsets
                       are the caller's, in the same step: the cell counts on
                       behind them */
    int64_t *taken; /* out: `take`, if they are. It is 0 before, so that an
                       engine need not know of this; NULL if `take` is 0 */
};

/* What stands under the name of a claim is to be replaced. */
struct seqb_swap {
    const char *name;
    const char *expected;    /* what must stand there now; "": nothing */
    const char *text;        /* not empty */
    const char *incarnation; /* what the store's must be in the transaction of
                                the swap, else SEQB_FENCED; NULL: not compared.
                                Only in an engine with `list` */
};

/* Periods of a counter that are over. */
struct seqb_purge {
    const char *counter; /* without "@STAMP" */
    const char *keep;    /* "<counter>@STAMP": the first one that is kept. All
                            stamps of a counter have as many digits, so that
                            older ones are lower in the order of bytes */
    int64_t before_ms;   /* ms since 1970: counters of periods that begin before
                            it are never made again */
    int32_t most;        /* delete no more than that, >= 0 */
};

/* A counter that stands in a store. */
struct seqb_listed {
    char counter[SEQB_COUNTER_SIZE];
    int64_t value; /* >= 0; of any origin */
};

/* A page of the counters whose names begin with `prefix`, in the order of
 * bytes, whatever collation the store has. "@" before a counter's name is that
 * of the mark which a purge left: its value is `before_ms`. */
struct seqb_page {
    const char *prefix;         /* not empty, without a final '@' */
    const char *after;          /* only names above it; "" for the first page */
    struct seqb_listed *listed; /* out */
    int32_t most;               /* room in `listed`, >= 1 */
    int32_t count;              /* out; below `most`: there are no more */
};

/* One of the claims of claim_many. */
struct seqb_claim {
    const char *name; /* no other claim of the call has it */
    const char *text; /* NULL: only looks; else at most SEQB_GUARD_SIZE - 2
                         bytes */
    char standing[SEQB_GUARD_SIZE]; /* out: what stands there, "" for nothing.
                                       A longer text is cut to fit, so that it
                                       still differs from `text` */
};

/* What a store says of itself, for messages: no decision rests on it. "" is
 * what is not known, or what the user may not read. */
struct seqb_details {
    char node[SEQB_DOMAIN_SIZE]; /* who answers, by its own account or as it is
                                    connected to: "10.0.0.3:5432" */
    char role[32];               /* "primary", "master", "leader", ... */
    char quorum[96]; /* how many must agree: "2 of 3 members"; or how many do */
    char replicas[64]; /* "none", "2", "2, at most 512 bytes behind" */
    char tls[32];      /* "TLSv1.3"; "none" */
};

struct seqb_backend;

/* Every class has all functions but `install`, `swap`, `purge`, `list`,
 * `clock`, `permits`, `claim_many` and `describe`, which say where they are
 * NULL. */
struct seqb_backend_ops {
    const char *engine; /* as in a topology file: letters, digits, _ and - */
    enum seqb_guarantee guarantee;

    /* Name and version of the client library, "hiredis 0.14.1". Static. */
    const char *(*library)(void);

    /*
     * Connects, checks role and durability settings, reads the origin.
     * `*out` is touched only on success. SEQB_UNREACHABLE (also: a file that
     * is not there and may not be created), SEQB_ROLE, SEQB_UNSAFE,
     * SEQB_REFUSED (credentials, permissions, read-only), SEQB_CORRUPT,
     * SEQB_PROTOCOL, SEQB_INVALID, SEQB_NO_MEMORY.
     */
    enum seqb_status (*open)(const struct seqb_backend_options *options,
                             struct seqb_backend **out, struct seqb_error *err);

    /*
     * For each request adds `want` to its counter in one atomic step and
     * answers the block; a grant may be smaller than wanted, never empty.
     * All requests in one round trip. n is 1 ... 1024, counters differ.
     *
     * Returns SEQB_OK if the connection is fit for another call; then each
     * request's status is one of
     *   SEQB_OK         `block` (and `window`) is this caller's alone
     *   SEQB_FENCED     the counter is not bound to the store's origin, or
     *                   windowed and absent; nothing was changed
     *   SEQB_EXHAUSTED  nothing is left below `limit` or in the window, or
     *                   the counter's period is over; nothing was changed
     *   SEQB_LAYOUT     the cell was made with another window size
     *   SEQB_AGAIN      not reached in the time of this call; nothing was
     *                   changed, the pool asks once more
     *   SEQB_REFUSED, SEQB_PROTOCOL, ... this counter alone failed
     * Else the backend must be closed: `err` tells why, and requests that
     * were not answered have that status or, if the store may have done them,
     * SEQB_UNCERTAIN. A direct counter that is new in a store whose origin
     * holds starts at 1 if the store's base is 0; after a base that was raised
     * it is SEQB_FENCED, so that a raise spreads it. A windowed one is never
     * created here.
     */
    enum seqb_status (*reserve)(struct seqb_backend *backend,
                                struct seqb_request *requests, size_t n,
                                struct seqb_error *err);

    /*
     * The next three are for one counter or claim each. Like a request's,
     * these statuses mean that it alone failed, nothing was changed, and the
     * connection is fit for another call: SEQB_REFUSED (denied rights, a name
     * that the store cannot have), SEQB_CORRUPT (a row that is damaged),
     * SEQB_INVALID, SEQB_EXHAUSTED, SEQB_FENCED, SEQB_LAYOUT, SEQB_AGAIN,
     * SEQB_NO_MEMORY. The pool then keeps the connection, goes on with other
     * counters, and tries this one again later. After any other failure the
     * backend must be closed.
     *
     * Atomically: counter = max(counter, floor), as `struct seqb_raise` says;
     * `*out` is what it is then. Windowed: drops the cell if its window is at
     * or below `floor`, so that a later window is needed; `*out` is the
     * window standing, or `floor`. Durable when it returns SEQB_OK. If it
     * fails, it must not take effect any more once it has returned: another
     * broker may have raised the counter and counted on by then.
     */
    enum seqb_status (*raise)(struct seqb_backend *backend,
                              const struct seqb_raise *raise, int64_t *out,
                              struct seqb_error *err);

    /*
     * NULL in a direct engine that cannot count in windows. Puts the counter at
     * the start of a window, or behind what the caller takes of it, bound to
     * the store's origin now, unless a valid
     * cell with values left stands there: "somebody was faster" is SEQB_OK, and
     * `*standing` that one's window. It holds the window that was asked for
     * before the call, so that an engine need not write it.
     * SEQB_FENCED: the cell found has a window at or above this one; nothing
     * was changed, `*standing` is that window. SEQB_LAYOUT: a valid cell of
     * another size stands there; nothing was changed. Sent once: on any other
     * failure the caller must drop the window.
     */
    enum seqb_status (*install)(struct seqb_backend *backend,
                                const struct seqb_window *window,
                                int64_t *standing, struct seqb_error *err);

    /*
     * Stores `text` under `name` if nothing is there, durably for a direct
     * engine, and answers what stands there. `text` NULL only looks; then,
     * if nothing is there, `standing` is "". SEQB_PROTOCOL if what stands
     * there does not fit `size` (1 ... SEQB_CLAIM_SIZE).
     *
     * In a backend that has an incarnation it is SEQB_UNREACHABLE, and nothing
     * was changed, if the store has another one at this moment: once it
     * returned SEQB_OK, the store had the backend's when the claim was read.
     */
    enum seqb_status (*claim)(struct seqb_backend *backend, const char *name,
                              const char *text, char *standing, size_t size,
                              struct seqb_error *err);

    /*
     * Direct only. In one atomic step, durably:
     * replaces what stands under `name` by `text` if that is `expected`.
     * `standing` is what stands there then, `text` if it was replaced (or was
     * there before); "" for nothing. SEQB_PROTOCOL as for claim, and without
     * `incarnation` SEQB_UNREACHABLE as well.
     */
    enum seqb_status (*swap)(struct seqb_backend *backend,
                             const struct seqb_swap *swap, char *standing,
                             size_t size, struct seqb_error *err);

    /*
     * First notes `before_ms` for the counter, durably and never lower than
     * it was; then deletes counters of it that are older than `keep`, a few
     * at a time: `*deleted` of them, fewer than `most` when there are no more.
     * The caller lets a while pass between noting and deleting (`most` 0), so
     * that what is under way ends. Direct only: windowed stores let old cells
     * expire by themselves. NULL also in a direct engine whose counters cannot
     * begin afresh; then no topology gives it a sequence with a period.
     */
    enum seqb_status (*purge)(struct seqb_backend *backend,
                              const struct seqb_purge *purge, int32_t *deleted,
                              struct seqb_error *err);

    /* Reads a page of what stands, as it was committed. NULL in an engine whose
     * stores have no incarnation. Errors as for a claim that is looked at, and
     * SEQB_CORRUPT for a row that is no counter's. */
    enum seqb_status (*list)(struct seqb_backend *backend,
                             struct seqb_page *page, struct seqb_error *err);

    /* The wall clock of the store's machine, ms since 1970, as it was about
     * when it answered; 0 if it may not be read. NULL where the store has no
     * clock but ours, as a file. */
    enum seqb_status (*clock)(struct seqb_backend *backend, int64_t *out_ms,
                              struct seqb_error *err);

    /* Frees all. Takes NULL and half-built objects. Never blocks for longer
     * than `timeout_ms`. */
    void (*close)(struct seqb_backend *backend);

    /*
     * Whether the user has the rights that serving the counter takes, one that
     * is not there yet included: SEQB_REFUSED, with what is missing, if not.
     * Changes nothing, and looks at rights alone: SEQB_OK promises no number.
     * NULL where that cannot be known. After any other error the backend must
     * be closed.
     */
    enum seqb_status (*permits)(struct seqb_backend *backend,
                                const char *counter, struct seqb_error *err);

    /*
     * NULL in an engine that has nothing faster than one `claim` after the
     * other, which is what the pool does then. Else the same as `claim` for
     * the first `*done` of the `n` claims (1 or more), in as few round trips
     * and commits as the store permits: a start claims every listed sequence.
     * An engine takes as many as it can do well within `timeout_ms`, at least
     * one; the caller asks again for the rest.
     * SEQB_OK: what stands under each of the `*done` names is in `standing`,
     * and is durable for a direct engine. After a failure no `standing` is to
     * be believed, and each claim may have been stored or not. SEQB_REFUSED
     * and the other statuses after which a pool keeps the connection: the
     * caller asks for each of the claims alone, which says which one it is.
     * In a backend that has an incarnation it is compared as `claim` says.
     */
    enum seqb_status (*claim_many)(struct seqb_backend *backend,
                                   struct seqb_claim *claims, size_t n,
                                   size_t *done, struct seqb_error *err);

    /*
     * NULL in an engine that has nothing to tell. Else tells what the store is
     * like now, for seqctl check --probe; `out` was zeroed. A server that
     * refuses to tell is no error. After one the backend must be closed.
     */
    enum seqb_status (*describe)(struct seqb_backend *backend,
                                 struct seqb_details *out,
                                 struct seqb_error *err);
};

/* The first member of an engine's own struct. */
struct seqb_backend {
    const struct seqb_backend_ops *ops;
    char origin[SEQB_ORIGIN_SIZE]; /* the store's history, as read by open */
    /* Names one run of the store's server: it changes whenever the server may
     * have come back with older data, and never comes back itself. As read by
     * open, without a '|'. "" where the engine cannot tell, or was not asked
     * for it (needs_incarnation). A server that was restarted since has another
     * one: then claims, lists and calls with a guard are SEQB_UNREACHABLE, so
     * that the backend is opened again. */
    char incarnation[SEQB_INCARNATION_SIZE];
    char server[SEQB_SERVER_SIZE]; /* "redis 7.0.15", for messages */
    char domain[SEQB_DOMAIN_SIZE]; /* the server or disk: backends with the
                                      same text fail together */
    char loss[SEQB_LOSS_SIZE];     /* what its settings lose and accept_loss
                                      let pass; "": nothing */
    int fd; /* the socket that calls wait on, for the pool to shut down when
               one passes its time; -1: none, the engine keeps the time */
};

struct seqb_broker;

/*
 * seqb_open with engines of the service's own, ended by NULL, besides those
 * built in: a topology names them like any other and may give them every
 * setting of a backend. The array is read in the call only; the ops that it
 * points to, and what they point to, must live until seqb_close. Nothing is
 * registered: each broker knows the engines that it was opened with.
 *
 * Errors as seqb_open, and SEQB_INVALID for an engine that lacks a function of
 * its class or has one that its class cannot have, or whose name is not legal
 * or is taken by one that is built in.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_open_with(const char *topology /* NULL: the embedded default */,
               const struct seqb_backend_ops *const *engines /* NULL: none */,
               struct seqb_broker **out, struct seqb_error *err);

#ifdef __cplusplus
}
#endif
