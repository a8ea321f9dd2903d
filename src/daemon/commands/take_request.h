/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command that takes numbers asks for: how many, of which kind, in which
 * form, with which parameters. All such commands take and answer through this
 * file. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands/commands.h"

struct waitlist;

/* The parameters of a template, and the shard of ids. */
#define PARAMS_MAX (SEQB_PARAM_MAX + 1)

struct param_copy {
    char name[SEQB_PARAM_NAME_MAX + 1];
    char value[SEQB_PARAM_VALUE_MAX + 1];
};

/* Parameters copied from a request, because its words are not NUL-terminated
 * and the library takes strings. Valid for one call of a command: `list` points
 * into `copies`. */
struct params {
    struct seqb_param list[PARAMS_MAX];
    size_t count;
    struct param_copy copies[PARAMS_MAX];
};

/* The most numbers of one stamp in one request: all have to be taken while the
 * stamp is current. */
#define TAKE_STAMPED_MAX 1000

/* A parsed request. The library is asked without waiting; a client that has to
 * wait does so in a waitlist. */
struct take_request {
    struct seqb_take_options take; /* options for the library */
    bool is_array;                 /* COUNT was given */
    bool is_string;  /* STR was given: numbers are answered as strings */
    bool is_stamped; /* STAMP was given: all numbers have one stamp, which the
                        answer includes; not with SHARD */
    bool is_text;    /* answers texts of a template, else numbers */
};

/* A request for `count` numbers of any sequence, with the library's `flags`;
 * with SEQB_CONTIGUOUS they are one run. */
struct take_request take_request_of(size_t count, uint32_t flags);

/* An array of numbers or texts that were taken, or room for them. */
struct take_request_items {
    void *at; /* int64_t each, or texts of `size` bytes each; for a run only its
                 first number */
    size_t size; /* bytes of each */
    size_t count;
};

/* Parses the words after the key of a SEQ.NEXT. False after answering the
 * error. */
bool take_request_parse(struct session *session,
                        const struct resp_request *request,
                        struct take_request *out);

/* The same for a SEQ.NUMBER, whose parameters are read into `params`, which
 * must live as long as `out`. */
bool take_request_parse_texts(struct session *session,
                              const struct resp_request *request,
                              struct params *params, struct take_request *out);

/* The waitlist of the key. NULL after answering that there is no such sequence,
 * or that it never gives what is asked for; no waitlist is made in that
 * case. */
struct waitlist *take_request_waitlist(struct session *session,
                                       struct resp_slice key,
                                       const struct take_request *take_request);

/* Takes up to items->count items, and sets items->count to how many were taken,
 * whatever is returned. SEQB_OK only if all were taken. `*stamp` is set to
 * their stamp; `stamp` may be NULL. */
enum seqb_status take_request_take(const struct take_request *take_request,
                                   struct waitlist *waitlist,
                                   struct take_request_items *items,
                                   struct seqb_stamp *stamp,
                                   struct seqb_error *err);

/* The same for a session. If it has to wait, it joins the waitlist and the
 * command is executed again. If no number will come, the error is answered.
 * COMMAND_DONE with a count of 0: the error was answered. */
enum command_outcome
take_request_take_or_wait(struct session *session, struct waitlist *waitlist,
                          const struct take_request *take_request,
                          struct take_request_items *items,
                          struct seqb_stamp *stamp);

/* Writes the reply of each item, without the head of an array. */
void take_request_reply(struct buffer *out,
                        const struct take_request *take_request,
                        const struct take_request_items *items);

/* --- batch.c --- */

/* Takes the items of a request for many, and answers them as an array, after
 * the stamp if one is asked for. Each call does one turn's share; call it again
 * until it is done. */
enum command_outcome batch_run(struct session *session, struct resp_slice key,
                               const struct take_request *take_request);
