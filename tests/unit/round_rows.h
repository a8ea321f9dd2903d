/* SPDX-License-Identifier: Apache-2.0 */
/* Templates over all fields, options, bases, periods and checks, each with its
 * kind of sequence. */
#pragma once

#include "unit/round_trip.h"

struct round_row {
    const struct round_kind *kind;
    const char *template;
};

extern const struct round_row round_rows[];
extern const size_t round_row_count;
