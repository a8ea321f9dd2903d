/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines for the host's logger, one for each change of state; silent without
 * a logger. Lines are logfmt: key=value words, with quotes around values that
 * need them.
 */
#pragma once

#include <stddef.h>

#include <seqbroker/seqbroker.h>

/* Buffer size for a value of usual length, as log_value writes it. */
#define LOG_VALUE_SIZE 512

/* Logs a line of key=value words. A value that may contain a space, a quote or
 * the like, such as a path, must be written by log_value. Thread-safe. */
void log_line(enum seqb_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* log_line with reason="..." at the end. `reason` may contain anything. */
void log_reason(enum seqb_log_level level, const char *reason,
                const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Writes `value` into `to` as a logfmt value, and returns `to`. If necessary,
 * the value is quoted, with JSON's escapes. If it does not fit, it is cut after
 * a whole character or escape and ends with "...". `size` is at least 8.
 */
const char *log_value(char *to, size_t size, const char *value);
