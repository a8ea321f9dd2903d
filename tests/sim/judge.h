/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observes everything in a run, and reports what must not happen. README.md
 * says what is required, and derives the bounds.
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

/* Records a failure of the run. */
void judge_fail(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The result of a caller's call. */
void judge_answer(const struct judge_call *call, const int64_t *numbers,
                  size_t n, const struct seqb_error *err);

/* Numbers were issued, by any broker: none may have been issued before. */
void judge_numbers(struct run *run, int32_t key, const int64_t *numbers,
                   size_t n);

/* judge_event is for ha_on_event; `context` is the broker. */
void judge_event(void *context, const struct seqb_event *event);

void judge_unopened(struct broker *broker, const struct seqb_error *err);

/* The callbacks of a site. */
void judge_try(struct site *site);
void judge_hang(struct site *site);
void judge_grant(struct site *site, const struct seqb_request *request);

/* Call it from time to time: checks that every partition is used again in
 * time. */
void judge_rescues(struct run *run);

/* Whether everything works again after a time without faults. If not, and if
 * `is_late`, the run fails. */
bool judge_settled(struct run *run, int64_t since_us, bool is_late);

/* The longest time that a working partition may remain unused. */
int64_t judge_longest_rescue(const struct run *run);
