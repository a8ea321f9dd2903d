/* SPDX-License-Identifier: Apache-2.0 */
/* One setting of libconfig's tree as a value of the draft. For read.c. */
#pragma once

#include <libconfig.h>

#include "config/settings/settings.h"

struct value_reader {
    struct arena *arena;
    struct diagnostics *diagnostics;
    const void *initial[SCHEMA_SECTIONS]; /* an item with the defaults alone;
                                             NULL: not yet made */
    const struct alike *alike; /* sequences that the tree lacks; NULL: none */
};

/* Where it stands in the source. */
int value_line(const config_setting_t *setting);

/* What it is, for messages: "a text". */
const char *value_words(const config_setting_t *setting);

/* Puts its value into the item's member for the row. A value of a wrong type
 * or out of range is a mistake, and what stands in the item stays. */
void value_read(struct value_reader *reader, const struct schema_row *row,
                const config_setting_t *setting, void *item);
