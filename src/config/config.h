/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology file as option structs: the only folder that knows libconfig.
 * The front header of this folder.
 */
#pragma once

#include <seqbroker/admin.h>
#include <seqbroker/reload.h>

#include "ha/ha.h"
#include "queue/queue.h"
#include "store/store.h"

struct config;
struct config_settings;

/* One value of a setting that the daemon follows. */
struct config_daemon {
    const char *setting; /* NULL ends the list */
    const char *value;   /* an item of a list; "": the list is empty */
};

/* What a topology says, ready to be opened. Owned by the config. */
struct config_topology {
    const char *broker_name;
    const char *state_dir; /* absolute; not yet made */
    struct ha_options ha;
    struct store_topology stores; /* the same ones, without their pools */
    struct queue_options queue;
    const struct config_daemon *daemon; /* what was said, setting by setting */
    struct config_settings *settings;   /* for config_visit */
    /* Lines "file:line: what", ended by NULL. */
    const char *const *warnings; /* of what is sound, but to be looked at */
    const char *const *notes;    /* of what is worth knowing */
};

/* What is to be opened. Strings and engines are used in the call only, but
 * what the engines' pointers lead to until config_close. */
struct config_request {
    const char *path; /* NULL: the embedded default */
    /* Engines of the service besides those built in, ended by NULL; NULL:
     * none. */
    const struct seqb_backend_ops *const *engines;
    void (*report)(void *context, const char *line); /* NULL: nobody listens */
    void *context;
};

/*
 * Parses and checks a topology. Every mistake goes to `report`, a line each,
 * and as many as fit into err->text. Touches nothing but the file, those it
 * includes, and those that its secrets are in. SEQB_INVALID if an engine of
 * the service is none. `*out` is for config_close, touched only on success.
 */
enum seqb_status config_open(const struct config_request *request,
                             struct config **out, struct seqb_error *err);

/* The same for a text in memory, whose name in messages is the path; it cannot
 * include files, and its password files are relative to the path's folder. */
enum seqb_status config_open_text(const struct config_request *request,
                                  const char *text, struct config **out,
                                  struct seqb_error *err);

const struct config_topology *config_topology(const struct config *config);

/* Each setting that the topology comes to, with the defaults of those that it
 * leaves out, and without secrets. */
typedef void config_visit_function(void *context,
                                   const struct seqb_setting_value *setting);
void config_visit(const struct config *config, struct seqb_settings_part *part,
                  config_visit_function *visit, void *context);

struct config_changes;

/* What is different in a topology that is to come to one that runs. It lives as
 * long as `next`. SEQB_NO_MEMORY. */
enum seqb_status config_compare(const struct config *runs, struct config *next,
                                struct config_changes **out,
                                struct seqb_error *err);

/* Tells each of them; how many there are of a kind; and SEQB_LAYOUT, with the
 * first ones, if any is refused. */
void config_tell(const struct config_changes *changes,
                 void (*tell)(void *context,
                              const struct seqb_reload_change *change),
                 void *context);
size_t config_count(const struct config_changes *changes,
                    enum seqb_reload_need need);
enum seqb_status config_allow(const struct config_changes *changes,
                              struct seqb_error *err);

/* What is to be kept of a broker that runs. */
struct config_kept {
    const struct config_changes *changes;
    const struct queue_options *queue; /* that it runs with */
    const int32_t *pools; /* by the index of a pool of the next topology: that
                             of the broker's pool of that name; -1: none */
};

/* Makes `next` what the broker runs with after the changes, none of which is
 * refused: what needs a restart is as it was, and its sequences name pools by
 * the broker's indexes. SEQB_NO_MEMORY: `next` is of no use any more. */
enum seqb_status config_keep(struct config *next,
                             const struct config_kept *kept,
                             struct seqb_error *err);

/* Takes NULL. */
void config_close(struct config *config);

/* See seqb_setting_need. */
enum seqb_reload_need config_need(const char *section, const char *name);

/* The table of settings as an operator sees it. */
const struct seqb_setting *config_settings(size_t *count);
const char *config_embedded_text(void);
const char *config_library(void); /* "libconfig 1.5" */
