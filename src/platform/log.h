/* SPDX-License-Identifier: Apache-2.0 */
/* One line a change of state, to the host's logger; silent without one. */
#pragma once

#include <seqbroker/seqbroker.h>

/* A line of key=value words; `format` has no newline. Thread-safe. */
void log_line(enum seqb_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
