/* SPDX-License-Identifier: Apache-2.0 */
/* A password that was sent to a Redis does not stay in memory that was freed,
 * nor in what waited to be sent. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/clock.h"
#include "resp/resp.h"
#include "support/test.h"
#include "support/wrap.h"

#define SECRET "correct-horse-battery"
/* As hiredis formats it. */
#define AUTH   "*2\r\n$4\r\nAUTH\r\n$21\r\n" SECRET "\r\n"

static const void *watched; /* is to be freed */
static bool is_freed;
static bool is_wiped;
static bool command_is_wiped;

static bool holds_secret(const void *memory, size_t size)
{
    return memmem(memory, size, SECRET, sizeof SECRET - 1) != NULL;
}

WRAPPED(void, free, void *memory)
{
    if (watched != NULL && memory == watched) {
        is_freed = true;
        is_wiped = !holds_secret(memory, sizeof AUTH);
        watched = NULL;
    }
    __real_free(memory);
}

WRAPPED(void, redisFreeCommand, char *command)
{
    command_is_wiped = !holds_secret(command, sizeof AUTH);
    __real_redisFreeCommand(command);
}

/* Adds the command that logs in to a connection without a server. */
static void login_add(struct resp *resp)
{
    *resp = (struct resp){.stream = {.fd = -1}, .reader = redisReaderCreate()};
    command_is_wiped = false;
    is_freed = false;
    is_wiped = false;
    assert_true(resp_append(resp, (const char *[]){"AUTH", SECRET}, 2));
    assert_int_equal(resp->out_length, sizeof AUTH - 1);
    assert_memory_equal(resp->out, AUTH, sizeof AUTH - 1);
}

TEST(formatted_command_is_overwritten)
{
    struct resp resp;

    login_add(&resp);
    assert_true(command_is_wiped);
    resp_close(&resp);
}

TEST(buffer_that_grows_leaves_no_copy_behind)
{
    static char word[1 << 14];
    struct resp resp;

    login_add(&resp);
    memset(word, 'x', sizeof word - 1);
    watched = resp.out;
    assert_true(resp_append(&resp, (const char *[]){word}, 1));
    watched = NULL;
    assert_true(is_freed && is_wiped);
    assert_memory_equal(resp.out, AUTH, sizeof AUTH - 1);
    resp_close(&resp);
}

TEST(what_was_sent_is_overwritten)
{
    char got[sizeof AUTH];
    struct resp resp;
    int pair[2];

    login_add(&resp);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair),
                     0);
    resp.stream.fd = pair[0];
    resp.stream.deadline_ms = clock_now_ms() + 60000;
    assert_true(resp_flush(&resp));
    assert_int_equal(read(pair[1], got, sizeof got), sizeof AUTH - 1);
    assert_memory_equal(got, AUTH, sizeof AUTH - 1);
    assert_false(holds_secret(resp.out, resp.out_size));
    resp_close(&resp);
    (void)close(pair[1]);
}

TEST(what_was_not_sent_is_overwritten)
{
    struct resp resp;

    login_add(&resp);
    watched = resp.out;
    resp_close(&resp);
    assert_true(is_freed && is_wiped);
}
