/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of bench_faults, and the names of their columns. */
#pragma once

#include "bench/report.h"

/* Of the first two. */
enum {
    STORES,
    GONE,
    RATE,
    P50,
    P99,
    P999,
    P9999,
    MAX,
    FELT,
    WAITED,
    ERRORS,
    DIVERT,
    OUT,
    HUNG,
    BACK
};

enum { A_STORE, A_AWAY, A_FIRST, A_FULL };

enum { D_STORES, D_MIDDLE, D_WORST, D_CPU, D_BACK };

extern const struct report_table fault_table_paced;
extern const struct report_table fault_table_free;
extern const struct report_table fault_table_away;
extern const struct report_table fault_table_down;
