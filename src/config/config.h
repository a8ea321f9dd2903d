/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology file as option structs: the only folder that knows libconfig.
 * The front header of this folder.
 */
#pragma once

#include <seqbroker/admin.h>

#include "ha/ha.h"
#include "queue/queue.h"

struct config;

/* What a topology says, ready to be opened. Owned by the config. */
struct config_topology {
    const char *broker_name;
    const char *state_dir; /* absolute; not yet made */
    struct ha_options ha;
    struct queue_options queue;
};

/*
 * Parses and checks `path`, or the embedded default if it is NULL. Every
 * mistake goes to `report` (which may be NULL), a line each, and as many as
 * fit into err->text. Touches nothing but the file, those it includes, and
 * password files. `*out` is for config_close, touched only on success.
 */
enum seqb_status config_open(const char *path,
                             void (*report)(void *context, const char *line),
                             void *context, struct config **out,
                             struct seqb_error *err);

/* The same for a text in memory, called `name` in messages; it cannot include
 * files, and its password files are relative to the working directory. */
enum seqb_status
config_open_text(const char *text, const char *name,
                 void (*report)(void *context, const char *line), void *context,
                 struct config **out, struct seqb_error *err);

const struct config_topology *config_topology(const struct config *config);

/* Takes NULL. */
void config_close(struct config *config);

const struct seqb_setting *config_settings(size_t *count);
const char *config_embedded_text(void);
const char *config_library(void); /* "libconfig 1.5" */
