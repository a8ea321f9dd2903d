/* SPDX-License-Identifier: Apache-2.0 */
/* A command to a model store. It may outlive its sender. */
#pragma once

#include <stddef.h>

#include "store.h"

/* Exactly one of requests, raise, window, swap, purge, page, clock_ms and name
 * is set. */
struct command {
    struct seqb_request *requests;
    size_t n;
    const struct seqb_raise *raise;
    const struct seqb_window *window;
    const struct seqb_swap *swap;
    const struct seqb_purge *purge;
    struct seqb_page *page; /* a copy of the command does not have it */
    int64_t *clock_ms;
    int64_t *out; /* for a raise and an install */
    int32_t *deleted;
    const char *name;
    const char *text;
    char *standing; /* for a claim and a swap; NULL: not wanted */
    size_t size;
};

/* Aborts the program when out of memory. */
struct command *command_copy(const struct command *command);
void command_free(struct command *command);

enum seqb_status command_run(struct command *command, struct store *store,
                             int32_t side, struct seqb_error *err);

/* The store crashes just before it commits: requests may have answers whose
 * effect is lost. */
void command_run_undone(struct command *command, struct store *store,
                        int32_t side);
