/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a worker's engine, each under the watchdog: one that hangs is
 * ended and answers as the engine says of a lost connection, with how long it
 * took before it. On the worker's thread, with the backend open; what the
 * calls mean is in <seqbroker/backend.h>. `err` is never NULL here.
 */
#pragma once

#include "ha/state.h"

/* Of worker->requests[0 ... n - 1]. */
enum seqb_status call_reserve(struct worker *worker, size_t n,
                              struct seqb_error *err);
enum seqb_status call_raise(struct worker *worker,
                            const struct seqb_raise *raise, int64_t *out,
                            struct seqb_error *err);
enum seqb_status call_install(struct worker *worker,
                              const struct seqb_window *window,
                              int64_t *standing, struct seqb_error *err);
enum seqb_status call_claim(struct worker *worker, const char *name,
                            const char *text, char *standing, size_t size,
                            struct seqb_error *err);
enum seqb_status call_purge(struct worker *worker,
                            const struct seqb_purge *purge, int32_t *deleted,
                            struct seqb_error *err);
enum seqb_status call_clock(struct worker *worker, int64_t *out_ms,
                            struct seqb_error *err);
enum seqb_status call_swap(struct worker *worker, const struct seqb_swap *swap,
                           char *standing, size_t size, struct seqb_error *err);
void call_close(struct worker *worker);

/* Of a raise, an install or a claim, which are for one counter: whether that
 * one alone was refused, if it was not SEQB_OK, and the connection is fit for
 * another call. */
bool call_was_refused(enum seqb_status status);
