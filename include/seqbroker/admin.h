/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator API of seqbroker: how a broker and its partitions are, what a
 * topology file may say, whether one is sound. The daemon and seqctl are built
 * on it. Thread-safe like the client API.
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

/*
 * The structs of a status may get more members at their end. So the functions
 * that fill them (seqb_partitions, seqb_lessors, seqb_sequences, seqb_clock,
 * seqb_workers) take the `size` of one: sizeof *out. A program goes on with a
 * newer library, which fills what the program knows, and with an older one,
 * which leaves 0 in what it does not know. Errors of all of them: SEQB_FORKED;
 * SEQB_INVALID, the size is less than that of the first release; if it is not
 * the library's own, SEQB_NO_MEMORY.
 */

enum seqb_partition_state {
    SEQB_PARTITION_STARTING,    /* not yet connected */
    SEQB_PARTITION_UP,          /* may be asked */
    SEQB_PARTITION_SUSPECT,     /* may be asked; slow calls count against it */
    SEQB_PARTITION_QUARANTINED, /* rests until its next probe */
    SEQB_PARTITION_PROBING,     /* a probe is under way */
    SEQB_PARTITION_RAMPING,     /* may be asked; its share grows to the whole */
    SEQB_PARTITION_DRAINED,     /* by an operator: rests until resumed */
    SEQB_PARTITION_REFUSED,     /* another layout: waits for an operator */
    SEQB_PARTITION_POISONED     /* it went back: waits for an operator */
};

/* One backend where it stands, as it was at the moment of the call. */
struct seqb_partition_status {
    char pool[SEQB_NAME_MAX + 1];
    int32_t partition; /* -1: the pool's authority, in no partition of it */
    char backend[SEQB_NAME_MAX + 1];
    char engine[SEQB_ENGINE_SIZE];
    char server[SEQB_SERVER_SIZE]; /* "redis 7.0.15"; this and the next two as
                                      last seen, "" if it was never open */
    char domain[SEQB_DOMAIN_SIZE]; /* the server or disk that it fails with */
    char loss[SEQB_LOSS_SIZE]; /* what its settings lose, by accept_loss; "" */
    bool is_windowed;          /* guarantee class: else direct */
    bool is_authority;         /* leases the pool's windows */
    enum seqb_partition_state state;
    char reason[256];      /* why it is not up, or else what it refuses to which
                              counter, in the backend's own words; or ""; its
                              begin only, see seqb_partition_reason */
    int64_t since_ms;      /* how long it has been in this state */
    int64_t next_probe_ms; /* ms from now; -1: none is due */
    int64_t latency_us;    /* moving average of a reservation; 0: none yet */
    int64_t granted;       /* counter values since the broker opened */
    int64_t errors;        /* failed calls, and refused counters, since then */
    int64_t slow;          /* calls past the pool's time-out since then */
    int64_t ejections;     /* times it was taken out, since then */
    /* The wall clock of the store's machine less ours, ms, as seen last;
     * INT64_MIN: it has none of its own, or was not seen. */
    int64_t clock_ms;
    /* Counters that it refuses now though it is well: see
     * SEQB_EVENT_COUNTER_REFUSED. */
    int64_t refused;
    /* Since its store answered well last, a call or a look, ms; -1: it has not
     * yet. */
    int64_t last_ok_ms;
};

#define SEQB_WHY_SIZE 80

struct seqb_sequence_status {
    char key[SEQB_KEY_MAX + 1];
    char pool[SEQB_NAME_MAX + 1];
    int32_t memory_bits;
    int32_t window_bits; /* of its windows, the pool's or its own; 0: no
                            partition counts in windows */
    int64_t stock;       /* numbers in the ring */
    int64_t in_flight;   /* numbers asked of backends */
    int64_t taken;       /* numbers handed out since the broker opened */
    int64_t rate;        /* numbers a second, recent average */
    int64_t waits;       /* calls that found the ring empty */
    int64_t low_water;   /* a refill is asked when the stock falls to this */
    int64_t target;      /* numbers that ought to be held at this rate */
    int64_t runway_ms;   /* that the stock lasts at this rate; INT64_MAX: it is
                            not used */
    int64_t asked; /* numbers that the last refill asked for; 0: none did */
    char why[SEQB_WHY_SIZE]; /* why so many, "rate: 1,200 numbers/ms x 76 ms" */
    /* ms from now until its bits are used up at the usual rate, that of other
     * brokers included; INT64_MAX: not within 1000 years, or not known yet. */
    int64_t runs_out_ms;
    char period[12];         /* "day", ...; "none" */
    struct seqb_stamp stamp; /* that is current, or was last; 0: none yet */
    int64_t dropped;         /* numbers of stamps that were over, unused */
    /* Numbers that fit its template's width, within each stamp if it has a
     * period, and how many of these its pool can give: partitions and windows
     * that begin later leave some out. INT64_MAX: its width ends at no number
     * that it can reach. */
    int64_t width_numbers;
    int64_t pool_numbers;
};

/* The broker's guarded wall clock, for sequences with a period. */
struct seqb_clock_status {
    bool is_used;       /* else nothing has a period, and the rest is 0 */
    int64_t wall_ms;    /* the machine's, ms since 1970 */
    int64_t guarded_ms; /* what stamps are made of: never goes back */
    int64_t behind_ms;  /* that the machine's is behind the last stamp's begin;
                           0: it is not */
    int64_t ahead_ms;   /* that it is ahead of what is believed; 0 */
    int64_t issued_ms;  /* no stamp that begins after it was issued, as kept
                           for the next start */
    int64_t steps_back; /* times it was seen to go back, since the open */
    char reason[256];   /* why no numbers are given, or "" */
};

SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_clock(struct seqb_broker *broker, struct seqb_clock_status *out,
           size_t size, struct seqb_error *err);

/* A worker id of a pool with snowflakes, by the store that leases it. */
struct seqb_worker {
    char pool[SEQB_NAME_MAX + 1];
    int32_t worker;
    bool is_ours;         /* this broker's own, now */
    bool is_free;         /* was given back */
    char holder[128];     /* who has or had it: "broker@host:pid" */
    int64_t renewed_ms;   /* by the holder's wall clock, ms since 1970 */
    int64_t used_upto_ms; /* no id of it has a time after that */
};

/*
 * The worker ids of all pools that were ever taken, as their stores have them,
 * in order: at most `capacity` of them; `*count` is how many there are. Waits
 * for the stores up to a time-out each. Also SEQB_UNAVAILABLE, SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_workers(struct seqb_broker *broker, struct seqb_worker *out, size_t size,
             size_t capacity, size_t *count, struct seqb_error *err);

/* "up", "quarantined", ... Never NULL. */
SEQB_API const char *seqb_partition_state_name(enum seqb_partition_state state);

/* What an operator may order of a partition. */
enum seqb_order {
    SEQB_ORDER_QUARANTINE, /* as if it had failed: probes bring it back */
    SEQB_ORDER_RESCUE,     /* probe it now, also if refused or poisoned */
    SEQB_ORDER_DRAIN,      /* ask it no more until resumed */
    SEQB_ORDER_RESUME      /* undoes a drain: it is probed, then ramped up */
};

/*
 * `partition` is the index in the pool, -1 for its authority. SEQB_INVALID,
 * with the reason and nothing changed, if there is no such partition or the
 * order makes no sense in its state. Other errors: SEQB_FORKED.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_command(struct seqb_broker *broker, const char *pool, int32_t partition,
             enum seqb_order order, struct seqb_error *err);

enum seqb_health {
    SEQB_HEALTH_SERVING,  /* every partition of every pool may be asked, and
                             refuses no counter */
    SEQB_HEALTH_DEGRADED, /* some may not, or refuse some, or lease no windows
                             while a store is away; every pool can serve */
    SEQB_HEALTH_NOT_SERVING, /* a pool has no partition that may be asked, or
                                no worker id for its snowflakes, or no neighbour
                                that can lease and no spare window */
    SEQB_HEALTH_UNKNOWN
};

/* "serving", "degraded", ... Never NULL. */
SEQB_API const char *seqb_health_name(enum seqb_health health);

#define SEQB_HEALTH_SIZE 4096 /* bytes that mostly hold all reasons */
/* `*out`, and in one line in `reason` (may be NULL) what is wrong; "" if it is
 * serving. What has no room is counted, "and 3 more". Errors: SEQB_FORKED. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_get_health(struct seqb_broker *broker, enum seqb_health *out, char *reason,
                size_t size, struct seqb_error *err);

/*
 * All numbers of the sequence that this broker hands out after it returns
 * are greater than `to`, and so are those of any broker once it has used up
 * what it holds: raises the counter in every partition that can be reached,
 * and drops what is in the ring. Waits for the stores up to the sequence's
 * deadline. SEQB_INVALID if a number at or above `to` was handed out already
 * (a sequence never goes back) or `to` is beyond its bits; SEQB_UNAVAILABLE
 * if not every partition could be raised: those that were stay so, the others
 * are raised before they are used by this broker. Nothing goes back in any
 * case. Other errors: SEQB_UNKNOWN_KEY, SEQB_CLOSED, SEQB_FORKED.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_advance(struct seqb_broker *broker, const char *key, int64_t to,
             struct seqb_error *err);

/*
 * The highest number of the sequence that this broker was granted since it
 * opened; 0 if it was granted none yet. What other brokers have is not in it.
 * Takes no number and asks no store. SEQB_INVALID for a sequence that cannot be
 * advanced, as one with a period. Other errors: SEQB_UNKNOWN_KEY, SEQB_CLOSED,
 * SEQB_FORKED. Any thread.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_highest(struct seqb_broker *broker, const char *key, int64_t *out,
             struct seqb_error *err);

enum seqb_event_kind {
    SEQB_EVENT_STATE,     /* a partition changed its state */
    SEQB_EVENT_RAISED,    /* a counter was fenced, and raised to be used */
    SEQB_EVENT_EXHAUSTED, /* a counter has no values left in a partition */
    SEQB_EVENT_LAYOUT,    /* a sequence was used with other memory bits */
    SEQB_EVENT_FORECAST,  /* a sequence will run out within a year */
    SEQB_EVENT_ADVANCED,  /* a sequence was advanced by an operator */
    SEQB_EVENT_COUNTER_REFUSED, /* a partition that is well refuses a counter */
    SEQB_EVENT_COUNTER_RECOVERED, /* it grants that counter again */
    SEQB_EVENT_LESSOR_WAITS, /* a partition's store leases no windows to its
                                neighbours: it was restarted, and another store,
                                as `reason` says, cannot be asked */
    SEQB_EVENT_LESSOR_LEVEL  /* it knows what the others know, and leases */
};

/* Something that an operator may want to know. Strings live for the call. */
struct seqb_event {
    enum seqb_event_kind kind;
    enum seqb_partition_state from; /* of SEQB_EVENT_STATE; else ... */
    enum seqb_partition_state to;   /* ... both are the state that it is in */
    const char *pool;
    int32_t partition;   /* -1: the pool's authority, or the whole pool */
    const char *backend; /* "": the whole pool */
    const char *key;     /* the sequence's; NULL: it is about the partition */
    const char
        *counter;       /* its name in the store; NULL if it is not about one */
    const char *reason; /* the backend's own words where it has some; or "" */
};

/*
 * A partition refuses a counter if it answers that this one alone cannot be
 * served: denied rights, a damaged row, a table that is missing. The event
 * comes once, and again only if the refusal gets another status. What may pass
 * by itself (a lock that another session holds, a clock that is behind) is told
 * when it has lasted for 3 s. The partition stays up for other counters. The
 * refused one is tried again, less and less often, at least every 30 s, also
 * if nobody asks for it, until it is granted: SEQB_EVENT_COUNTER_RECOVERED.
 * SEQB_EVENT_EXHAUSTED and SEQB_EVENT_LAYOUT are refusals as well, which are
 * never tried again. All of them count as errors of the partition, and are
 * shown in its `refused` and `reason`, and by seqb_get_health.
 */

/* "state", "raised", ... Never NULL. */
SEQB_API const char *seqb_event_name(enum seqb_event_kind kind);

/*
 * Calls `callback` for every event from now on, each once, as it happens; NULL
 * ends that. It runs on a thread of the broker, or in seqb_command and
 * seqb_advance, one call at a time, and holds up what that thread does: it
 * must be short, and must not call these two, seqb_on_event or seqb_close.
 * Every event is a line of the log as well.
 * Replaces the callback before; when it returns, no call of that one runs.
 * Errors: SEQB_FORKED.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_on_event(struct seqb_broker *broker,
              void (*callback)(void *context, const struct seqb_event *event),
              void *context, struct seqb_error *err);

/*
 * Copies the state of every partition, pool by pool, the authority last, into
 * at most `capacity` elements; `*count` is how many there are, which may be
 * more. `out` may be NULL if `capacity` is 0.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_partitions(struct seqb_broker *broker, struct seqb_partition_status *out,
                size_t size, size_t capacity, size_t *count,
                struct seqb_error *err);

#define SEQB_REASON_SIZE 2560 /* holds each reason of a partition */

/* The whole `reason` of a partition (as of seqb_command). The status
 * has its first 255 bytes. It is cut to `size`. SEQB_INVALID: there is no such
 * partition; SEQB_FORKED. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_partition_reason(struct seqb_broker *broker, const char *pool,
                      int32_t partition, char *out, size_t size,
                      struct seqb_error *err);

/* A store that leases windows to the others of its pool, as this broker knows
 * (authority = "neighbours"). */
struct seqb_lessor {
    char pool[SEQB_NAME_MAX + 1];
    char backend[SEQB_NAME_MAX + 1];
    int32_t partition;
    const char *state; /* static: "level": it may lease; "syncing" and
                          "waiting": not yet; "unknown": nobody has looked, or
                          it cannot be asked */
    char waits_for[SEQB_NAME_MAX + 1]; /* the backend that it waits for; "" */
    int64_t since_ms;                  /* how long it has been so */
    int64_t leases_per_minute;         /* of this broker, of late */
};

/* The same for the lessors of pools with neighbours, pool by pool. Also
 * SEQB_NO_MEMORY. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_lessors(struct seqb_broker *broker, struct seqb_lessor *out, size_t size,
             size_t capacity, size_t *count, struct seqb_error *err);

/* The same for the sequences in use, in no particular order. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_sequences(struct seqb_broker *broker, struct seqb_sequence_status *out,
               size_t size, size_t capacity, size_t *count,
               struct seqb_error *err);

/* The broker's name in its topology. Owned by the broker. */
SEQB_API const char *seqb_broker_name(const struct seqb_broker *broker);

/* The number of ms that seqb_next waits at most on this sequence. */
SEQB_API int64_t seqb_deadline_ms(const struct seqb_sequence *sequence);

/* The state directory that seqb_open would use now for `topology` (NULL: the
 * embedded default): $SEQBROKER_STATE_DIR, else the file's state_dir, else
 * $XDG_STATE_HOME/seqbroker, else ~/.local/state/seqbroker. Makes nothing.
 * Errors: SEQB_CONFIG, SEQB_STATE_DIR (none of them is set), SEQB_INVALID
 * (`size` is too small). */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_state_dir(const char *topology, char *out, size_t size,
               struct seqb_error *err);

/*
 * Parses and checks a topology file (NULL: the embedded default) without
 * touching any backend. For every mistake calls `report` with one line,
 * "file:line: what"; SEQB_OK if there is none, else SEQB_CONFIG. If there is
 * none, then with a line "note: ..." for every sequence whose template's width
 * ends, how many numbers fit it and how many of these its pool can give; with
 * such lines for every partition, how it counts and who leases its windows, and
 * for every pool, what would have to go back for a number to repeat; and with a
 * line "warning: ..." for what should be looked at.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_check_topology(const char *topology,
                    void (*report)(void *context, const char *line),
                    void *context, struct seqb_error *err);

/* One backend of a topology as a probe found it. */
struct seqb_probe {
    char backend[SEQB_NAME_MAX + 1];
    char engine[SEQB_ENGINE_SIZE];
    char pool[SEQB_NAME_MAX + 1]; /* where the topology puts it */
    int32_t partition;            /* -1: it is an authority only */
    bool is_windowed;             /* guarantee class: else direct */
    bool is_authority;            /* of any pool */
    /* SEQB_OK: it may serve. SEQB_ROLE, SEQB_UNSAFE: reached, and refused for
     * that; SEQB_LAYOUT: it claims another place or layout than the topology
     * gives it; SEQB_REFUSED: a right is missing, maybe for one listed key
     * alone. Else it cannot be used at all. */
    enum seqb_status status;
    char reason[512];              /* "" if SEQB_OK */
    int64_t open_us;               /* how long connecting took; 0: it failed */
    char server[SEQB_SERVER_SIZE]; /* "" where it was not reached */
    char domain[SEQB_DOMAIN_SIZE];
    char loss[SEQB_LOSS_SIZE]; /* whether the topology accepts it or not */
    char place[64]; /* "<pool>/<partition>" that it claims; a pool whose layout
                       it keeps without; or "" */
    struct seqb_details details; /* of the store that was reached */
};

/* Who is told of a probe; each may be NULL. On the caller's thread. */
struct seqb_probe_listener {
    void (*diagnostic)(void *context, const char *line); /* in the topology */
    void (*backend)(void *context, const struct seqb_probe *probe);
    void (*note)(void *context, const char *line);    /* how a pool counts */
    void (*warning)(void *context, const char *line); /* about a pool */
    void *context;
};

/*
 * Opens every backend of a topology, without a broker: nothing is created or
 * written, claims are only looked at. The databases are asked for the rights
 * that each listed key needs, the first thousand keys of a pool. All at once,
 * each within its time-outs. Tells of each backend in the topology's order, how
 * each pool counts, and what would fail together. `engines`: seqb_open_with.
 *
 * SEQB_OK if every backend may serve; SEQB_CONFIG (nothing was opened),
 * SEQB_LAYOUT, SEQB_UNAVAILABLE, SEQB_INVALID, SEQB_STATE_DIR,
 * SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_probe_topology(
    const char *topology, const struct seqb_backend_ops *const *engines,
    const struct seqb_probe_listener *listener, struct seqb_error *err);

/* How far a long call is: `show` is called on the caller's thread. */
struct seqb_progress {
    void (*show)(void *context, int64_t done, int64_t total);
    void *context;
};

/* The same, and shows again and again how many backends are done. */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_probe_watched(
    const char *topology, const struct seqb_backend_ops *const *engines,
    const struct seqb_probe_listener *listener,
    const struct seqb_progress *progress, struct seqb_error *err);

/* How to migrate; zeroed is how seqctl does without options. */
struct seqb_migrate_options {
    bool dry_run; /* look and tell only: nothing is made or written */
    /* Keys that were used and are listed in neither topology. NULL: none is
     * known, which is refused where the old topology has auto_sequences. */
    const char *const *keys;
    size_t key_count;
    const struct seqb_backend_ops *const *engines; /* as for seqb_open_with */
    /* Told the plan before the first write, then how it goes, a line each; on
     * the caller's thread. NULL: nobody listens. */
    void (*report)(void *context, const char *line);
    void *context;
    const char *without; /* a backend of an old pool with neighbours that is
                            gone for good, and is not asked; NULL: none */
};

/*
 * Moves pools to another layout: another number or order of partitions, other
 * window_bits, other memory_bits of their sequences, another authority. Each
 * pool that stands in both topologies with a `generation` one higher in the
 * new one is migrated; the others must be as they were. Every number that a
 * broker of the new topology issues afterwards is above every one that was
 * issued by the old. All brokers of the old topology must be stopped: one that
 * is not gets no more numbers, and may have been granted at most failover_gap
 * values of a counter, or as many windows as hold those and one, while it is
 * ended.
 *
 * May be killed at any moment and called again, with the same topologies, as
 * may a call that failed; whatever fails says whether anything was changed.
 * When all is done already, it says so and changes nothing. One migration at a
 * time.
 *
 * In a pool with neighbours each window that was used was noted by another
 * store than the one that leased it. So one of them may be left out, `without`,
 * if all others are level: no one of these went back since it was restarted
 * last, as brokers found out or an operator said (seqb_trust). Else
 * SEQB_UNSAFE. What is left out must be gone: it is SEQB_INVALID if it answers.
 *
 * Errors: SEQB_CONFIG (a topology is not sound, or the two are no two
 * generations of one pool: the text says what to write), SEQB_INVALID (keys
 * are missing, or are none), SEQB_LAYOUT (the stores are not as the old
 * topology says, or the migration began with another new one),
 * SEQB_EXHAUSTED (the numbers of the new layout end too early), those of
 * opening a backend, of which every other one is needed (SEQB_UNREACHABLE,
 * SEQB_UNSAFE, ...), SEQB_STATE_DIR, SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_migrate(const char *old_topology /* NULL: the embedded default */,
             const char *new_topology /* the same */,
             const struct seqb_migrate_options *options,
             struct seqb_error *err);

/* As seqb_migrate, and shows how many steps are done: some for each key. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_migrate_watched(const char *old_topology, const char *new_topology,
                     const struct seqb_migrate_options *options,
                     const struct seqb_progress *progress,
                     struct seqb_error *err);

/* How to trust; zeroed is how seqctl does without options. */
struct seqb_trust_options {
    bool dry_run; /* look and tell only: nothing is written */
    const struct seqb_backend_ops *const *engines; /* as for seqb_open_with */
    /* As of a migration. */
    void (*report)(void *context, const char *line);
    void *context;
};

/*
 * The operator's word that a backend's store did not go back. In a pool with
 * authority = "neighbours" a store that was restarted leases no windows until
 * all of its neighbours were asked what it leased. Where one of them is gone,
 * it waits; after this it leases again, until it is restarted once more.
 * Brokers may run. If the word is wrong, numbers repeat
 * (docs/guarantees.md).
 *
 * SEQB_OK, also if the backend was level; SEQB_CONFIG; SEQB_INVALID: it leases
 * nothing, or all of its neighbours can be asked; SEQB_LAYOUT: it is another
 * store; SEQB_UNSAFE: its settings lose commits; the backend's own errors
 * (SEQB_UNREACHABLE, ...), SEQB_AGAIN, SEQB_STATE_DIR, SEQB_NO_MEMORY.
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
