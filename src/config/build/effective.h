/* SPDX-License-Identifier: Apache-2.0 */
/* The effective settings of a topology: effective.c makes and visits them,
 * changes.c compares two sets of them, and changes_keep.c copies those of the
 * running topology that stay in effect. */
#pragma once

#include "config/config.h"
#include "config/settings/settings.h"

#define SETTING_PATH_SIZE 256 /* for "sequences.<key>.snowflake.<name>" */

/* A value that differs from the table's default. */
struct setting_value {
    const struct schema_row *row;
    const char *text;
    uint64_t secret; /* checksum of a secret that `text` masks; 0: `text` is
                        complete */
    bool is_given; /* in the topology; false: it follows from other settings */
    struct setting_value *next;
};

/* A group of settings: the broker, a backend, the ids of a sequence, ... */
struct setting_item {
    enum schema_section section;
    /* The section of the group that contains it; else `section`. */
    enum schema_section outer;
    const char *name;   /* NULL: the section has only one group */
    const char *engine; /* of a backend; NULL: not a backend */
    /* A backend that is not reached by host and port. */
    bool has_no_host;
    bool is_left_out; /* new, and left out until a restart */
    /* In the order of the table's rows. Like sequences share all but the first,
     * so none is changed once another group may have it. */
    struct setting_value *first;
    struct setting_value **last;
    struct setting_item *next;
};

struct config_settings {
    struct setting_item *first;
    struct setting_item **last;
    size_t count; /* number of groups */

    /* Where the last visited part began, so that a visit part by part does not
     * start at the first group each time. NULL: no position. */
    struct setting_item *shown;
    size_t shown_at;
};

/* Two templates of a sequence, and the groups that set them. */
struct template_change {
    const struct template *before; /* NULL: no template */
    const struct template *after;  /* NULL: no template */
    const struct setting_item *runs;
    const struct setting_item *next;
};

/* In changes_template.c: the template of a sequence's group or of
 * auto_sequences; NULL: none. `*likely` is the index where the search begins;
 * it is set to the index after the sequence found. */
const struct template *changes_template(const struct queue_options *queue,
                                        const struct setting_item *item,
                                        size_t *likely);

/* Also there: "" if the running sequence may use the new template at once; else
 * the reason why not, and what to do. NULL when out of memory;
 * arena->is_out_of_memory is set. */
const char *changes_template_advice(const struct template_change *change,
                                    struct arena *arena);

/* A difference between two topologies. Its texts live in the next topology's
 * arena. */
struct config_change {
    struct seqb_reload_change report;
    /* Group whose value changed; NULL: a group came or went. */
    struct setting_item *item;
    const struct schema_row *row;     /* NULL: a group came or went */
    const struct setting_value *runs; /* the running value; NULL: not set */
    /* A removed group that stays in effect until a restart. */
    const struct setting_item *stays;
    struct config_change *next;
};

struct config_changes {
    struct config_change *first;
    struct config_change **last;
    /* Number of changes, by what they need. */
    size_t counts[SEQB_RELOAD_REFUSED + 1];
};

/* The default of a setting in that group, as text; NULL: it has no default, or
 * does not apply there. */
const char *setting_default(const struct setting_item *item,
                            const struct schema_row *row);

/* "pools.main.timeout"; if `name` is NULL, the group's path "pools.main". */
void setting_path(const struct setting_item *item, const char *name,
                  char out[SETTING_PATH_SIZE]);
