/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a topology file into option structs. Only this folder knows libconfig.
 * This is the front header of the folder.
 */
#pragma once

#include <seqbroker/admin.h>
#include <seqbroker/reload.h>

#include "ha/ha.h"
#include "queue/queue.h"
#include "store/store.h"

struct config;
struct config_settings;

/* One value of a setting for the daemon: of section daemon, users or
 * key_limits. */
struct config_daemon {
    const char *setting; /* NULL ends the list */
    const char *value;   /* an item of a list; "": the list is empty */
};

/* The options that a topology results in, ready to be opened. The config owns
 * them. */
struct config_topology {
    const char *broker_name;
    const char *state_dir; /* absolute; not yet created */
    struct ha_options ha;
    struct store_topology stores; /* the same backends, without their pools */
    struct queue_options queue;
    /* The values as given, setting by setting. */
    const struct config_daemon *daemon;
    struct config_settings *settings; /* for config_visit */
    /* Lines "file:line: what", ended by NULL. */
    const char *const *warnings; /* valid, but probably not intended */
    const char *const *notes;    /* worth knowing */
};

/* The arguments of config_open. Strings and the list of engines must live until
 * the call returns. What the list's pointers point to must live until
 * config_close. */
struct config_request {
    const char *path; /* NULL: the embedded default */
    /* The service's own engines, in addition to the built-in ones. The list
     * ends with NULL. NULL: no own engines. */
    const struct seqb_backend_ops *const *engines;
    /* NULL: mistakes are not reported. */
    void (*report)(void *context, const char *line);
    void *context;
};

/*
 * Parses and checks a topology. Each mistake is one line, which goes to
 * `report`. err->text holds as many of these lines as fit. It reads only the
 * topology file, the files that it includes, and the files of its secrets and
 * time zones; it writes none. SEQB_CONFIG if there are mistakes, SEQB_INVALID
 * if an engine of the service is not valid, SEQB_STATE_DIR, SEQB_NO_MEMORY.
 * `*out` is set only on success; free it by config_close.
 */
enum seqb_status config_open(const struct config_request *request,
                             struct config **out, struct seqb_error *err);

/* Like config_open, for a text in memory. Messages name it by `request->path`.
 * The text cannot include files. Relative paths of password files begin at the
 * folder of `request->path`. The engines of the service are not checked. */
enum seqb_status config_open_text(const struct config_request *request,
                                  const char *text, struct config **out,
                                  struct seqb_error *err);

const struct config_topology *config_topology(const struct config *config);

/* Calls `visit` for each setting of the groups in `part`, including defaults of
 * settings that are not given. Secrets are masked. Not thread-safe. */
typedef void config_visit_function(void *context,
                                   const struct seqb_setting_value *setting);
void config_visit(const struct config *config, struct seqb_settings_part *part,
                  config_visit_function *visit, void *context);

struct config_changes;

/* Finds the differences between the running topology and the next one. `*out`
 * lives as long as `next`. SEQB_NO_MEMORY. */
enum seqb_status config_compare(const struct config *runs, struct config *next,
                                struct config_changes **out,
                                struct seqb_error *err);

/* config_report_changes calls `tell` for each change. config_count returns the
 * number of changes that need `need`. config_allow returns SEQB_LAYOUT, with
 * the refused changes in `err`, as many as it has room for, if any is
 * refused. */
void config_report_changes(
    const struct config_changes *changes,
    void (*tell)(void *context, const struct seqb_reload_change *change),
    void *context);
size_t config_count(const struct config_changes *changes,
                    enum seqb_reload_need need);
enum seqb_status config_allow(const struct config_changes *changes,
                              struct seqb_error *err);

/* What config_keep needs to know of the running broker. */
struct config_kept {
    const struct config_changes *changes;
    const struct queue_options *queue; /* the running broker's options */
    /* Maps the index of a pool of the next topology to the index of the running
     * broker's pool with that name; -1: it has none. */
    const int32_t *pools;
};

/* Makes `next` the topology that the broker runs after the reload. None of the
 * changes may be refused. A setting that needs a restart gets its running
 * value. The sequences of `next` then name pools by the broker's indexes.
 * SEQB_NO_MEMORY: `next` must not be used any more. */
enum seqb_status config_keep(struct config *next,
                             const struct config_kept *kept,
                             struct seqb_error *err);

/* NULL is allowed. */
void config_close(struct config *config);

/* See seqb_setting_need. */
enum seqb_reload_need config_need(const char *section, const char *name);

/* The table of settings, as shown to operators. */
const struct seqb_setting *config_settings(size_t *count);
const char *config_embedded_text(void);
const char *config_library(void); /* "libconfig 1.5" */
