/* SPDX-License-Identifier: Apache-2.0 */
/* Converts one setting of libconfig's tree into a value of the draft. For
 * read.c. */
#pragma once

#include <libconfig.h>

#include "config/settings/settings.h"

struct value_reader {
    struct arena *arena;
    struct diagnostics *diagnostics;
    /* Items that have the defaults; NULL: not yet made. */
    const void *initial[SCHEMA_SECTIONS];
    const struct alike *alike; /* sequences that the tree lacks; NULL: none */
};

/* The line of the setting in the source. */
int value_line(const config_setting_t *setting);

/* The kind of its value, for messages: "a text". */
const char *value_words(const config_setting_t *setting);

/* Stores the setting's value in the item's member for the row. A value of a
 * wrong type or out of range is a mistake, and the item stays unchanged. */
void value_read(struct value_reader *reader, const struct schema_row *row,
                const config_setting_t *setting, void *item);
