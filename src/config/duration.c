/* SPDX-License-Identifier: Apache-2.0 */
/* A unit is demanded: a bare number means seconds to one and ms to another. */
#include "config/duration.h"

#include <stddef.h>
#include <string.h>

#include "platform/text.h"

struct unit {
    const char *name;
    int64_t ms;
};

static const struct unit units[] = {
    {"ms", 1},
    {"s", 1000},
    {"m", INT64_C(60) * 1000},
    {"h", INT64_C(60) * 60 * 1000},
    {"d", INT64_C(24) * 60 * 60 * 1000},
};

static int64_t unit_ms(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i].name, name) == 0)
            return units[i].ms;
    }
    return 0;
}

bool duration_parse(const char *text, int64_t *out_ms)
{
    const size_t digits = strspn(text, "0123456789");
    const int64_t ms = unit_ms(text + digits);
    int64_t number;

    if (digits == 0 || ms == 0)
        return false;
    if (!text_to_int64(text, digits, &number) || number > INT64_MAX / ms)
        *out_ms = INT64_MAX;
    else
        *out_ms = number * ms;
    return true;
}
