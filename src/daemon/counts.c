/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of commands; see counts.h. */
#include "daemon/counts.h"

#include <string.h>

const int64_t counts_bounds_us[COUNTS_BOUNDS] = {
    50,    100,   250,    500,    1000,   2500,    5000,    10000,
    25000, 50000, 100000, 250000, 500000, 1000000, 2500000, 10000000};

/* The codes are constants of the program, so there are few of them. */
void counts_add_error(struct counts *counts, const char *reply, size_t length)
{
    const char *code = reply + 1;
    size_t size = 0;

    while (size + 1 < length && size + 1 < COUNTS_CODE_SIZE && code[size] > ' ')
        size++;
    for (size_t i = 0; i < COUNTS_ERRORS; i++) {
        struct counts_error *error = &counts->errors[i];

        if (error->count == 0)
            memcpy(error->code, code, size);
        if (strncmp(error->code, code, size) != 0 || error->code[size] != '\0')
            continue;
        error->count++;
        return;
    }
}

void counts_add_duration(struct counts *counts, int64_t us, int64_t commands)
{
    size_t i = 0;

    while (i < COUNTS_BOUNDS && us > counts_bounds_us[i])
        i++;
    counts->durations[i] += commands;
    counts->duration_us += us * commands;
}
