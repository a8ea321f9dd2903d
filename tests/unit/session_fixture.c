/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of a daemon over the stub broker. */
#include "unit/session_fixture.h"

#include <string.h>

#include "support/test.h"

struct server *server_over_stub(int64_t stock, enum seqb_status empty,
                                int64_t deadline_ms)
{
    stub_reset(stock, empty, deadline_ms);
    return dialogue_server();
}

struct talker talker_of(struct server *server)
{
    struct talker talker;

    talker_init(&talker, server);
    return talker;
}

void talker_expect(const struct talker *talker, const char *expected)
{
    assert_int_equal(talker->length, strlen(expected));
    assert_memory_equal(talker->heard, expected, talker->length);
}

void talker_expect_script(const struct talker *talker,
                          const struct script *expected)
{
    assert_int_equal(talker->length, expected->length);
    assert_memory_equal(talker->heard, expected->data, expected->length);
}
