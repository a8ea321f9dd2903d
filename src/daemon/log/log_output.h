/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing lines to stderr without waiting for who reads it: a pipe, a socket or
 * a terminal may have a reader that has stopped. What it does not take is held,
 * up to a bound. There is one output per process, as there is one stderr; the
 * caller's lock guards it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are held. */
#define LOG_OUTPUT_HELD ((size_t)256 * 1024)

/* Takes the descriptor that lines are written to, so that the first of them
 * needs none. Without this call, and after a change of stderr, the next line
 * takes it. */
void log_output_open(void);

/* Writes or holds the line. If it does not fit, it is lost as a whole, and
 * counted. */
void log_output_write(const char *line, size_t length);

/* Writes what is held and can be written now. */
void log_output_flush(void);

/* How many lines were lost since the last call; 0 also while lines are held,
 * since a line about it would be lost, too. */
int64_t log_output_lost(void);

/* Waits until nothing is held; without progress, `ms` at most. */
void log_output_drain(int32_t ms);
