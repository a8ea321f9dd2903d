/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line a change of state, to the host's logger; silent without one. Lines
 * are logfmt: key=value words, and values in quotes where they need them.
 */
#pragma once

#include <stddef.h>

#include <seqbroker/seqbroker.h>

/* Bytes that hold a value of usual length, as log_value writes it. */
#define LOG_VALUE_SIZE 512

/* A line of key=value words. A value that may hold a space, a quote or the
 * like, as a path does, goes through log_value. Thread-safe. */
void log_line(enum seqb_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with reason="..." at its end; `reason` may hold anything. */
void log_reason(enum seqb_log_level level, const char *reason,
                const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Writes `value` into `to` as a logfmt value, and returns `to`: in quotes, with
 * JSON's escapes, if it needs them. One that does not fit is cut after a whole
 * character or escape and ends with "...". `size` is at least 8.
 */
const char *log_value(char *to, size_t size, const char *value);
