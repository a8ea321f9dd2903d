/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts of a broker's status are shown, and how. */
#pragma once

#include "ctl/ctl.h"
#include "ctl/table/table.h"

/* What the command line asks for. */
struct query {
    const char *name; /* a key, a pool, or a glob of these; NULL: all */
    const struct row_order *order; /* NULL: the daemon's order */
    size_t top;                    /* how many sequences at most */
    bool
        skips_up; /* partitions that are up, of which there is nothing to say */
};

/* The shown parts of a status. The status owns the maps. */
struct selection {
    struct rows partitions;
    struct rows lessors;
    struct rows sequences;
    bool has_lessors;   /* the daemon is new enough to report them */
    size_t left_out;    /* sequences that `top` left out */
    size_t up_left_out; /* partitions that `skips_up` left out */
};

/* Selects the parts. CTL_FAILED, with the reason reported: something is missing
 * or wrong. Call selection_fini in any case. */
enum ctl_exit selection_init(struct selection *selection,
                             const redisReply *status,
                             const struct query *query);

void selection_fini(struct selection *selection);

/* Prints a status as tables, or as one JSON object on stdout. False: see
 * table_print. */
bool status_report(const redisReply *status, const struct selection *selection,
                   const struct view *view);
bool status_object(const redisReply *status, const struct selection *selection);

/* Whether a line is shown for each of several brokers, and no tables: no option
 * asks for more. */
bool status_is_summary(const struct ctl_options *options);

/* What one broker answered. */
struct broker_answer {
    bool is_asked;
    enum ctl_exit result;
    redisReply *status; /* NULL: none */
    redisReply *health; /* NULL: none, or it was not asked for */
};

/* What all brokers answered in one round, in the order of the command line.
 * Begins as {0}; a later round needs another one. */
struct round_answers {
    struct broker_answer broker[CTL_SERVERS_MAX];
};

void round_answers_fini(struct round_answers *answers);

/* Asks each broker that is not asked yet, and shows its status; `*shown` is the
 * number of sequences. A broker that does not answer is reported, once. */
enum ctl_exit status_show(const struct ctl_options *options,
                          const struct query *query, const struct view *view,
                          struct round_answers *answers, size_t *shown);

/* Shows the status again and again, until a signal. */
enum ctl_exit status_watch(const struct ctl_options *options,
                           const struct query *query);

/* How this command line's output is shown. False, reported: --color has no such
 * value. */
bool view_init(struct view *view, const struct ctl_options *options);
