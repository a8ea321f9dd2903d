/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of a SEQ.NUMBER: names and values out of a request's words,
 * copied, since words are not ended by a 0 and the library takes strings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/seqbroker.h>

struct resp_request;
struct session;

/* A template's, and the shard of ids. */
#define PARAMS_MAX (SEQB_PARAM_MAX + 1)

struct param_copy {
    char name[SEQB_PARAM_NAME_MAX + 1];
    char value[SEQB_PARAM_VALUE_MAX + 1];
};

/* For one call of a command: `list` points into `copies`. */
struct params {
    struct seqb_param list[PARAMS_MAX];
    size_t count;
    struct param_copy copies[PARAMS_MAX];
};

/* Reads the words from `first` on, a name and a value each; false after
 * answering the error. Which names there are is the library's to say. */
bool params_read(struct session *session, const struct resp_request *request,
                 size_t first, struct params *out);
