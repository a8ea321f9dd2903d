/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured of a fault, and how it is shown. */
#include "bench/fault_tables.h"

static const struct report_column columns[] = {
    [STORES] = {"stores", NULL, BAR_NONE, PLOT_NOT},
    [GONE] = {"gone", NULL, BAR_NONE, PLOT_NOT},
    [RATE] = {"calls", "million/s", BAR_NONE, PLOT_NOT},
    [P50] = {"p50", "us", BAR_NONE, PLOT_NOT},
    [P99] = {"p99", "us", BAR_NONE, PLOT_NOT},
    [P999] = {"p99.9", "us", BAR_AT_MOST, PLOT_LOG},
    [P9999] = {"p99.99", "us", BAR_AT_MOST, PLOT_LOG},
    [MAX] = {"max", "us", BAR_NONE, PLOT_LOG},
    [FELT] = {"p99.9 felt", "us", BAR_NONE, PLOT_NOT},
    [WAITED] = {"calls that waited", "", BAR_NONE, PLOT_NOT},
    [ERRORS] = {"errors", "", BAR_AT_MOST, PLOT_NOT},
    [DIVERT] = {"divert", "ms", BAR_AT_MOST, PLOT_LOG},
    [OUT] = {"quarantined", "ms", BAR_AT_MOST, PLOT_LOG},
    [HUNG] = {"of that a call hung", "ms", BAR_NONE, PLOT_NOT},
    [BACK] = {"back after", "ms", BAR_NONE, PLOT_LOG},
};

const struct report_table fault_table_paced = {
    "faults-paced", "Stores that fail, a caller at a steady pace",
    NULL,           SHAPE_WIDE,
    columns,        15};

const struct report_table fault_table_free = {
    "faults-free", "Stores that fail, a caller without a pause",
    NULL,          SHAPE_WIDE,
    columns,       15};

static const struct report_column away_columns[] = {
    [A_STORE] = {"store", NULL, BAR_NONE, PLOT_NOT},
    [A_AWAY] = {"away", "s", BAR_NONE, PLOT_NOT},
    [A_FIRST] = {"first number", "ms", BAR_AT_MOST, PLOT_LINEAR},
    [A_FULL] = {"full share", "ms", BAR_AT_MOST, PLOT_LINEAR},
};

const struct report_table fault_table_away = {
    "faults-away", "One store away, and back",
    NULL,          SHAPE_WIDE,
    away_columns,  4};

static const struct report_column down_columns[] = {
    [D_STORES] = {"stores", NULL, BAR_NONE, PLOT_NOT},
    [D_MIDDLE] = {"error after the deadline, median", "ms", BAR_AT_MOST,
                  PLOT_NOT},
    [D_WORST] = {"worst", "ms", BAR_AT_MOST, PLOT_NOT},
    [D_CPU] = {"CPU", "% of a core", BAR_AT_MOST, PLOT_NOT},
    [D_BACK] = {"first number after one is back", "ms", BAR_AT_MOST,
                PLOT_LINEAR},
};

const struct report_table fault_table_down = {
    "faults-all", "All four stores gone", NULL, SHAPE_WIDE, down_columns, 5};
