/* SPDX-License-Identifier: Apache-2.0 */
/* A private memcached with an open backend on it. */
#include "contract/memcached_fixture.h"

#include <string.h>

#include "platform/text.h"
#include "support/test.h"

struct fixture *fixture_start(void **state, const char *const *args)
{
    struct fixture *f = fixture_prepare(state, "mc-a", &backend_memcached,
                                        server_memcached(args));

    (void)fixture_open(f); /* a test of refusals looks at it itself */
    return f;
}

struct fixture *fixture_start_plain(void **state)
{
    return fixture_start(state, NULL);
}

void must_grant(struct fixture *f, int64_t window, int64_t first, int64_t count)
{
    while (count > 0) {
        const int64_t taken = must_take(f, window, first, count);

        first += taken;
        count -= taken;
    }
}

void must_execute(struct fixture *f, const char *command, const char *answer)
{
    memcached_execute(f->server, command, f->answer, sizeof f->answer);
    assert_string_equal(f->answer, answer);
}

void must_hold(struct fixture *f, const char *value)
{
    char expected[4096];

    if (value == NULL)
        (void)text_copy(expected, sizeof expected, "EN\r\n");
    else
        (void)text_format(expected, sizeof expected, "VA %zu\r\n%s\r\n",
                          strlen(value), value);
    must_execute(f, "mg " KEY " v", expected);
}
