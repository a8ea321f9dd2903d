/* SPDX-License-Identifier: Apache-2.0 */
/* Hash slots of a Redis Cluster, and redirections. */
#include "backends/redis/slot.h"
#include "support/test.h"

/* By redis-server 7.0.15, CLUSTER KEYSLOT; the check value of the CRC is that
 * of the specification. */
TEST(slots_are_those_of_the_server)
{
    assert_int_equal(slot_of_key("123456789"), 0x31c3 % REDIS_SLOTS);
    assert_int_equal(slot_of_key("foo"), 12182);
    assert_int_equal(slot_of_key("seqbroker:{foo}"), 12182);
    assert_int_equal(slot_of_key("{foo}{bar}"), 12182);
    assert_int_equal(slot_of_key("a{}foo"), slot_of_key("a{}foo"));
    assert_int_not_equal(slot_of_key("a{}foo"), slot_of_key("b{}foo"));
    assert_int_equal(slot_of_key("{foo"), slot_of_key("x{{foo}"));
    assert_int_equal(slot_of_key(""), 0);
}

TEST(redirections_are_understood)
{
    static const struct {
        const char *error;
        bool is_ask;
        unsigned slot;
        const char *host;
        int port;
    } rows[] = {
        {"MOVED 3999 127.0.0.1:6381", false, 3999, "127.0.0.1", 6381},
        {"ASK 0 redis.example:1", true, 0, "redis.example", 1},
        {"MOVED 16383 ::1:65535", false, 16383, "::1", 65535},
        {"MOVED 16383 [::1]:65535", false, 16383, "::1", 65535},
        {"MOVED 7 :6381", false, 7, "", 6381},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct redirection found;

        assert_true(redirection_parse(rows[i].error, &found));
        assert_int_equal(found.is_ask, rows[i].is_ask);
        assert_int_equal(found.slot, rows[i].slot);
        assert_string_equal(found.to.host, rows[i].host);
        assert_int_equal(found.to.port, rows[i].port);
    }
}

TEST(other_errors_are_no_redirections)
{
    static const char *const rows[] = {
        "",
        "MOVED",
        "MOVED ",
        "MOVED 1",
        "MOVED 1 ",
        "MOVED 1 host",
        "MOVED 16384 127.0.0.1:6381",
        "MOVED -1 127.0.0.1:6381",
        "MOVED x 127.0.0.1:6381",
        "MOVED 1 127.0.0.1:0",
        "MOVED 1 127.0.0.1:65536",
        "MOVED 1 :",
        "ASKING 1 127.0.0.1:6381",
        "CLUSTERDOWN Hash slot not served",
        "TRYAGAIN Multiple keys request during rehashing of slot",
    };
    struct redirection found;

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_false(redirection_parse(rows[i], &found));
}
