/* SPDX-License-Identifier: Apache-2.0 */
/* See authority_pool.h. */
#include "authority_pool.h"

#include <unistd.h>

#include "platform/text.h"
#include "sqlite_parts.h"
#include "support/server_memcached.h"
#include "support/server_redis.h"
#include "support/test.h"

/* Windows of a memcached must be as large as its connections are many. */
#define CONNECTIONS "100"

/* Windows are small, so that many are leased. */
#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ("                                                             \
    "  { name = \"cluster\"; connect_timeout = \"10s\"; %s },"                 \
    "  { name = \"redis-a\"; engine = \"redis\"; socket = \"%s\"; },"          \
    "  { name = \"redis-b\"; engine = \"redis\"; socket = \"%s\"; },"          \
    "  { name = \"mc\"; engine = \"memcached\"; socket = \"%s\"; },"           \
    "  { name = \"one\"; engine = \"sqlite\"; path = \"one.db\";"              \
    "    connect_timeout = \"10s\"; } );"                                      \
    "pools = ( { name = \"main\"; authority = \"cluster\"; windows = \"all\";" \
    "            partitions = [ \"redis-a\", \"redis-b\", \"mc\", \"one\" ];"  \
    "            window_bits = 8; timeout = \"1s\";"                           \
    "            rescue_after = \"100ms\"; } );"                               \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

static struct server *redis_a;
static struct server *redis_b;
static struct server *memcached;

static void flush_redis(struct chaos *chaos)
{
    (void)chaos;
    redis_execute(redis_a, "FLUSHALL");
    redis_execute(redis_b, "FLUSHALL");
}

static void restart_memcached(struct chaos *chaos)
{
    (void)chaos;
    server_kill(memcached);
    server_start(memcached);
}

/* To where it was at the last such fault; the first one only copies it. */
static void put_file_back(struct chaos *chaos)
{
    char path[SQLITE_PART_SIZE];
    char copy[SQLITE_PART_SIZE];

    (void)text_copy(path, sizeof path,
                    scene_state_path(chaos->scene, "one.db"));
    (void)text_copy(copy, sizeof copy,
                    scene_state_path(chaos->scene, "copy.db"));
    if (access(copy, F_OK) == 0)
        sqlite_parts_replace(chaos, copy, path);
    chaos_take_some(chaos);
    sqlite_parts_replace(chaos, path, copy);
}

static void kill_brokers(struct chaos *chaos)
{
    chaos_stop(chaos);
    chaos_start(chaos);
}

static void topology_format(char out[static SCENE_TEXT_SIZE],
                            const char *cluster)
{
    assert_true(text_format(out, SCENE_TEXT_SIZE, TOPOLOGY, cluster,
                            server_socket(redis_a), server_socket(redis_b),
                            server_socket(memcached)));
}

/* By unix sockets, so that brokers in any network namespace reach them. */
static void stores_start(void)
{
    static const char *const args[] = {"-s", "s", "-c", CONNECTIONS, NULL};

    if (memcached != NULL)
        return;
    redis_a = server_redis(NULL);
    redis_b = server_redis(NULL);
    memcached = server_memcached(args);
}

void authority_pool_set(struct chaos *chaos, const char *even, const char *odd)
{
    char text[SCENE_TEXT_SIZE];

    stores_start();
    flush_redis(chaos);
    restart_memcached(chaos);
    topology_format(text, even);
    chaos_topology(chaos, text);
    topology_format(text, odd);
    chaos_topology_odd(chaos, text);
}

void authority_pool_forget(struct chaos *chaos)
{
    static void (*const faults[])(struct chaos * chaos) = {
        put_file_back, flush_redis, restart_memcached, kill_brokers};

    faults[chaos->faults % COUNT_OF(faults)](chaos);
    chaos_take_some(chaos);
}
