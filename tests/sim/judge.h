/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hears all that happens in a run, and says what must not have: see README.md
 * for what is claimed, and why the bounds are what they are.
 */
#pragma once

#include "run.h"

struct judge_call {
    struct broker *broker;
    int32_t key;
    int64_t begun_us;
    enum seqb_status status;
};

void judge_init(struct run *run);
void judge_fini(struct run *run);

/* Notes a failure of the run. */
void judge_fail(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What callers were given. */
void judge_answer(const struct judge_call *call, const int64_t *numbers,
                  size_t n, const struct seqb_error *err);

/* Numbers were handed out, by whomever: none may have been before. */
void judge_numbers(struct run *run, int32_t key, const int64_t *numbers,
                   size_t n);

/* For ha_on_event; `context` is the broker. */
void judge_event(void *context, const struct seqb_event *event);

void judge_unopened(struct broker *broker, const struct seqb_error *err);

/* For a site. */
void judge_try(struct site *site);
void judge_hang(struct site *site);
void judge_grant(struct site *site, const struct seqb_request *request);

/* From time to time: is every partition back that ought to be? */
void judge_rescues(struct run *run);

/* When there have been no faults for a while: whether all is as it should be;
 * fails the run if not and `is_late`. */
bool judge_settled(struct run *run, int64_t since_us, bool is_late);

/* The longest that a partition which can be asked may remain unasked. */
int64_t judge_longest_rescue(const struct run *run);
