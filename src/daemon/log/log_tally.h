/* SPDX-License-Identifier: Apache-2.0 */
/* How often each event was told, and the numbers that its lines speak of. Pure:
 * the log's lock guards it. */
#pragma once

#include "daemon/log/log.h"

/* Adds the line to the tally of its event. A line without one is not counted,
 * nor are events once LOG_EVENTS_MAX others are. */
void log_tally_add(struct log_tally tallies[LOG_EVENTS_MAX], const char *line);
