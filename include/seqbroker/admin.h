/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator API of seqbroker: the state of a broker and its partitions, what
 * a topology file may contain, and whether it is valid. The daemon and seqctl
 * are built on it. Thread-safe like the client API.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>
#include <seqbroker/seqbroker.h>
#include <seqbroker/settings.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEQB_NAME_MAX 32 /* longest name of a broker, backend or pool */

/* Later versions may add members at the end of a status struct. So the
 * functions that fill such structs (seqb_partitions, seqb_lessors,
 * seqb_sequences, seqb_clock, seqb_workers) take the `size` of one struct:
 * sizeof *out. A program continues to work with a newer library, which fills
 * the members that the program knows, and with an older one, which leaves 0 in
 * the members that it does not know. Errors of all these functions:
 * SEQB_FORKED; SEQB_INVALID if `size` is less than that of the first release;
 * SEQB_NO_MEMORY, possible only if `size` is not the library's own. */

enum seqb_partition_state {
    SEQB_PARTITION_STARTING,    /* not yet connected */
    SEQB_PARTITION_UP,          /* may be asked */
    SEQB_PARTITION_SUSPECT,     /* may be asked; slow calls count against it */
    SEQB_PARTITION_QUARANTINED, /* not asked until its next probe */
    SEQB_PARTITION_PROBING,     /* a probe is under way */
    SEQB_PARTITION_RAMPING,     /* may be asked; its share grows to the whole */
    SEQB_PARTITION_DRAINED,     /* by an operator: not asked until resumed */
    SEQB_PARTITION_REFUSED,     /* another layout: waits for an operator */
    SEQB_PARTITION_POISONED     /* went back: waits for an operator */
};

/* One backend in its place in a pool, as it was at the moment of the call. */
struct seqb_partition_status {
    char pool[SEQB_NAME_MAX + 1];
    int32_t partition; /* -1: the pool's authority, which is no partition */
    char backend[SEQB_NAME_MAX + 1];
    char engine[SEQB_ENGINE_SIZE];
    char server[SEQB_SERVER_SIZE]; /* "redis 7.0.15"; this and the next two as
                                      seen last, "" if it was never open */
    char domain[SEQB_DOMAIN_SIZE]; /* the server or disk: backends with the same
                                      text fail together */
    char loss[SEQB_LOSS_SIZE];     /* what its settings may lose, as accept_loss
                                      permits; "" */
    bool is_windowed;              /* guarantee class: else direct */
    bool is_authority;             /* leases the pool's windows */
    enum seqb_partition_state state;
    char reason[256];      /* why it is not up, or which counter it refuses and
                              why, in the backend's own words; or ""; truncated,
                              see seqb_partition_reason */
    int64_t since_ms;      /* how long it has been in this state */
    int64_t next_probe_ms; /* ms from now; -1: none is due */
    int64_t latency_us;    /* moving average of a reservation; 0: none yet */
    int64_t granted;       /* counter values since the broker opened */
    int64_t errors;        /* failed calls and refused counters since then */
    int64_t slow;          /* calls past the pool's time-out since then */
    int64_t ejections;     /* times it was quarantined since then */
    /* The wall clock of the store's machine minus ours, ms, as read last;
     * INT64_MIN: the store has no clock of its own, or it was not read yet. */
    int64_t clock_ms;
    /* The counters that it refuses now although it is up: see
     * SEQB_EVENT_COUNTER_REFUSED. */
    int64_t refused;
    /* Ms since its store last answered a call or a check well; -1: never. */
    int64_t last_ok_ms;
    int64_t raises; /* of its counters: its store had changed or gone back */
};

#define SEQB_WHY_SIZE 80

struct seqb_sequence_status {
    char key[SEQB_KEY_MAX + 1];
    char pool[SEQB_NAME_MAX + 1];
    int32_t memory_bits;
    int32_t window_bits; /* its own or the pool's; 0: no partition counts in
                            windows */
    int64_t stock;       /* numbers in the ring */
    int64_t in_flight;   /* numbers asked of backends */
    int64_t taken;       /* numbers handed out since the broker opened */
    int64_t rate;        /* numbers a second, recent average */
    int64_t waits;       /* calls that found the ring empty */
    int64_t low_water;   /* a refill is due when the stock falls to this */
    int64_t target;      /* numbers to hold in memory at this rate */
    int64_t runway_ms;   /* time that the stock lasts at this rate; INT64_MAX:
                            the rate is 0 */
    int64_t asked;       /* numbers that the last refill asked for; 0: none
                            yet */
    char why[SEQB_WHY_SIZE]; /* why so many, "rate: 1,200 numbers/ms x 76 ms" */
    /* The ms from now until its bits, or the numbers that its template can
     * write, are used up at the usual rate, other brokers included; INT64_MAX:
     * not within 1000 years, not before the next stamp, or not known yet. */
    int64_t runs_out_ms;
    char period[12];         /* "day", ...; "none" */
    struct seqb_stamp stamp; /* the current one, or the last one; 0: none yet */
    int64_t dropped;         /* unused numbers of stamps that are over */
    /* How many numbers fit its template's width (per stamp, if it has a
     * period), and how many of these its pool can give: partitions and windows
     * that begin later omit some. INT64_MAX: all that it can reach fit. */
    int64_t width_numbers;
    int64_t pool_numbers;
};

/* The broker's guarded wall clock, for sequences with a period and for
 * snowflakes. */
struct seqb_clock_status {
    bool is_used;       /* else no sequence needs it, and the rest is 0 */
    int64_t wall_ms;    /* the machine's, ms since 1970 */
    int64_t guarded_ms; /* stamps are derived from it; it never goes back */
    int64_t behind_ms;  /* the machine's clock is that far behind the last
                           stamp's begin; 0: it is not */
    int64_t ahead_ms;   /* the machine's clock is that far ahead of what is
                           accepted; 0: it is not */
    int64_t issued_ms;  /* no later stamp was issued; kept for the next start */
    int64_t steps_back; /* times that it went back, since the open */
    char reason[256];   /* why no numbers are given, or "" */
    char effect[128];   /* who has none then, in words, or "" */
};

SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_clock(struct seqb_broker *broker, struct seqb_clock_status *out,
           size_t size, struct seqb_error *err);

/* A worker id of a pool with snowflakes, as the store that leases it has it. */
struct seqb_worker {
    char pool[SEQB_NAME_MAX + 1];
    int32_t worker;
    bool is_ours;         /* this broker holds it now */
    bool is_free;         /* was given back */
    char holder[128];     /* who holds or held it: "broker@host:pid" */
    int64_t renewed_ms;   /* by the holder's wall clock, ms since 1970 */
    int64_t used_upto_ms; /* no id of this worker has a later time */
};

/* All worker ids of all pools that were ever leased, as their stores have them,
 * in order: at most `capacity` of them; `*count` is how many there are. Waits
 * up to a time-out for each store. Also SEQB_UNAVAILABLE, SEQB_NO_MEMORY. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_workers(struct seqb_broker *broker, struct seqb_worker *out, size_t size,
             size_t capacity, size_t *count, struct seqb_error *err);

/* "up", "quarantined", ... Never NULL. */
SEQB_API const char *seqb_partition_state_name(enum seqb_partition_state state);

/* What an operator may order for a partition. */
enum seqb_order {
    SEQB_ORDER_QUARANTINE, /* probes bring it back after `rescue_after` */
    SEQB_ORDER_RESCUE,     /* probe it now, also if refused or poisoned */
    SEQB_ORDER_DRAIN,      /* ask it nothing until resumed */
    SEQB_ORDER_RESUME      /* undoes a drain: it is probed, then ramped up */
};

/* `partition` is the index in the pool, -1 for its authority. Draining one that
 * is drained, and resuming one that is not, changes nothing. SEQB_INVALID, with
 * the reason and nothing changed, if there is no such partition or the order
 * makes no sense in its state: a resume of one that an operator quarantined, or
 * that is refused or poisoned, is a rescue. Other errors: SEQB_FORKED. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_command(struct seqb_broker *broker, const char *pool, int32_t partition,
             enum seqb_order order, struct seqb_error *err);

enum seqb_health {
    SEQB_HEALTH_SERVING,     /* every partition of every pool may be asked, and
                                none refuses a counter */
    SEQB_HEALTH_DEGRADED,    /* some partitions may not be asked, do not answer,
                                refuse a counter or lease no windows, or some
                                sequences wait or refuse texts; every pool
                                answers */
    SEQB_HEALTH_NOT_SERVING, /* a pool has no partition that answers, no time
                                or worker id for ids, or no window and none to
                                lease; or all sequences lack stamps */
    SEQB_HEALTH_UNKNOWN
};

/* "serving", "degraded", ... Never NULL. */
SEQB_API const char *seqb_health_name(enum seqb_health health);

#define SEQB_HEALTH_SIZE 4096 /* enough bytes for all reasons in most cases */
/* Fills `*out`, and `reason` (may be NULL) with one line that says what is
 * wrong; "" if the broker is serving. Reasons that do not fit are counted, "and
 * 3 more". Errors: SEQB_FORKED. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_get_health(struct seqb_broker *broker, enum seqb_health *out, char *reason,
                size_t size, struct seqb_error *err);

/*
 * Advances a sequence: all numbers that this broker hands out after the call
 * returns are greater than `to`. So are the numbers of any other broker, once
 * it has used up what it holds. The call raises the counter in every partition
 * that can be reached, and in the authority, and drops the ring. It waits for
 * the stores up to the sequence's deadline. SEQB_INVALID if a number at or
 * above `to` was handed out already (a sequence never goes back) or `to`
 * exceeds the sequence's bits; SEQB_UNAVAILABLE if not every partition could be
 * raised: the raised ones stay raised, and this broker raises the others before
 * it uses them. If only the spool cannot be written, that error: the counters
 * are raised. No counter goes back in any case. Other errors: SEQB_UNKNOWN_KEY,
 * SEQB_CLOSED, SEQB_FORKED.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_advance(struct seqb_broker *broker, const char *key, int64_t to,
             struct seqb_error *err);

/*
 * For a program that is about to close the broker while its other threads may
 * be in seqb_advance, seqb_workers or seqb_reload: such a call returns soon, as
 * if the stores that it waits for did not answer. Join these threads, and call
 * seqb_close, which then has until `keep_ms` from now to keep the unused
 * numbers, if that is longer than usual. Only the thread that closes the broker
 * may call it.
 */
SEQB_API void seqb_end_waits(struct seqb_broker *broker, int64_t keep_ms);

/* The highest number of the sequence that this broker was granted since it
 * opened; 0 if it was granted none yet. Grants of other brokers are not
 * included. Takes no number and asks no store. SEQB_INVALID for a sequence that
 * cannot be advanced, for example one with a period. Other errors:
 * SEQB_UNKNOWN_KEY, SEQB_CLOSED, SEQB_FORKED. Any thread may call it. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_highest(struct seqb_broker *broker, const char *key, int64_t *out,
             struct seqb_error *err);

/* Copies the state of every partition, pool by pool, the authority last, into
 * at most `capacity` elements. `*count` is how many there are, which may be
 * more than `capacity`. `out` may be NULL if `capacity` is 0. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_partitions(struct seqb_broker *broker, struct seqb_partition_status *out,
                size_t size, size_t capacity, size_t *count,
                struct seqb_error *err);

#define SEQB_REASON_SIZE 2560 /* enough for any reason of a partition */

/* The whole `reason` of a partition (named as for seqb_command); the status has
 * only its first 255 bytes. It is truncated to `size`. SEQB_INVALID: there is
 * no such partition; SEQB_FORKED. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_partition_reason(struct seqb_broker *broker, const char *pool,
                      int32_t partition, char *out, size_t size,
                      struct seqb_error *err);

/* A store that leases windows to the others of its pool (authority =
 * "neighbours"), as this broker knows it. */
struct seqb_lessor {
    char pool[SEQB_NAME_MAX + 1];
    char backend[SEQB_NAME_MAX + 1];
    int32_t partition;
    const char *state; /* static: "level": it may lease; "syncing" and
                          "waiting": not yet; "unknown": not read yet, or it
                          cannot be asked */
    char waits_for[SEQB_NAME_MAX + 1]; /* the backend that it waits for; "" */
    int64_t since_ms;                  /* how long it has been in this state */
    int64_t leases_per_minute;         /* to this broker, recently */
};

/* As seqb_partitions, for the lessors of pools with neighbours, pool by pool.
 * Also SEQB_NO_MEMORY. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_lessors(struct seqb_broker *broker, struct seqb_lessor *out, size_t size,
             size_t capacity, size_t *count, struct seqb_error *err);

/* As seqb_partitions, for the sequences in use, in no particular order. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_sequences(struct seqb_broker *broker, struct seqb_sequence_status *out,
               size_t size, size_t capacity, size_t *count,
               struct seqb_error *err);

/* The broker's name in its topology. Owned by the broker. */
SEQB_API const char *seqb_broker_name(const struct seqb_broker *broker);

/* The ms that seqb_next waits at most on this sequence. */
SEQB_API int64_t seqb_deadline_ms(const struct seqb_sequence *sequence);

/* The state directory that seqb_open would use now for `topology` (NULL: the
 * embedded default): $SEQBROKER_STATE_DIR, else the file's state_dir, else
 * $XDG_STATE_HOME/seqbroker, else ~/.local/state/seqbroker. It creates nothing.
 * Errors: SEQB_CONFIG, SEQB_STATE_DIR (none of these is set), SEQB_INVALID
 * (`size` is too small). */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_state_dir(const char *topology, char *out, size_t size,
               struct seqb_error *err);

/* Makes the state directory `folder` with what it is in, mode 0700, if it is
 * missing, as seqb_open does: for a program that puts a file there before it
 * opens the broker. Errors: SEQB_STATE_DIR, also for one that the user may not
 * write in, or in which everybody may. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_make_state_dir(const char *folder, struct seqb_error *err);

/* Parses and checks a topology file (NULL: the embedded default) and asks no
 * backend. It calls `report` with a line for every mistake, "file:line: what",
 * and answers SEQB_CONFIG if there is one, else SEQB_OK. Then it reports: a
 * "note: ..." for every sequence whose template's width ends (how many numbers
 * fit it, and how many of these its pool can give), for every partition (how it
 * counts and which store leases its windows), and for every pool (what would
 * have to go back for a number to repeat); and a "warning: ..." for each thing
 * to review. A list ends after 500 lines, with "... and N more". */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_check_topology(const char *topology,
                    void (*report)(void *context, const char *line),
                    void *context, struct seqb_error *err);

/* One backend of a topology as a probe found it. */
struct seqb_probe {
    char backend[SEQB_NAME_MAX + 1];
    char engine[SEQB_ENGINE_SIZE];
    char pool[SEQB_NAME_MAX + 1]; /* the pool that the topology puts it in */
    int32_t partition;            /* -1: it is an authority only */
    bool is_windowed;             /* guarantee class: else direct */
    bool is_authority;            /* of any pool */
    /* SEQB_OK: the backend may serve. SEQB_ROLE, SEQB_UNSAFE: it was reached,
     * and is refused for its role or its settings; SEQB_LAYOUT: it claims
     * another place or layout than the topology gives it; SEQB_REFUSED: a right
     * is missing, possibly for a single listed key. Any other status: it cannot
     * be used at all. */
    enum seqb_status status;
    char reason[512];              /* "" if SEQB_OK */
    int64_t open_us;               /* how long connecting took; 0: it failed */
    char server[SEQB_SERVER_SIZE]; /* "" if it was not reached */
    char domain[SEQB_DOMAIN_SIZE];
    char loss[SEQB_LOSS_SIZE]; /* whether the topology accepts it or not */
    char place[64]; /* the "<pool>/<partition>" that it claims; only "<pool>" if
                       it keeps the layout of that pool and is no partition; or
                       "" */
    struct seqb_details details; /* of the store that was reached */
};

/* The callbacks of a probe, on the caller's thread; each may be NULL. */
struct seqb_probe_listener {
    void (*diagnostic)(void *context, const char *line); /* topology mistakes */
    void (*backend)(void *context, const struct seqb_probe *probe);
    void (*note)(void *context, const char *line);    /* how a pool counts */
    void (*warning)(void *context, const char *line); /* about a pool */
    void *context;
};

/*
 * Opens every backend of a topology, without a broker. No counter, claim or
 * table is created or written. Where windows need the incarnation of a store
 * that has none yet, or that went back, SQLite and MySQL get one, as by a
 * start. Claims are only read. The databases are asked whether the user has the
 * rights that each listed key needs, for the first thousand keys of a pool. All
 * backends are probed at the same time, each within its time-outs. The call
 * reports each backend in the topology's order, how each pool counts, and which
 * backends would fail together. `engines`: as for seqb_open_with.
 *
 * SEQB_OK if every backend may serve; SEQB_CONFIG (nothing was opened),
 * SEQB_LAYOUT, SEQB_UNAVAILABLE, SEQB_INVALID, SEQB_STATE_DIR,
 * SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_probe_topology(
    const char *topology, const struct seqb_backend_ops *const *engines,
    const struct seqb_probe_listener *listener, struct seqb_error *err);

/* The progress of a long call: `show` is called on the caller's thread. */
struct seqb_progress {
    void (*show)(void *context, int64_t done, int64_t total);
    void *context;
};

/* As seqb_probe_topology; shows repeatedly how many backends are done. */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_probe_watched(
    const char *topology, const struct seqb_backend_ops *const *engines,
    const struct seqb_probe_listener *listener,
    const struct seqb_progress *progress, struct seqb_error *err);

/* How to migrate. Zeroed options are what seqctl does without options. */
struct seqb_migrate_options {
    bool dry_run; /* report only: nothing is created or written */
    /* Keys that were used, are listed in neither topology, and are unknown to
     * the stores of the old pools, which list the others. NULL: there is none.
     * That is refused if the old topology has auto_sequences in a pool with a
     * store that keeps its data and cannot list it. */
    const char *const *keys;
    size_t key_count;
    const struct seqb_backend_ops *const *engines; /* as for seqb_open_with */
    /* Called with the plan before the first write, then with the progress, one
     * line each; on the caller's thread. May be NULL. */
    void (*report)(void *context, const char *line);
    void *context;
    const char *without; /* a backend of an old pool with neighbours that is
                            permanently lost, and is not asked; NULL: none */
};

/*
 * Moves pools to another layout: another number or order of partitions, other
 * window_bits, other memory_bits of their sequences, another authority. Each
 * pool that is in both topologies, with a `generation` one higher in the new
 * one, is migrated; the other pools must be unchanged. Every number that a
 * broker of the new topology issues afterwards is above every number that was
 * issued under the old one. All brokers of the old topology must be stopped.
 * One that still runs gets no more numbers; while the migration shuts it out,
 * it may be granted at most failover_gap values of a counter, or as many
 * windows as hold that many values, and one more.
 *
 * The keys of both topologies, and all that the stores of an old pool list, go
 * with the pool, also those that a broker begins meanwhile. One that no
 * topology lists by its name, and whose claim has a period or a shuffle that
 * auto_sequences do not have, is left out, and reported.
 *
 * The call may be killed at any moment, or fail, and may be called again with
 * the same topologies. A failure says whether anything was changed. When
 * everything is done already, it says so and changes nothing. Only one
 * migration may run at a time.
 *
 * In a pool with neighbours, each window that was used was noted by another
 * store than the one that leased it. So one store may be left out, `without`,
 * if all others are level: none of them went back since its last restart, as
 * brokers found out or an operator confirmed (seqb_trust). Otherwise
 * SEQB_UNSAFE. The store that is left out must be gone: SEQB_INVALID if it
 * answers.
 *
 * Errors: SEQB_CONFIG (a topology is not valid, or the two are not successive
 * generations of one pool: the text says what to write), SEQB_INVALID (keys are
 * missing, or not legal), SEQB_LAYOUT (the stores are not as the old topology
 * says, or the migration began with another new topology), SEQB_EXHAUSTED (the
 * numbers of the new layout end too early), those of opening a backend, since
 * every backend but `without` is needed (SEQB_UNREACHABLE, SEQB_UNSAFE, ...),
 * SEQB_STATE_DIR, SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_migrate(const char *old_topology /* NULL: the embedded default */,
             const char *new_topology /* the same */,
             const struct seqb_migrate_options *options,
             struct seqb_error *err);

/* As seqb_migrate; shows how many steps are done: several for each key. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_migrate_watched(const char *old_topology, const char *new_topology,
                     const struct seqb_migrate_options *options,
                     const struct seqb_progress *progress,
                     struct seqb_error *err);

/* How to trust. Zeroed options are what seqctl does with --force. */
struct seqb_trust_options {
    bool dry_run; /* report only: nothing is written */
    const struct seqb_backend_ops *const *engines; /* as for seqb_open_with */
    /* As for a migration. */
    void (*report)(void *context, const char *line);
    void *context;
};

/*
 * The operator confirms that a backend's store did not go back. In a pool with
 * authority = "neighbours" a store that was restarted leases no windows until
 * all of its neighbours were asked what it leased. If a neighbour is gone, the
 * store waits. After this call it leases again, until its next restart. Brokers
 * may be running. If the operator is wrong, numbers repeat
 * (docs/guarantees.md).
 *
 * SEQB_OK, also if the backend was level; SEQB_CONFIG; SEQB_INVALID: the
 * backend leases nothing, or all of its neighbours can be asked; SEQB_LAYOUT:
 * it is another store; SEQB_UNSAFE: its settings lose commits; the backend's
 * own errors (SEQB_UNREACHABLE, ...), SEQB_AGAIN, SEQB_STATE_DIR,
 * SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_trust(const char *topology /* NULL: the embedded default */,
           const char *backend, const struct seqb_trust_options *options,
           struct seqb_error *err);

/* The i-th client library, "hiredis 0.14.1"; NULL past the last. Static. */
SEQB_API const char *seqb_library(size_t i);

#ifdef __cplusplus
}
#endif
