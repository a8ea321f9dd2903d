/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memcached that forgets, under one counter whose windows a SQLite file
 * leases. The windows are so large that a counter leaves one for the next
 * only when the server forgot it.
 */
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chaos.h"
#include "platform/text.h"
#include "support/server_memcached.h"
#include "support/test.h"

#define TEXT_SIZE   2048
#define FAULTS      12
#define WINDOW_BITS 30
#define CELL        "seqbroker:main/0/order"
#define FILL_MANY   18  /* commands in one go ... */
#define FILL_SIZE   100 /* ... of so many bytes at most */
#define FILL_SIZES  40
#define FILL_ROUNDS 300

#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ("                                                             \
    "  { name = \"mc-a\"; engine = \"memcached\"; port = %d; },"               \
    "  { name = \"authority\"; engine = \"sqlite\"; path = \"windows.db\"; }"  \
    ");"                                                                       \
    "pools = ( { name = \"main\"; partitions = [ \"mc-a\" ];"                  \
    "            authority = \"authority\"; window_bits = %d;"                 \
    "            timeout = \"2s\"; rescue_after = \"100ms\"; } );"             \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

static struct server *memcached;

static void one_server(struct chaos *chaos, const char *const *args,
                       int window_bits)
{
    char text[TEXT_SIZE];

    server_free(memcached);
    memcached = NULL;
    memcached = server_memcached(args);
    assert_true(text_format(text, sizeof text, TOPOLOGY,
                            (int)server_port(memcached), window_bits));
    chaos_topology(chaos, text);
}

static void restart(struct chaos *chaos)
{
    (void)chaos;
    server_kill(memcached);
    server_start(memcached);
}

TEST_WITH(CHAOS, server_killed_and_started)
{
    one_server(chaos, NULL, WINDOW_BITS);
    chaos_run(chaos, __func__, FAULTS, restart);
}

static void flush(struct chaos *chaos)
{
    char answer[64];

    (void)chaos;
    memcached_execute(memcached, "flush_all", answer, sizeof answer);
    assert_string_equal(answer, "OK\r\n");
}

TEST_WITH(CHAOS, server_flushed)
{
    one_server(chaos, NULL, WINDOW_BITS);
    chaos_run(chaos, __func__, 3 * FAULTS, flush);
}

static void flush_often(struct chaos *chaos)
{
    for (int i = 0; i < FAULTS; i++) {
        chaos_take_some(chaos);
        flush(chaos);
    }
}

/* Small windows, so that brokers are at the end of one, or past it, when the
 * server forgets. */
TEST_WITH(CHAOS, server_flushed_while_windows_are_used_up)
{
    static const char *const args[] = {"-c", "64", NULL};

    one_server(chaos, args, 8);
    chaos_run(chaos, __func__, FAULTS, flush_often);
}

/* Asked so that it does not count as used. */
static bool is_there(void)
{
    char answer[256];

    memcached_execute(memcached, "me " CELL, answer, sizeof answer);
    return strncmp(answer, "ME ", 3) == 0;
}

/* Items of the sizes that a counter may have. In one go no more than the
 * server works off at once, and in one piece. */
static void fill(int fd)
{
    static int name;
    char items[FILL_MANY * FILL_SIZE] = "";
    char answer[sizeof "MN\r\n"];

    for (int i = 1; i < FILL_MANY; i++) {
        const int length = 10 + name % FILL_SIZES;

        (void)text_append(items, sizeof items, "ms filler:%d %d q\r\n%0*d\r\n",
                          name++, length, length, 0);
    }
    (void)text_append(items, sizeof items, "mn\r\n");
    assert_int_equal(send(fd, items, strlen(items), MSG_NOSIGNAL),
                     strlen(items));
    assert_int_equal(recv(fd, answer, sizeof answer - 1, MSG_WAITALL),
                     sizeof answer - 1);
    assert_memory_equal(answer, "MN\r\n", sizeof answer - 1);
}

/* While the brokers are stopped: a counter that they count in is made anew
 * again and again, and so is never the oldest item. */
static void evict(struct chaos *chaos)
{
    const int fd = memcached_connect(memcached);

    assert_true(fd >= 0);
    crowd_signal(&chaos->crowd, SIGSTOP);
    while (is_there()) {
        for (int i = 0; i < FILL_ROUNDS; i++)
            fill(fd);
    }
    close(fd);
    crowd_signal(&chaos->crowd, SIGCONT);
}

TEST_WITH(CHAOS, counter_evicted)
{
    static const char *const args[] = {"-m", "2", NULL};

    one_server(chaos, args, WINDOW_BITS);
    chaos_run(chaos, __func__, FAULTS / 2, evict);
}
