/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the lines of each event, and sums up the amounts in them. Pure: the
 * log's lock guards it. */
#pragma once

#include "daemon/log/log.h"

/* Adds the line to the tally of its event. A line without an event is not
 * counted, nor is a new event when LOG_EVENTS_MAX others are in use. */
void log_tally_add(struct log_tally tallies[LOG_EVENTS_MAX],
                   const struct log_entry *entry);
