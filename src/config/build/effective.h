/* SPDX-License-Identifier: Apache-2.0 */
/* The settings that a topology comes to, as they are kept: for effective.c,
 * which makes and tells them, changes.c, which compares two of them, and
 * changes_keep.c, which writes down what of the first one runs on. */
#pragma once

#include "config/config.h"
#include "config/settings/settings.h"

#define SETTING_PATH_SIZE 256 /* of "sequences.<key>.snowflake.<name>" */

/* A value that is not the table's default. */
struct setting_value {
    const struct schema_row *row;
    const char *text;
    uint64_t
        secret;    /* checksum of what `text` does not show; 0: it shows all */
    bool is_given; /* by the topology; else it follows from other settings */
    struct setting_value *next;
};

/* A group: the broker, a backend, the ids of a sequence, ... */
struct setting_item {
    enum schema_section section;
    enum schema_section outer;   /* of the group it is nested in; or its own */
    const char *name;            /* NULL: there is one only */
    const char *engine;          /* of a backend; NULL: it is none */
    bool has_no_host;            /* a backend that is reached otherwise */
    bool is_left_out;            /* it is new, and needs a restart */
    struct setting_value *first; /* in the order of the rows */
    struct setting_value **last;
    struct setting_item *next;
};

struct config_settings {
    struct setting_item *first;
    struct setting_item **last;
    size_t count; /* items */

    /* Where the last part that was told began: who tells all of them part by
     * part does not begin at the first one each time. NULL: nowhere. */
    struct setting_item *told;
    size_t told_at;
};

/* A template that is another one in the next topology, and whose it is. */
struct template_change {
    const struct template *before; /* NULL: there is none */
    const struct template *after;  /* NULL, too */
    const struct setting_item *runs;
    const struct setting_item *next;
};

/* Of changes_template.c: the template of a sequence's group, or of the
 * automatic ones; NULL: it has none. `*likely` is where it is looked for first,
 * and becomes where the next one may be. */
const struct template *changes_template(const struct queue_options *queue,
                                        const struct setting_item *item,
                                        size_t *likely);

/* The same: "" if the sequence's texts may have it at once; else why not, and
 * what to do. NULL, with arena->is_out_of_memory. */
const char *changes_template_advice(const struct template_change *change,
                                    struct arena *arena);

/* A difference of two topologies. What it tells lives in the next one's arena.
 */
struct config_change {
    struct seqb_reload_change told;
    struct setting_item *item;        /* whose value it is; NULL: a group's */
    const struct schema_row *row;     /* NULL, too */
    const struct setting_value *runs; /* NULL: it was not set */
    const struct setting_item *stays; /* a group that went, and runs on */
    struct config_change *next;
};

struct config_changes {
    struct config_change *first;
    struct config_change **last;
    size_t counts[SEQB_RELOAD_REFUSED + 1]; /* by what they need */
};

/* The text of a setting that has no value there; NULL: it has no default, or no
 * meaning. */
const char *setting_default(const struct setting_item *item,
                            const struct schema_row *row);

/* "pools.main.timeout"; with no name the group, "pools.main". */
void setting_path(const struct setting_item *item, const char *name,
                  char out[SETTING_PATH_SIZE]);
