/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of servers, as texts. */
#include <string.h>

#include "net/net.h"
#include "support/test.h"

TEST(host_and_port_are_taken_apart)
{
    static const struct {
        const char *text;
        const char *host;
        int port;
    } all[] = {
        {"db-1.example:3306", "db-1.example", 3306},
        {"127.0.0.1:1", "127.0.0.1", 1},
        {"[::1]:65535", "::1", 65535},
        {"fe80::1:7000", "fe80::1", 7000},
    };
    struct address at;

    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_true(address_parse(all[i].text, &at));
        assert_string_equal(at.host, all[i].host);
        assert_int_equal(at.port, all[i].port);
    }
}

TEST(what_is_no_address_is_refused)
{
    static const char *const all[] = {"",           "host",      ":3306",
                                      "[]:3306",    "host:",     "host:0",
                                      "host:65536", "host:-1",   "host:+1",
                                      "host: 1",    "host:x",    "host:3306 ",
                                      "host:1:x",   "host:3306x"};
    struct address at;

    for (size_t i = 0; i < COUNT_OF(all); i++) {
        if (address_parse(all[i], &at))
            fail_msg("'%s' was taken for an address", all[i]);
    }
}

TEST(host_that_is_too_long_is_refused)
{
    char text[HOST_SIZE + 8];
    struct address at;

    memset(text, 'h', sizeof text);
    memcpy(text + HOST_SIZE - 1, ":80", sizeof ":80");
    assert_true(address_parse(text, &at));
    memset(text, 'h', sizeof text);
    memcpy(text + HOST_SIZE, ":80", sizeof ":80");
    assert_false(address_parse(text, &at));
}
