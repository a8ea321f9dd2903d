/* SPDX-License-Identifier: Apache-2.0 */
/* One command to a model store, which may outlive whoever sent it. */
#pragma once

#include <stddef.h>

#include "store.h"

/* One of requests, raise, window, swap, purge, page, clock_ms and name is set.
 */
struct command {
    struct seqb_request *requests;
    size_t n;
    const struct seqb_raise *raise;
    const struct seqb_window *window;
    const struct seqb_swap *swap;
    const struct seqb_purge *purge;
    struct seqb_page *page; /* of which a copy knows nothing */
    int64_t *clock_ms;
    int64_t *out; /* of a raise and an install */
    int32_t *deleted;
    const char *name;
    const char *text;
    char *standing; /* of a claim and a swap; NULL: nobody wants to know */
    size_t size;
};

/* Ends the program when out of memory. */
struct command *command_copy(const struct command *command);
void command_free(struct command *command);

enum seqb_status command_run(struct command *command, struct store *store,
                             int32_t side, struct seqb_error *err);

/* The store breaks down just before it commits: requests may have answers that
 * nothing stands behind. */
void command_run_undone(struct command *command, struct store *store,
                        int32_t side);
