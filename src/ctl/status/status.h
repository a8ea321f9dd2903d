/* SPDX-License-Identifier: Apache-2.0 */
/* What of a broker's status is shown, and how. */
#pragma once

#include "ctl/ctl.h"
#include "ctl/table/table.h"

/* What was asked for. */
struct query {
    const char *name; /* of a key or a pool, or a glob; NULL: all */
    const struct row_order *order; /* NULL: as the daemon has them */
    size_t top;                    /* how many sequences at most */
};

/* What is shown of a status, which owns the maps. */
struct selection {
    struct rows partitions;
    struct rows lessors;
    struct rows sequences;
    bool has_lessors; /* the daemon knows of them */
    size_t left_out;  /* sequences, by `top` */
};

/* Chooses; CTL_FAILED after having said what is missing or wrong. It is for
 * selection_fini in any case. */
enum ctl_exit selection_init(struct selection *selection,
                             const redisReply *status,
                             const struct query *query);

void selection_fini(struct selection *selection);

/* A status as tables, and as one JSON object on stdout. False as table_print.
 */
bool status_report(const redisReply *status, const struct selection *selection,
                   const struct view *view);
bool status_object(const redisReply *status, const struct selection *selection);

/* Asks each broker and shows it, `*shown` sequences in all. What one that does
 * not answer has to say is complained of. */
enum ctl_exit status_show(const struct ctl_options *options,
                          const struct query *query, const struct view *view,
                          size_t *shown);

/* The same again and again, until a signal. */
enum ctl_exit status_watch(const struct ctl_options *options,
                           const struct query *query);

/* How this command line wants things to be shown. False after having said that
 * --color has no such value. */
bool view_init(struct view *view, const struct ctl_options *options);
