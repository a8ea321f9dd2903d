/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a topology file may say, and what one comes to. Included by admin.h,
 * whose part it is; there is no need to include it alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/seqbroker.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* A setting that a broker runs with. The texts live for the call that they are
 * told in. The struct may get more members at its end. */
struct seqb_setting_value {
    const char *path;  /* "broker.name", "pools.main.timeout",
                          "sequences.order.ids.epoch", ... */
    const char *value; /* as a topology writes it, without quotes: "200ms",
                          "true"; the items of a list with ", " between them;
                          "***" in place of what is secret */
    bool is_default;   /* the topology does not say it */
};

/*
 * Calls `visit` for each setting that the broker runs with, as its topology was
 * when it was opened or reloaded last, but for what needs a restart to change:
 * those that it gives, and the defaults of those that it
 * leaves out and that have one, in the order of docs/configuration.md. What was
 * said by the environment is told as it is in effect. On the caller's thread;
 * `visit` must not close or reload the broker. Errors: SEQB_FORKED.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_visit_settings(
    struct seqb_broker *broker,
    void (*visit)(void *context, const struct seqb_setting_value *setting),
    void *context, struct seqb_error *err);

/* Some of a broker's groups of settings: itself, each backend, pool, sequence,
 * the ids of one, ... The struct may get more members at its end. */
struct seqb_settings_part {
    size_t first; /* group, from 0 on */
    size_t count; /* groups at most */
    bool is_last; /* out: there are no groups behind these */
};

/*
 * The same of a part of them, for a caller that must do other things in
 * between: there may be 100,000 sequences. A reload between two calls may move
 * settings to another part.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_visit_settings_part(
    struct seqb_broker *broker, struct seqb_settings_part *part,
    void (*visit)(void *context, const struct seqb_setting_value *setting),
    void *context, struct seqb_error *err);

/* The text of the embedded default topology. Static. */
SEQB_API const char *seqb_embedded_topology(void);

/* A topology that was read and found sound. */
struct seqb_topology;

/*
 * Reads a topology that is to be opened later, so that it is read once by who
 * needs its section `daemon` before: NULL is the embedded default. Touches no
 * backend. `*out` is for seqb_open_topology or seqb_topology_free, and one
 * thread at a time. Errors: SEQB_CONFIG, SEQB_STATE_DIR, SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_read_topology(const char *file, struct seqb_topology **out,
                   struct seqb_error *err);

/* As seqb_open, with what the file said when it was read. The topology is the
 * broker's then, also if this fails. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_open_topology(struct seqb_topology *topology, struct seqb_broker **out,
                   struct seqb_error *err);

/* Of one that is not to be opened; takes NULL. */
SEQB_API void seqb_topology_free(struct seqb_topology *topology);

/*
 * What a daemon needs before it opens the broker: calls `report` with
 * "state_dir" and the folder that seqb_state_dir says, with "name" and the
 * broker's name; then for each setting that the file's section `daemon` has,
 * for each item of a list, in the order of docs/configuration.md, with the
 * value "" for an empty list, and with the ms of a time; then for each user
 * with "users.name", and with its other settings behind it, a hash that is in
 * a file as "users.password_hash". The library itself does not follow these
 * sections. Both texts live for the call of `report`.
 */
SEQB_API void seqb_topology_daemon(const struct seqb_topology *topology,
                                   void (*report)(void *context,
                                                  const char *setting,
                                                  const char *value),
                                   void *context);

/* The same of a file, which is read for it. Errors: as seqb_read_topology. */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_daemon_settings(
    const char *topology,
    void (*report)(void *context, const char *setting, const char *value),
    void *context, struct seqb_error *err);

#ifdef __cplusplus
}
#endif
