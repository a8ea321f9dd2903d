/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings that a topology file may have, and the values in effect. A part
 * of admin.h, which includes it; there is no need to include it alone.
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
    const char *initial; /* the default as text, "required" if there is none */
    const char *help;
};

/* The table of settings: `*count` rows, static. */
SEQB_API const struct seqb_setting *seqb_settings(size_t *count);

/* A setting in effect. The texts are valid during the callback only. Later
 * versions may add members at the end of the struct. */
struct seqb_setting_value {
    const char *path;  /* "broker.name", "pools.main.timeout",
                          "sequences.order.ids.epoch", ... */
    const char *value; /* as in a topology, without quotes: "200ms", "true"; the
                          items of a list are separated by ", "; a secret is
                          "***" */
    bool is_default;   /* the topology does not set it */
};

/*
 * Calls `visit` for each setting in effect: those that the topology sets, and
 * the defaults of those that it does not set and that have a default, in the
 * order of docs/configuration.md. The topology is as it was when it was opened
 * or last reloaded, except for changes that wait for a restart. A setting from
 * the environment is given with its value in effect. On the caller's thread;
 * `visit` must not close or reload the broker. Errors: SEQB_FORKED.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_visit_settings(
    struct seqb_broker *broker,
    void (*visit)(void *context, const struct seqb_setting_value *setting),
    void *context, struct seqb_error *err);

/* A range of a broker's groups of settings: the broker itself, each backend,
 * pool, sequence, the `ids` of a sequence, ... Later versions may add members
 * at the end of the struct. */
struct seqb_settings_part {
    size_t first; /* group, from 0 on */
    size_t count; /* at most so many groups */
    bool is_last; /* out: there are no groups after these */
};

/*
 * As seqb_visit_settings, for some groups at a time, for a caller that must do
 * other things in between: there may be 100,000 sequences. A reload between two
 * calls may move settings to another part.
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
 * What a daemon needs before it opens the broker. Calls `report` with
 * "state_dir" and the folder that seqb_state_dir answers, and with "name" and
 * the broker's name. Then it calls `report` for each setting of the file's
 * section `daemon`, in the order of docs/configuration.md: once for each item
 * of a list, with "" for an empty list, and with a time in ms. Then it reports
 * each user as "users.name", followed by the user's other settings; a hash that
 * is in a file is "users.password_hash". The library itself ignores these
 * sections. Both texts are valid during the call of `report` only.
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
