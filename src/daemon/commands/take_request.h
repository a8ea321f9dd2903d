/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command that takes numbers asks for: how many, of which kind, in which
 * form, with which parameters; and the one way in which all of them are taken
 * and answered. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands/commands.h"

struct waitlist;

/* A template's, and the shard of ids. */
#define PARAMS_MAX (SEQB_PARAM_MAX + 1)

struct param_copy {
    char name[SEQB_PARAM_NAME_MAX + 1];
    char value[SEQB_PARAM_VALUE_MAX + 1];
};

/* Copied out of a request, as words are not ended by a 0 and the library takes
 * strings. For one call of a command: `list` points into `copies`. */
struct params {
    struct seqb_param list[PARAMS_MAX];
    size_t count;
    struct param_copy copies[PARAMS_MAX];
};

/* The most numbers of one stamp: they have to come while it lasts. */
#define WISH_STAMPED_MAX 1000

/* The library is asked without waiting; who has to wait does so in a line. */
struct take_request {
    struct seqb_take_options take; /* all that is wished for */
    bool is_array;                 /* COUNT was said */
    bool is_string;                /* numbers are answered as strings: STR */
    bool is_stamped; /* all of one stamp, which the answer has; no shard */
    bool is_text;    /* the texts of a template; else numbers */
};

/* One number, of any sequence; in a run, with SEQB_CONTIGUOUS. */
struct take_request take_request_of(size_t count, uint32_t flags);

/* Where some of what is wished for comes to, or is answered from. */
struct take_request_items {
    void *at;    /* int64_t each, or texts of `size` bytes each; of a run its
                    first number */
    size_t size; /* bytes of each */
    size_t count;
};

/* Reads what stands behind the key of a SEQ.NEXT; false after answering the
 * error. */
bool take_request_parse(struct session *session,
                        const struct resp_request *request,
                        struct take_request *out);

/* The same of a SEQ.NUMBER, whose parameters are read into `params`. */
bool take_request_parse_texts(struct session *session,
                              const struct resp_request *request,
                              struct params *params, struct take_request *out);

/* The waitlist of the key; NULL after answering that there is none, or that its
 * sequence never gives what is asked for: then none is made for it. */
struct waitlist *take_request_waitlist(struct session *session,
                                       struct resp_slice key,
                                       const struct take_request *take_request);

/* Takes up to as many as the items have room for, and says in their count how
 * many, whatever is returned: SEQB_OK only if all. Tells their stamp unless it
 * is NULL. */
enum seqb_status take_request_take(const struct take_request *take_request,
                                   const struct waitlist *waitlist,
                                   struct take_request_items *items,
                                   struct seqb_stamp *stamp,
                                   struct seqb_error *err);

/* The same for the session: when it has to wait it goes into the waitlist's
 * line, and the command is executed again; when that is in vain the error is
 * answered. COMMAND_DONE and a count of 0: nothing is left to be done. */
enum command_outcome
take_request_take_or_wait(struct session *session, struct waitlist *waitlist,
                          const struct take_request *take_request,
                          struct take_request_items *items,
                          struct seqb_stamp *stamp);

/* Answers items that were taken, without the head of an array. */
void take_request_reply(struct buffer *out,
                        const struct take_request *take_request,
                        const struct take_request_items *items);

/* --- batch.c --- */

/* Takes what a take request for many asks for and answers it as an array, after
 * the stamp if that is wished for, a turn's share at a time; to be called
 * again, from where it stood, until it is done. */
enum command_outcome batch_run(struct session *session, struct resp_slice key,
                               const struct take_request *take_request);
