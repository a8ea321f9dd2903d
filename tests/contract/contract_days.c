/* SPDX-License-Identifier: Apache-2.0 */
/* Asking for values of counters of days. */
#include "contract/contract_days.h"

#include "platform/text.h"

void day_name(char out[SEQB_COUNTER_SIZE], const char *counter, int day)
{
    assert_true(
        text_format(out, SEQB_COUNTER_SIZE, "%s@202611%02d", counter, day));
}

static enum seqb_status request_send(struct seqb_backend *backend,
                                     struct seqb_request *request)
{
    struct seqb_error err;
    const enum seqb_status status =
        backend->ops->reserve(backend, request, 1, &err);

    return status == SEQB_OK ? request->status : status;
}

enum seqb_status contract_reserve_of(const struct contract *contract,
                                     struct seqb_backend *backend,
                                     const char *counter, int64_t begins_ms,
                                     struct seqb_request *out)
{
    *out = contract_request(contract, counter, 1);
    out->begins_ms = begins_ms;
    return request_send(backend, out);
}

enum seqb_status day_reserve(const struct contract *contract,
                             const char *counter, int day,
                             struct seqb_request *out)
{
    char name[SEQB_COUNTER_SIZE];
    enum seqb_status status;

    day_name(name, counter, day);
    status = contract_reserve_of(contract, contract->backend, name,
                                 DAY_BEGINS_MS(day), out);
    out->counter = counter;
    return status;
}

int64_t day_take(const struct contract *contract, const char *counter, int day,
                 int64_t want, int64_t before)
{
    char name[SEQB_COUNTER_SIZE];
    struct seqb_request request;

    day_name(name, counter, day);
    while (want > 0) {
        request = contract_request(contract, name, want);
        request.begins_ms = DAY_BEGINS_MS(day);
        assert_ok(request_send(contract->backend, &request));
        assert_in_range(request.block.count, 1, want);
        assert_int_equal(request.block.first, before + 1);
        before += request.block.count;
        want -= request.block.count;
    }
    return before;
}
