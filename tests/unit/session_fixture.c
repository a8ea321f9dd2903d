/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of a daemon over the stub broker. */
#include "unit/session_fixture.h"

#include <string.h>

#include "daemon/server.h"
#include "support/test.h"

#define TALKERS_MAX 8

static struct talker talkers[TALKERS_MAX]; /* of this test */
static size_t talker_count;

struct server *server_over_stub(int64_t stock, enum seqb_status empty,
                                int64_t deadline_ms)
{
    stub_reset(stock, empty, deadline_ms);
    return dialogue_server();
}

int server_setup(void **state)
{
    *state = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    return 0;
}

int server_teardown(void **state)
{
    server_close(*state);
    while (talker_count > 0)
        talker_fini(&talkers[--talker_count]);
    return 0;
}

struct talker *talker_new(struct server *server)
{
    struct talker *talker = &talkers[talker_count];

    assert_true(talker_count++ < TALKERS_MAX);
    talker_init(talker, server);
    return talker;
}

void settle_unread(struct server *server)
{
    struct talker nobody = {.fd = -1};

    dialogue_finish(server, &nobody);
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
