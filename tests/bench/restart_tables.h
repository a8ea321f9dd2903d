/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of bench_restarts, and the names of their columns. */
#pragma once

#include "bench/report.h"

/* Of both. */
enum { STORE, WAITED, LONGEST, ERRORS };

enum { R_DOWN = ERRORS + 1, R_FIRST, R_SHARE, R_LOST, R_LOST_S };

enum { L_TOLD = ERRORS + 1, L_GIVEN, L_LEVEL };

extern const struct report_table restart_table;
extern const struct report_table waiting_table;
