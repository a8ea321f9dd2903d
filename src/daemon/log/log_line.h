/* SPDX-License-Identifier: Apache-2.0 */
/* The format of a log line: logfmt or JSON, with a date or for journald. */
#pragma once

#include "daemon/log/log.h"

/* The formatted line, to be freed with free(); NULL if memory is short. For
 * journald it begins with its priority, as <6>, and has no date. */
char *log_line_make(const struct log_entry *entry, enum log_format format,
                    bool is_journal);

/* Escapes DEL and U+0080 ... U+009F, which a terminal may obey as it obeys ESC.
 * `json` is freed; it may be NULL. The result is to be freed with free(); NULL
 * if memory is short. */
char *log_controls_escape(char *json);
