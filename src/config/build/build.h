/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a checked draft into the options of the layers below. Everything that
 * depends on the machine (state directory, paths, password files) is looked up
 * here. This is the front header of the folder. */
#pragma once

#include <seqbroker/status.h>

#include "config/config.h"
#include "config/settings/settings.h"
#include "config/source/source.h"
#include "number/number.h"
#include "queue/queue.h"

/* --- path.c: paths of files; creates no files --- */

/* `path` relative to `folder`, unless it is absolute. "//" and "/./" become
 * "/", so that one file has one spelling. NULL when out of memory. */
char *path_join(struct arena *arena, const char *folder, const char *path);

/*
 * The absolute path of the state directory: $SEQBROKER_STATE_DIR, else
 * `configured` (which may be NULL), else $XDG_STATE_HOME/seqbroker, else
 * $HOME/.local/state/seqbroker. SEQB_STATE_DIR if none is set, or if it is
 * relative and the current folder is unknown. SEQB_NO_MEMORY.
 */
enum seqb_status path_state_dir(struct arena *arena, const char *configured,
                                const char **out, struct seqb_error *err);

/* A variable of the environment; NULL if it is not set or empty. */
const char *path_variable(const char *name);

/* --- zones.c: the time zones, each read once --- */

struct zone;

/* Zeroed is empty, apart from `arena`. */
struct zones {
    struct arena *arena; /* for the list; the zones are allocated separately */
    struct zone *first;
};

/* Opens the time zone of each sequence. A zone that cannot be read is a
 * mistake. */
void zones_open(struct zones *zones, struct draft *draft,
                struct diagnostics *diagnostics);

/* Call it before the arena is freed. */
void zones_close(struct zones *zones);

struct templates;

/* The inputs and outputs of building one topology. */
struct build {
    const struct draft *draft;
    const char *folder; /* of the topology file; "." for a text in memory */
    const struct source *source;
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct templates *templates; /* receives the compiled templates */
    struct config_topology *topology;
};

/* --- secret.c: passwords and keys; messages never contain them --- */

/* The backend's password from the environment or the topology; NULL if it has
 * none, or after a mistake was added. A password file is only checked here, and
 * read again at each connect. */
const char *secret_password(const struct build *build,
                            const struct draft_backend *backend);

/* Checks the backend's other secrets: the sentinels' password file; texts that
 * hold a password, and the key of its certificate, must not be readable by
 * others. Adds a mistake for each fault. */
void secret_check(const struct build *build,
                  const struct draft_backend *backend);

/* The hash of the user's password, from its file or the topology; NULL if there
 * is none, or after a mistake was added. */
const char *secret_password_hash(const struct build *build,
                                 const struct draft_user *user);

/* The text of a setting as it may be shown: "***" if it is a secret or holds a
 * password. The `parameters` of a service's engine count as a secret. */
const char *secret_masked(const struct schema_row *row, const char *text);

/* Reads the key from a file. False, with a mistake added, if it has no valid
 * key. */
bool secret_shuffle_key(const struct build *build,
                        const struct draft_text *file, struct shuffle_key *out);

/* --- templates.c: compiled once each, and the keys that they shuffle with
 * --- */

struct compiled;
struct key_file;

/* Zeroed is empty, apart from `arena`. */
struct templates {
    struct arena *arena; /* for the lists and keys; the templates are allocated
                            separately */
    struct compiled *first;
    struct key_file *keys;
};

/* Compiles the sequence's template, if any, into its options, whose period must
 * be set already. If it shuffles, adds base and key fingerprint to their
 * attributes. A fault of the template or the key file is a mistake. */
void templates_add(const struct build *build,
                   const struct draft_sequence *sequence,
                   struct queue_sequence_options *out);

/* Call it before the arena and what the templates point to are freed. */
void templates_free(struct templates *templates);

/* --- build.c --- */

/*
 * Fills `build->topology`, which lives in the arena. A fault of a file that a
 * setting names is a mistake. SEQB_STATE_DIR if there is no state directory,
 * SEQB_NO_MEMORY.
 */
enum seqb_status build_topology(const struct build *build,
                                struct seqb_error *err);

/* --- for build.c: periods, ids, the guarded clock, a snowflake's bits --- */

/* Fills the options of the sequence's period, if it has one. */
void build_period(struct arena *arena, const struct draft_sequence *sequence,
                  struct queue_sequence_options *out);

/* The options of the broker's clock; call it after the sequences are built.
 * NULL if no sequence needs the clock, or when out of memory. */
const struct queue_clock_options *build_clock(const struct build *build);

/* build_snowflakes builds what the snowflakes of each pool share; call it
 * before the sequences are built. build_snowflake fills the options of one
 * sequence. */
void build_snowflakes(const struct build *build);
void build_snowflake(const struct build *build,
                     const struct draft_sequence *sequence,
                     struct queue_sequence_options *out);

/* --- width_check.c: how many numbers fit a template's width --- */

/* Fills in how many numbers fit the width, and how many of them the pool can
 * give; pool and template of the options must be set. Adds a note if the width
 * limits the numbers, and a warning if the pool can give fewer. */
void width_check(const struct build *build,
                 const struct draft_sequence *sequence,
                 struct queue_sequence_options *out);

/* --- effective.c --- */

/* The effective settings of the topology, which live in the arena. Its state
 * directory must be set. NULL when out of memory. */
struct config_settings *build_settings(const struct build *build);

/* See config_visit. Not thread-safe: it remembers its position. */
void settings_visit(struct config_settings *settings,
                    struct seqb_settings_part *part,
                    config_visit_function *visit, void *context);

/* --- changes.c --- */

/* Finds the differences to the next topology. Marks those of its groups that
 * are left out until a restart. The result lives in the arena.
 * SEQB_NO_MEMORY. */
enum seqb_status changes_find(const struct config_topology *runs,
                              struct config_topology *next, struct arena *arena,
                              struct config_changes **out,
                              struct seqb_error *err);

/* --- changes_keep.c; see config_keep --- */

enum seqb_status changes_keep(const struct config_kept *kept,
                              struct config_topology *next, struct arena *arena,
                              struct seqb_error *err);

/* --- build_daemon.c --- */

/* The settings of the sections daemon, users and key_limits, ended by one whose
 * `setting` is NULL. NULL when out of memory. */
const struct config_daemon *build_daemon(const struct build *build);
