/* SPDX-License-Identifier: Apache-2.0 */
/* A checked draft as the options that the layers below take: what depends on
 * the machine (state directory, paths, password files) is found here. The front
 * header of this folder. */
#pragma once

#include <seqbroker/status.h>

#include "config/config.h"
#include "config/settings/settings.h"
#include "config/source/source.h"
#include "number/number.h"
#include "queue/queue.h"

/* --- path.c: where files are; makes nothing --- */

/* `path` from `folder` unless it is absolute, without "//" and "/./", so that
 * one file has one spelling. NULL when out of memory. */
char *path_join(struct arena *arena, const char *folder, const char *path);

/*
 * The state directory, absolute: $SEQBROKER_STATE_DIR, else `configured`
 * (which may be NULL), else $XDG_STATE_HOME/seqbroker, else
 * $HOME/.local/state/seqbroker. SEQB_STATE_DIR if none is set,
 * SEQB_NO_MEMORY.
 */
enum seqb_status path_state_dir(struct arena *arena, const char *configured,
                                const char **out, struct seqb_error *err);

/* A variable of the environment; NULL if it is not set, or empty. */
const char *path_variable(const char *name);

/* --- zones.c: the time zones, each read once --- */

struct zone;

/* Zeroed holds none. */
struct zones {
    struct arena *arena; /* of the list, not of the zones */
    struct zone *first;
};

/* Finds the zone of each sequence; one that cannot be read is a mistake. */
void zones_open(struct zones *zones, struct draft *draft,
                struct diagnostics *diagnostics);

/* Before the arena is freed. */
void zones_close(struct zones *zones);

struct templates;

/* One topology that is built. */
struct build {
    const struct draft *draft;
    const char *folder; /* of the topology file, "." for a text in memory */
    const struct source *source;
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct templates *templates; /* those that are made */
    struct config_topology *topology;
};

/* --- secret.c: passwords and keys; no message ever holds one --- */

/* The backend's password out of the environment or the topology; NULL if it
 * has none, or a mistake. One in a file is read at each connect: here it is
 * only seen to be one. */
const char *secret_password(const struct build *build,
                            const struct draft_backend *backend);

/* Adds a mistake if others may read what else of the backend is secret: a
 * text that holds a password, the key of a certificate. */
void secret_check(const struct build *build,
                  const struct draft_backend *backend);

/* The hash of the user's password out of its file or the topology; NULL if it
 * has none, or a mistake. */
const char *secret_password_hash(const struct build *build,
                                 const struct draft_user *user);

/* The text of a setting as it may be shown: "***" if it is a secret, or holds
 * one. What a service hands to
 * its own engine may be one. */
const char *secret_masked(const struct schema_row *row, const char *text);

/* The key that a file holds; false and a mistake if it holds none. */
bool secret_shuffle_key(const struct build *build,
                        const struct draft_text *file, struct shuffle_key *out);

/* --- templates.c: compiled once, with the keys of those that shuffle --- */

struct compiled;
struct key_file;

/* Zeroed holds none. */
struct templates {
    struct arena *arena; /* of the lists and the keys, not of the templates */
    struct compiled *first;
    struct key_file *keys;
};

/* Compiles the sequence's template, if it has one, into the options, whose
 * period is known, and adds to their attributes what it shuffles with. What is
 * wrong with it or its key file is a mistake. */
void templates_add(const struct build *build,
                   const struct draft_sequence *sequence,
                   struct queue_sequence_options *out);

/* Before the arena is freed, and what the templates point to. */
void templates_free(struct templates *templates);

/* --- build.c --- */

/*
 * Fills the topology, which lives in the arena. What is wrong with a file that
 * a setting names is a mistake; SEQB_STATE_DIR if there is no state
 * directory, SEQB_NO_MEMORY.
 */
enum seqb_status build_topology(const struct build *build,
                                struct seqb_error *err);

/* --- for build.c: periods, ids, the guarded clock, a snowflake's bits --- */

/* Fills what the options say of the sequence's period, if it has one. */
void build_period(struct arena *arena, const struct draft_sequence *sequence,
                  struct queue_sequence_options *out);

/* Of the broker's clock, after its sequences; NULL if none has a period. */
const struct queue_clock_options *build_clock(const struct build *build);

/* What the snowflakes of each pool share, before the sequences; and what is a
 * sequence's own. */
void build_snowflakes(const struct build *build);
void build_snowflake(const struct build *build,
                     const struct draft_sequence *sequence,
                     struct queue_sequence_options *out);

/* --- how many numbers fit a template's width, and its pool can give --- */

/* Fills in what the options say of it, whose pool and template are known; a
 * note if the width ends, and a warning if the numbers may end before. */
void width_check(const struct build *build,
                 const struct draft_sequence *sequence,
                 struct queue_sequence_options *out);

/* --- effective.c --- */

/* What the topology comes to, which lives in the arena, once its state
 * directory is known; NULL when out of memory. */
struct config_settings *build_settings(const struct build *build);

/* Not by two threads at once. */
void settings_visit(struct config_settings *settings,
                    struct seqb_settings_part *part,
                    config_visit_function *visit, void *context);

/* --- changes.c --- */

/* What is different in the next topology, whose groups are marked that are left
 * out until a restart. It lives in the arena. SEQB_NO_MEMORY. */
enum seqb_status changes_find(const struct config_topology *runs,
                              struct config_topology *next, struct arena *arena,
                              struct config_changes **out,
                              struct seqb_error *err);

/* --- changes_keep.c; see config_keep --- */

enum seqb_status changes_keep(const struct config_kept *kept,
                              struct config_topology *next, struct arena *arena,
                              struct seqb_error *err);

/* --- build_daemon.c --- */

/* What the sections daemon and users say, ended by a setting of NULL; NULL when
 * out of memory. */
const struct config_daemon *build_daemon(const struct build *build);
