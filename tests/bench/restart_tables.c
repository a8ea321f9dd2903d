/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured of a restart, and how it is shown. */
#include "bench/restart_tables.h"

#define COLUMNS_LOAD                                                           \
    [WAITED] = {"calls that waited", "", BAR_AT_MOST, PLOT_NOT},               \
    [LONGEST] = {"longest call", "us", BAR_NONE, PLOT_NOT},                    \
    [ERRORS] = {"errors", "", BAR_AT_MOST, PLOT_NOT}

static const struct report_column restart_columns[] = {
    [STORE] = {"restarted", NULL, BAR_NONE, PLOT_NOT},
    COLUMNS_LOAD,
    [R_DOWN] = {"down", "s", BAR_NONE, PLOT_NOT},
    [R_FIRST] = {"first number", "ms", BAR_NONE, PLOT_LINEAR},
    [R_SHARE] = {"its share", "ms", BAR_AT_MOST, PLOT_LINEAR},
    [R_LOST] = {"numbers lost", "", BAR_NONE, PLOT_NOT},
    [R_LOST_S] = {"what it gives in", "s", BAR_AT_MOST, PLOT_NOT},
};

const struct report_table restart_table = {
    "restarts",
    "One of four neighbours is restarted",
    NULL,
    SHAPE_WIDE,
    restart_columns,
    9};

static const struct report_column waiting_columns[] = {
    [STORE] = {"one of three lessors is down", NULL, BAR_NONE, PLOT_NOT},
    COLUMNS_LOAD,
    [L_TOLD] = {"status says who is missing", "ms", BAR_NONE, PLOT_NOT},
    [L_GIVEN] = {"numbers given", "", BAR_NONE, PLOT_NOT},
    [L_LEVEL] = {"level once it is back", "ms", BAR_NONE, PLOT_NOT},
};

const struct report_table waiting_table = {
    "lessors",
    "A lessor is restarted while another one is down",
    NULL,
    SHAPE_WIDE,
    waiting_columns,
    7};
