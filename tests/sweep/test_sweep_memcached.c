/* SPDX-License-Identifier: Apache-2.0 */
/* A broker over a memcached, whose windows a SQLite file leases. All of the
 * memcached protocol is our own code, so that its sockets and memory fail, too.
 * The server is not: it is shared by all lives, of which each has keys of its
 * own. */
#include <string.h>

#include "platform/text.h"
#include "support/server_memcached.h"
#include "support/test.h"
#include "sweep.h"

#define FEW 3

static struct server *memcached;

static void live(struct sweep *sweep)
{
    static const char format[] =
        "broker = { name = \"orders\"; open_timeout = $; };"
        "backends = ( { name = \"m\"; engine = \"memcached\";"
        "    port = %d; prefix = \"%s\"; },"
        "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; } );"
        "pools = ( { name = \"main\"; partitions = [ \"m\" ];"
        "  authority = \"a\"; } );"
        "sequences = ( { key = \"order\"; max_unused = 32; deadline = $; } );";
    const bool was_suspended = faults_suspend(true);
    const char *path;
    struct seqb_broker *broker;
    char text[1024];

    (void)text_format(text, sizeof text, format, (int)server_port(memcached),
                      strrchr(sweep->folder, '/') + 1);
    path = sweep_topology(sweep, "memcached.conf", text);
    faults_suspend(was_suspended);
    broker = sweep_open(sweep, path);
    if (broker == NULL)
        return;
    sweep_take(sweep, broker, "order", FEW);
    seqb_close(broker);
}

static const struct sweep_scene starts = {
    .before = live, .during = live, .after = live, .places = 24};

static void sweep_memcached(enum faults_kind kind)
{
    server_require("memcached");
    memcached = server_memcached(NULL);
    sweep_run(&starts, kind);
    server_free(memcached);
}

TEST(memory_over_memcached)
{
    sweep_memcached(FAULTS_MEMORY);
}

TEST(calls_over_memcached)
{
    sweep_memcached(FAULTS_CALLS);
}
