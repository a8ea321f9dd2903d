/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/founders.h"

#include "support/race.h"

struct founder {
    const struct seqb_backend_ops *ops;
    const struct seqb_backend_options *options;
    struct seqb_backend *backend;
    struct seqb_request request;
    struct seqb_error err;
};

static void founder_run(void *racer)
{
    struct founder *me = racer;

    if (me->ops->open(me->options, &me->backend, &me->err) == SEQB_OK)
        (void)me->ops->reserve(me->backend, &me->request, 1, &me->err);
}

void founders_make_one_store(const struct seqb_backend_ops *ops,
                             const struct seqb_backend_options *options,
                             const char *counter)
{
    struct founder founders[FOUNDERS];
    unsigned seen = 0;

    for (int i = 0; i < FOUNDERS; i++)
        founders[i] = (struct founder){.ops = ops,
                                       .options = options,
                                       .request = {.counter = counter,
                                                   .want = 10,
                                                   .limit = (int64_t)1 << 40}};
    RACE(founders, founder_run);
    for (int i = 0; i < FOUNDERS; i++) {
        if (founders[i].backend == NULL)
            fail_msg("%s", founders[i].err.text);
        assert_string_equal(founders[i].backend->origin,
                            founders[0].backend->origin);
        assert_ok(founders[i].request.status);
        assert_int_equal(founders[i].request.block.first % 10, 1);
        seen |= 1U << (founders[i].request.block.first / 10);
    }
    assert_int_equal(seen, (1U << FOUNDERS) - 1);
    for (int i = 0; i < FOUNDERS; i++)
        ops->close(founders[i].backend);
}
