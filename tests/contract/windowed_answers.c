/* SPDX-License-Identifier: Apache-2.0 */
/* What any windowed engine must make of an impostor's answers. */
#include "contract/windowed_answers.h"

#include <string.h>

#include "support/test.h"

void must_refuse_session(const struct seqb_backend_ops *ops, const char *text,
                         enum seqb_status status)
{
    struct impostor impostor = {0};

    impostor_start(&impostor, text, CLOSES);
    assert_int_equal(impostor_open(&impostor, ops), status);
    assert_int_equal(impostor.err.status, status);
    assert_non_null(strstr(impostor.err.text, impostor.options.name));
    assert_null(impostor.backend);
    impostor_stop(&impostor);
}

void must_give_up_drips(const struct seqb_backend_ops *ops, const char *opening,
                        const char *session, int64_t limit)
{
    struct impostor impostor = {0};
    struct seqb_request requests[2];

    impostor_start(&impostor, opening, DRIPS);
    impostor.options.connect_timeout_ms = 200;
    assert_int_equal(impostor_open(&impostor, ops), SEQB_UNREACHABLE);
    assert_non_null(strstr(impostor.err.text, "no answer within 200 ms"));
    impostor_stop(&impostor);

    impostor_start(&impostor, session, DRIPS);
    impostor.options.timeout_ms = 200;
    assert_ok(impostor_open(&impostor, ops));
    assert_int_equal(reserve_two(&impostor, limit, requests), SEQB_UNCERTAIN);
    assert_non_null(strstr(impostor.err.text, "no answer within 200 ms"));
    impostor_stop(&impostor);
}

enum seqb_status reserve_two(struct impostor *impostor, int64_t limit,
                             struct seqb_request requests[static 2])
{
    requests[0] =
        (struct seqb_request){.counter = "a", .want = 10, .limit = limit};
    requests[1] =
        (struct seqb_request){.counter = "b", .want = 10, .limit = limit};
    return impostor->backend->ops->reserve(impostor->backend, requests, 2,
                                           &impostor->err);
}

void must_distrust(struct impostor *impostor, int64_t limit)
{
    struct seqb_request requests[2];

    assert_int_equal(reserve_two(impostor, limit, requests), SEQB_PROTOCOL);
    assert_int_equal(impostor->err.status, SEQB_PROTOCOL);
    assert_int_not_equal(requests[0].status, SEQB_OK);
    assert_int_equal(requests[1].status, SEQB_UNCERTAIN);
    assert_int_equal(requests[1].error.status, SEQB_UNCERTAIN);
    assert_int_equal(reserve_two(impostor, limit, requests), SEQB_UNREACHABLE);
    assert_int_equal(requests[0].status, SEQB_UNREACHABLE);
}

void must_doubt_second(struct impostor *impostor, int64_t limit, int64_t count)
{
    struct seqb_request requests[2];

    assert_int_equal(reserve_two(impostor, limit, requests), SEQB_UNCERTAIN);
    assert_ok(requests[0].status);
    assert_int_equal(requests[0].block.count, count);
    assert_int_equal(requests[1].status, SEQB_UNCERTAIN);
    assert_int_equal(requests[1].error.status, SEQB_UNCERTAIN);
    assert_int_equal(requests[1].block.count, 0);
    assert_int_equal(requests[1].window, SEQB_NO_WINDOW);
}
