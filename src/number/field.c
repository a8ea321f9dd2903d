/* SPDX-License-Identifier: Apache-2.0 */
/* The table of fields that are built in. */
#include "number/field.h"

static const struct field *const fields[] = {
    &field_seq, &field_shuffle, &field_date,  &field_param,
    &field_key, &field_shard,   &field_check,
};

const struct field *field_at(size_t i)
{
    return i < sizeof fields / sizeof fields[0] ? fields[i] : NULL;
}

const struct field *field_find(struct word name)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (word_equals(name, fields[i]->name))
            return fields[i];
    }
    return NULL;
}
