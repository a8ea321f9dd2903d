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

#ifdef __cplusplus
extern "C" {
#endif

#define SEQB_NAME_MAX 32 /* longest name of a broker, backend or pool */

enum seqb_partition_state {
    SEQB_PARTITION_STARTING,    /* not yet connected */
    SEQB_PARTITION_UP,          /* may be asked */
    SEQB_PARTITION_QUARANTINED, /* rests until its next probe */
    SEQB_PARTITION_PROBING,     /* a probe is under way */
    SEQB_PARTITION_REFUSED      /* layout or poison: waits for an operator */
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
    char reason[256]; /* why it is not up, the backend's own words; or "" */
    int64_t since_ms; /* how long it has been in this state */
    int64_t next_probe_ms; /* ms from now; -1: none is due */
    int64_t latency_us;    /* moving average of a reservation; 0: none yet */
    int64_t granted;       /* counter values since the broker opened */
    int64_t errors;        /* failed calls since then */
    int64_t slow;          /* calls past the pool's time-out since then */
};

struct seqb_sequence_status {
    char key[SEQB_KEY_MAX + 1];
    char pool[SEQB_NAME_MAX + 1];
    int32_t memory_bits;
    int64_t stock;     /* numbers in the ring */
    int64_t in_flight; /* numbers asked of backends */
    int64_t taken;     /* numbers handed out since the broker opened */
    int64_t rate;      /* numbers a second, recent average */
    int64_t waits;     /* calls that found the ring empty */
    int64_t low_water; /* a refill is asked when the stock falls to this */
};

/* "up", "quarantined", ... Never NULL. */
SEQB_API const char *seqb_partition_state_name(enum seqb_partition_state state);

/*
 * Copies the state of every partition, pool by pool, the authority last, into
 * at most `capacity` elements; `*count` is how many there are, which may be
 * more. `out` may be NULL if `capacity` is 0. Errors: SEQB_FORKED.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_partitions(struct seqb_broker *broker, struct seqb_partition_status *out,
                size_t capacity, size_t *count, struct seqb_error *err);

/* The same for the sequences in use, in no particular order. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_sequences(struct seqb_broker *broker, struct seqb_sequence_status *out,
               size_t capacity, size_t *count, struct seqb_error *err);

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
 * "file:line: what". SEQB_OK if there is none, else SEQB_CONFIG.
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
     * gives it. Else it cannot be used at all. */
    enum seqb_status status;
    char reason[512];              /* "" if SEQB_OK */
    int64_t open_us;               /* how long connecting took; 0: it failed */
    char server[SEQB_SERVER_SIZE]; /* "" where it was not reached */
    char domain[SEQB_DOMAIN_SIZE];
    char loss[SEQB_LOSS_SIZE]; /* whether the topology accepts it or not */
    char place[64]; /* "<pool>/<partition>" that it claims; a pool whose layout
                       it keeps without; or "" */
};

/* Who is told of a probe; each may be NULL. On the caller's thread. */
struct seqb_probe_listener {
    void (*mistake)(void *context, const char *line); /* in the topology */
    void (*backend)(void *context, const struct seqb_probe *probe);
    void (*warning)(void *context, const char *line); /* about a pool */
    void *context;
};

/*
 * Opens every backend of a topology by itself, without a broker: nothing is
 * created or written, claims are only looked at. All at once, each within its
 * time-outs. Tells of every backend in the topology's order, then of what
 * would fail together. `engines` as for seqb_open_with.
 *
 * SEQB_OK if every backend may serve; SEQB_CONFIG (nothing was opened),
 * SEQB_LAYOUT, SEQB_UNAVAILABLE, SEQB_INVALID, SEQB_STATE_DIR,
 * SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_probe(const char *topology, const struct seqb_backend_ops *const *engines,
           const struct seqb_probe_listener *listener, struct seqb_error *err);

/* One row of the table of settings. All strings are static. */
struct seqb_setting {
    const char *section; /* "broker", "backends", "pools", "sequences", ... */
    const char *name;
    const char *type;    /* "duration", "integer", "one of ...", ... */
    const char *range;   /* "1ms ... 1h", or "" */
    const char *initial; /* the default in words, "required" if none */
    const char *help;
};

/* The settings' table; `*count` rows, static. */
SEQB_API const struct seqb_setting *seqb_settings(size_t *count);

/* The text of the embedded default topology. Static. */
SEQB_API const char *seqb_embedded_topology(void);

/* The i-th client library with its version ("hiredis 0.14.1"), NULL past the
 * last. Static. */
SEQB_API const char *seqb_library(size_t i);

#ifdef __cplusplus
}
#endif
