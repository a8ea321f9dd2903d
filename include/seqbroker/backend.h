/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of a backend. An engine is one `const struct seqb_backend_ops`;
 * the object that its `open` returns begins with a `struct seqb_backend`.
 *
 * An engine never retries, locks, logs, sleeps, or parses configuration: the
 * pool decides, the engine carries out. One thread at a time uses a backend,
 * not always the same thread. A call may block up to the options' `timeout_ms`.
 * A value is reported only after the store acknowledged its commit.
 *
 * There are two classes. A *direct* counter is dense and durable and carries
 * the origin of its store. A *windowed* counter lives in a store that may
 * forget it, and counts offsets inside a window. The pool leased that window,
 * once and for ever, from a direct backend (docs/guarantees.md).
 *
 * A direct engine that has `install` counts in windows as well: a counter whose
 * name begins with SEQB_CELL behaves as in a windowed engine. The origin of
 * such a cell includes the store's *incarnation*, which changes whenever the
 * server process starts, whatever its files say. So the store may be restored
 * to any older state.
 *
 * A counter whose name ends in "@STAMP" belongs to one period. The engine gets
 * the time when the period begins. Such a counter starts at 1 again, and is
 * purged when it is old.
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

/* Whether a connection is encrypted, and what is verified. */
enum seqb_tls {
    SEQB_TLS_OFF,
    SEQB_TLS_REQUIRE, /* encrypted; the server's certificate is not checked */
    SEQB_TLS_VERIFY   /* encrypted; its certificate and host name are checked */
};

#define SEQB_ORIGIN_SIZE      160
#define SEQB_SERVER_SIZE      64
#define SEQB_INCARNATION_SIZE 96
#define SEQB_ENGINE_SIZE      24 /* an engine's name, with the final 0 */
#define SEQB_DOMAIN_SIZE      128
#define SEQB_LOSS_SIZE        160
#define SEQB_CLAIM_SIZE       4096
#define SEQB_GUARD_SIZE       256 /* of a claim that is compared, with the 0 */
/* "<pool>/<partition>/<key>", maybe after "window/...", "ticket/..." or
 * "cell:...", with the final 0. */
#define SEQB_COUNTER_SIZE     128
#define SEQB_GRANT_MAX        ((int64_t)1 << 31) /* largest `want` */
#define SEQB_NO_WINDOW        ((int64_t)-1)
/* The random part of a raise is at most 1/SEQB_SPREAD_PARTS of the values
 * left. */
#define SEQB_SPREAD_PARTS     4096
/* The begin of a cell's name in a direct engine's store: no pool name has a
 * ':'. */
#define SEQB_CELL             "cell:"

/* The strings belong to the caller and live until close; NULL if not given. */
struct seqb_backend_options {
    const char *name;        /* the backend's name in messages */
    const char *path;        /* sqlite: absolute file name */
    const char *host;        /* name or address of the server */
    const char *socket_path; /* unix socket, instead of host */
    const char *user;
    const char *password;         /* never in a message */
    const char *database;         /* mysql, postgres: name; redis: number */
    const char *prefix;           /* redis, memcached: prepended to every key */
    const char *conninfo;         /* postgres: libpq's, instead of the above */
    const char *table_format;     /* mysql-autoinc: %s key, %d partition */
    const char *const *sentinels; /* redis: "host:port" each, NULL at the end */
    const char *master_name;      /* redis: the name that the sentinels know */
    const char *tls_ca;           /* file of certificates that are trusted */
    const char *tls_cert;         /* own certificate ... */
    const char *tls_key;          /* ... and its key */
    const char *parameters;       /* as written, for a service's own engines */
    int64_t keep_rows;            /* mysql-autoinc: rows kept of each counter */
    enum seqb_tls tls;
    int32_t port;               /* 0 only with a socket */
    int32_t timeout_ms;         /* limit of one call */
    int32_t connect_timeout_ms; /* limit of open */
    bool accept_loss; /* open a store although its settings lose commits */
    bool auto_create; /* may create what a new counter needs, at any time */
    /* `open` reads the store's incarnation, and may create whatever keeps it,
     * such as the note of a SQLite file, which each commit then writes. So it
     * is set only for the stores of a pool with neighbours. If the store has no
     * room or the user no rights for it, the backend is opened without an
     * incarnation. */
    bool needs_incarnation;
    bool create; /* may create the store's file or tables; else a missing one is
                    SEQB_UNREACHABLE and nothing is created */
    const char *const *endpoints;  /* "host:port" each, NULL at the end, instead
                                      of host and port: of etcd, of a Redis
                                      Cluster, and of mysql-row with a Galera
                                      cluster */
    const char *sentinel_user;     /* redis: for the sentinels; NULL with a */
    const char *sentinel_password; /* password only: their default user */
};

/*
 * A condition of a call: under `name` the store has a claim that is `text`
 * followed by the store's incarnation at this moment, at most SEQB_GUARD_SIZE -
 * 1 bytes. The engine compares it in the transaction that carries out the call,
 * and keeps the claim locked until that transaction ends. If the condition is
 * false, the call is SEQB_FENCED and changes nothing. If the backend has no
 * incarnation, the call is SEQB_REFUSED and changes nothing. Requests may share
 * a guard; its `has_failed` is set if it failed for any of them. No guard is
 * given to an engine without `list`, or when a cell is raised.
 */
struct seqb_guard {
    const char *name;
    const char *text; /* "": the incarnation only */
    bool has_failed;  /* out: the claim differs. False: the call failed for
                         another reason or did not fail */
};

/* The counter values first ... first + count - 1. */
struct seqb_block {
    int64_t first;
    int64_t count;
};

/* One counter's part of a reserve call: the request and its answer. */
struct seqb_request {
    const char *counter; /* in */
    int64_t want;        /* in: 1 ... SEQB_GRANT_MAX */
    int64_t limit;       /* in; direct: the largest value that may be granted;
                            windowed: the size of a window. A cell made with
                            another size is SEQB_LAYOUT */
    int64_t begins_ms;   /* in; when the counter's period begins, ms since 1970;
                            0 without a period. If a purge had a later
                            `before_ms`, a counter that does not exist is not
                            created, and with a `guard` one that does exist is
                            not taken from: SEQB_EXHAUSTED. A direct one that is
                            created starts at 1 if its period begins after the
                            base's `base_ms`, otherwise after the base as other
                            counters do */

    enum seqb_status status;  /* out, see reserve */
    struct seqb_block block;  /* out; direct: values from 1 on;
                                 windowed: offsets 0 ... limit - 1 */
    struct seqb_guard *guard; /* in; for a "window/..." in a store with an
                                 incarnation; NULL: none */
    int64_t window;           /* in: the cell's window as seen last, or
                                 SEQB_NO_WINDOW; a hint that may save a round
                                 trip. Out; windowed: the window of the block;
                                 for SEQB_FENCED and SEQB_EXHAUSTED the window
                                 of the cell found, SEQB_NO_WINDOW if there is
                                 no cell */
    struct seqb_error error;  /* out; a text for any status but SEQB_OK */
};

/* A direct counter is raised to at least `floor`. If its origin is not the
 * store's, it is raised by `gap` as well, and is bound to the store's origin.
 * The base, which is the value that a missing counter begins after, is treated
 * in the same way with `base_gap`; a missing base counts as 0 and becomes
 * `base_floor` at least. The gaps are how far a changed store may have gone
 * back. A counter whose origin was not the store's, and a counter that begins
 * after a base above 0, is finally raised by seqb_raise_spread as well. A raise
 * of the base also raises the time kept with it to `base_ms`: counters of
 * periods that begin after that time cannot have been forgotten, and need not
 * begin after the base. `before` is only wanted if there is a guard. */
struct seqb_raise {
    const char *counter;
    int64_t floor;            /* >= 0 */
    int64_t gap;              /* >= 0 */
    int64_t limit;            /* a value above it is not stored:
                                 SEQB_EXHAUSTED */
    int64_t base_gap;         /* >= 0 */
    int64_t base_floor;       /* >= 0 */
    int64_t base_ms;          /* ms since 1970; >= 0 */
    struct seqb_guard *guard; /* as in a request */
    uint64_t chance;          /* random bits, for seqb_raise_spread */
    int64_t *before;          /* out: the value found; NULL: not wanted */
};

/*
 * The random amount that a raise adds to a counter that is at `value` by then.
 * Because of it, a copy that is restored twice does not issue the same values
 * twice. The amount is below 1/4096 of what is left up to `limit`, which leaves
 * room for thousands of raises, and below 2^16 gaps. It is 0 without random
 * bits, a gap, or room.
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
    int64_t keep_s; /* windowed: the store may delete the cell after so many
                       seconds, which only costs a window; 0: never */
    int64_t over;   /* a valid cell in this window is replaced although it has
                       values left; 0: none is */
    int64_t take;   /* 0 ... size: if the window is put there, its first `take`
                       offsets are the caller's, in the same step: the cell
                       counts on behind them */
    int64_t *taken; /* out: `take` if those offsets are the caller's. It is 0
                       before the call, so that an engine need not know of it.
                       NULL if `take` is 0 */
};

/* Replaces the text of a claim. */
struct seqb_swap {
    const char *name;
    const char *expected;    /* the text that must be stored now; "": none */
    const char *text;        /* not empty */
    const char *incarnation; /* the store's incarnation must equal it in the
                                transaction of the swap, else SEQB_FENCED; NULL:
                                not compared. Only in an engine with `list` */
};

/* Periods of a counter that are over. */
struct seqb_purge {
    const char *counter; /* without "@STAMP" */
    const char *keep;    /* "<counter>@STAMP": the first one that is kept. All
                            stamps of a counter have the same number of digits,
                            so older ones sort lower in the order of bytes */
    int64_t before_ms;   /* ms since 1970: counters of periods that begin before
                            it are never created again */
    int32_t most;        /* the most counters to delete */
};

struct seqb_listed {
    char counter[SEQB_COUNTER_SIZE]; /* its name, or that of a claim */
    int64_t value;                   /* >= 0; of any origin; 0 for a claim */
};

/* A page of the committed counters, or claims, whose names begin with `prefix`,
 * in the order of bytes, whatever collation the store has. A row "@" followed
 * by a counter's name is the mark that a purge left: its value is `before_ms`.
 */
struct seqb_page {
    const char *prefix;         /* not empty, without a final '@' */
    const char *after;          /* only names above it; "" for the first page */
    bool is_of_claims;          /* not of counters */
    struct seqb_listed *listed; /* out */
    int32_t most;               /* room in `listed`, >= 1 */
    int32_t count;              /* out; below `most`: there are no more */
};

/* One of the claims of claim_many. */
struct seqb_claim {
    const char *name; /* no other claim of the call has it */
    const char *text; /* NULL: only reads; else at most SEQB_GUARD_SIZE - 2
                         bytes */
    char standing[SEQB_GUARD_SIZE]; /* out: the stored text, "" for none. A
                                       longer text is cut to fit, so that it
                                       still differs from `text` */
};

/* What a store says about itself, for messages: no decision depends on it. ""
 * means not known, or that the user may not read it. */
struct seqb_details {
    char node[SEQB_DOMAIN_SIZE]; /* who answers, as it says itself or as we
                                    connected to it: "10.0.0.3:5432" */
    char role[32];               /* "primary", "master", "leader", ... */
    char quorum[96]; /* how many must agree, "2 of 3 members", or how many do */
    char replicas[64]; /* "none", "2", "2, at most 512 bytes behind" */
    char tls[32];      /* "TLSv1.3"; "none" */
};

struct seqb_backend;

/* Both classes have all functions, except `install`, `swap`, `purge`, `list`,
 * `clock`, `permits`, `claim_many` and `describe`: their comments say where
 * they are NULL. */
struct seqb_backend_ops {
    const char *engine; /* as in a topology file: letters, digits, _ and - */
    enum seqb_guarantee guarantee;

    /* Name and version of the client library, "hiredis 0.14.1". Static. */
    const char *(*library)(void);

    /*
     * Connects, checks role and durability settings, reads the origin. `*out`
     * is set only on success. SEQB_UNREACHABLE (also: a file does not exist and
     * may not be created), SEQB_ROLE, SEQB_UNSAFE, SEQB_REFUSED (credentials,
     * permissions, read-only), SEQB_CORRUPT, SEQB_PROTOCOL, SEQB_INVALID,
     * SEQB_NO_MEMORY.
     */
    enum seqb_status (*open)(const struct seqb_backend_options *options,
                             struct seqb_backend **out, struct seqb_error *err);

    /*
     * For each request, adds `want` to its counter in one atomic step and
     * answers the block. A grant may be smaller than wanted, never empty. All
     * requests share one round trip. n is 1 ... 1024; the counters differ.
     *
     * SEQB_OK: the connection may be used again, and each request has one of
     * these statuses:
     *   SEQB_OK         `block` (and `window`) belongs to this caller alone
     *   SEQB_FENCED     the counter is not bound to the store's origin, or is
     *                   windowed and does not exist; nothing was changed
     *   SEQB_EXHAUSTED  nothing is left below `limit` or in the window, or
     *                   the counter's period is over; nothing was changed
     *   SEQB_LAYOUT     the cell was made with another window size
     *   SEQB_AGAIN      not reached in the time of this call; nothing was
     *                   changed, the pool asks once more
     *   SEQB_REFUSED, SEQB_PROTOCOL, ... this counter alone failed
     * Otherwise the backend must be closed. `err` says why; a request without
     * an answer gets that status, or SEQB_UNCERTAIN if the store may have
     * carried it out. A direct counter that is new in a store whose origin is
     * unchanged starts at 1 if the store's base is 0; after a base that was
     * raised it is SEQB_FENCED, so that a raise spreads it. A windowed counter
     * is never created here.
     */
    enum seqb_status (*reserve)(struct seqb_backend *backend,
                                struct seqb_request *requests, size_t n,
                                struct seqb_error *err);

    /*
     * `raise`, `install` and `claim` are for one counter or claim each. Like a
     * request's status, these statuses mean that this counter alone failed,
     * that nothing was changed, and that the connection may be used again:
     * SEQB_INVALID (a name that is too long for the store, which is never
     * cut), SEQB_REFUSED (denied rights), SEQB_CORRUPT (a damaged row),
     * SEQB_EXHAUSTED, SEQB_FENCED, SEQB_LAYOUT, SEQB_AGAIN, SEQB_NO_MEMORY. The
     * pool keeps the connection, continues with other counters, and tries again
     * later. After any other failure the backend must be closed.
     *
     * Atomically sets counter = max(counter, floor), as `struct seqb_raise`
     * says; `*out` is the resulting value. Windowed: drops the cell if its
     * window is at or below `floor`, so that a later window is needed; `*out`
     * is the window of the cell that remains, or `floor`. Durable when it
     * returns SEQB_OK. A raise that failed must not take effect after it has
     * returned: another broker may have raised the counter and used it by then.
     */
    enum seqb_status (*raise)(struct seqb_backend *backend,
                              const struct seqb_raise *raise, int64_t *out,
                              struct seqb_error *err);

    /*
     * NULL in a direct engine that cannot count in windows. Puts the counter at
     * the start of a window, or behind what the caller takes of it, bound to
     * the store's current origin, unless the store has a valid cell with values
     * left: then another broker was faster, the call is SEQB_OK, and
     * `*standing` is the window of that cell. Before the call `*standing` holds
     * the requested window, so that an engine need not write it. SEQB_FENCED:
     * the cell found has a window at or above this one; nothing was changed,
     * `*standing` is that window. SEQB_LAYOUT: there is a valid cell of another
     * size; nothing was changed. The call is sent once: on any other failure
     * the caller must drop the window.
     */
    enum seqb_status (*install)(struct seqb_backend *backend,
                                const struct seqb_window *window,
                                int64_t *standing, struct seqb_error *err);

    /*
     * Stores `text` under `name` if nothing is stored there, durably for a
     * direct engine, and answers the stored text. With `text` NULL it only
     * reads; then `standing` is "" if nothing is stored. SEQB_PROTOCOL if the
     * stored text does not fit `size` (1 ... SEQB_CLAIM_SIZE).
     *
     * If the backend has an incarnation and the store has another one now, the
     * call is SEQB_UNREACHABLE and nothing was changed. So after SEQB_OK, the
     * store had the backend's incarnation when the claim was read.
     */
    enum seqb_status (*claim)(struct seqb_backend *backend, const char *name,
                              const char *text, char *standing, size_t size,
                              struct seqb_error *err);

    /*
     * Direct only. Replaces the text under `name` by `text` if it is
     * `expected`, in one atomic step, durably. `standing` is the text stored
     * afterwards: `text` if it was replaced (or was there before); "" for none.
     * SEQB_PROTOCOL as for claim; if `incarnation` is NULL, SEQB_UNREACHABLE as
     * for claim, too.
     */
    enum seqb_status (*swap)(struct seqb_backend *backend,
                             const struct seqb_swap *swap, char *standing,
                             size_t size, struct seqb_error *err);

    /*
     * First stores `before_ms` for the counter, durably and never lower than it
     * was. Then deletes counters of it that are older than `keep`, a few at a
     * time: `*deleted` of them, fewer than `most` when there are no more. The
     * caller waits between storing (`most` 0) and deleting, so that calls in
     * progress end. Direct only: windowed stores let old cells expire by
     * themselves. NULL also in a direct engine whose counters cannot start at 1
     * again; no topology gives such an engine a sequence with a period.
     */
    enum seqb_status (*purge)(struct seqb_backend *backend,
                              const struct seqb_purge *purge, int32_t *deleted,
                              struct seqb_error *err);

    /* Reads a page. NULL in an engine whose stores have no incarnation. Errors
     * as for a claim that is only read, and SEQB_CORRUPT for a damaged row. */
    enum seqb_status (*list)(struct seqb_backend *backend,
                             struct seqb_page *page, struct seqb_error *err);

    /* The wall clock of the store's machine, ms since 1970, about when the
     * store answered; 0 if it may not be read. NULL if the store has no clock
     * but ours, for example a file. */
    enum seqb_status (*clock)(struct seqb_backend *backend, int64_t *out_ms,
                              struct seqb_error *err);

    /* Frees everything. NULL and half-built objects are allowed. Never blocks
     * for longer than `timeout_ms`. */
    void (*close)(struct seqb_backend *backend);

    /*
     * Whether the user has the rights that serving the counter needs, even if
     * the counter does not exist yet. SEQB_REFUSED, with what is missing, if
     * not. Changes nothing, and checks rights only: SEQB_OK does not promise a
     * number. NULL if the engine cannot know. After any other error the backend
     * must be closed.
     */
    enum seqb_status (*permits)(struct seqb_backend *backend,
                                const char *counter, struct seqb_error *err);

    /*
     * NULL in an engine that has nothing faster than one `claim` after the
     * other, which is what the pool does then. Otherwise it does what `claim`
     * does for the first `*done` of the `n` claims (1 or more), in as few round
     * trips and commits as the store permits: a start claims every listed
     * sequence. An engine takes as many as it can do well within `timeout_ms`,
     * at least one; the caller calls again for the rest. SEQB_OK: `standing` of
     * each of the `*done` claims is the stored text, durable for a direct
     * engine. After a failure no `standing` is valid, and each claim may have
     * been stored or not. SEQB_REFUSED and the other statuses after which a
     * pool keeps the connection: the caller repeats each of the claims alone,
     * to find which one failed. The incarnation is compared as `claim` says.
     */
    enum seqb_status (*claim_many)(struct seqb_backend *backend,
                                   struct seqb_claim *claims, size_t n,
                                   size_t *done, struct seqb_error *err);

    /*
     * NULL in an engine that has nothing to report. Describes the store as it
     * is now, for seqctl check --probe; `out` is zeroed before the call. A
     * server that refuses to answer is not an error. After an error the backend
     * must be closed.
     */
    enum seqb_status (*describe)(struct seqb_backend *backend,
                                 struct seqb_details *out,
                                 struct seqb_error *err);
};

/* The first member of an engine's own struct. */
struct seqb_backend {
    const struct seqb_backend_ops *ops;
    char origin[SEQB_ORIGIN_SIZE]; /* the store's history, as read by open */
    /* Names one run of the store's server, as read by open. It changes whenever
     * the server may have come back with older data, and an old one never comes
     * back. Without a '|'. "" if the engine cannot know it, or was not asked
     * for it (needs_incarnation). A server that was restarted since has another
     * incarnation: then claims, lists and calls with a guard are
     * SEQB_UNREACHABLE, so that the backend is opened again. */
    char incarnation[SEQB_INCARNATION_SIZE];
    char server[SEQB_SERVER_SIZE]; /* "redis 7.0.15", for messages */
    char domain[SEQB_DOMAIN_SIZE]; /* the server or disk: backends with the
                                      same text fail together */
    char loss[SEQB_LOSS_SIZE];     /* what its settings may lose and accept_loss
                                      permits; "": nothing */
    int fd; /* the socket that calls wait on. The pool shuts it down when a call
               passes its time-out; -1: none, the engine enforces the
               time-out */
};

struct seqb_broker;

/*
 * seqb_open with the service's own engines, ended by NULL, in addition to the
 * built-in ones: a topology names them like any other engine and may give them
 * every setting of a backend. The array is read during the call only; the ops
 * that it points to, and what they point to, must live until seqb_close.
 * Nothing is registered globally: each broker knows the engines that it was
 * opened with.
 *
 * Errors: those of seqb_open, and SEQB_INVALID for an engine that lacks a
 * function of its class or has one that its class cannot have, or whose name is
 * not legal or is that of a built-in engine.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_open_with(const char *topology /* NULL: the embedded default */,
               const struct seqb_backend_ops *const *engines /* NULL: none */,
               struct seqb_broker **out, struct seqb_error *err);

#ifdef __cplusplus
}
#endif
