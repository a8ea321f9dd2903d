/* SPDX-License-Identifier: Apache-2.0 */
/* The scenarios, the same for each kind of server. */

#include "copied_server.h"

#define TIMES 3 /* each moment of put_back_run */
#define COPY  "copy"

static const struct copied_kind *kind;
static struct server *servers[2]; /* the second one in one scenario only */
static int serving;
static struct gate gate;

static void gate_to(const struct chaos *chaos, int which)
{
    char socket[128];

    kind->socket(servers[which], socket, sizeof socket);
    gate_lead(&gate, chaos, kind->gate, socket);
    serving = which;
}

static void one_server(struct chaos *chaos)
{
    char backend[512];

    if (servers[0] == NULL)
        servers[0] = kind->start(NULL);
    kind->clear(servers[0]);
    gate_to(chaos, 0);
    kind->backend(chaos, backend, sizeof backend);
    put_back_topology(chaos, backend, "\"one\"", 0);
}

/* --- one copy, again and again --- */

static void copy_cold(struct chaos *chaos)
{
    (void)chaos;
    kind->copy_cold(servers[0], COPY);
}

static void copy_backup(struct chaos *chaos)
{
    (void)chaos;
    kind->copy_backup(servers[0], COPY);
}

static void copy_snapshot(struct chaos *chaos)
{
    (void)chaos;
    kind->copy_snapshot(servers[0], COPY);
}

static void put(struct chaos *chaos)
{
    (void)chaos;
    kind->put_back(servers[0], COPY);
}

static void revert(struct chaos *chaos)
{
    (void)chaos;
    kind->revert(servers[0], COPY);
}

TEST_WITH(CHAOS, cold_copy_put_back)
{
    one_server(chaos);
    put_back_run(chaos, __func__, &(struct put_back){copy_cold, put}, TIMES);
}

TEST_WITH(CHAOS, backup_put_back)
{
    one_server(chaos);
    put_back_run(chaos, __func__, &(struct put_back){copy_backup, put}, TIMES);
}

TEST_WITH(CHAOS, snapshot_put_back)
{
    one_server(chaos);
    put_back_run(chaos, __func__, &(struct put_back){copy_snapshot, revert},
                 TIMES);
}

/* --- a copy in the place of its original, and this one again --- */

static void exchange(struct chaos *chaos)
{
    (void)chaos;
    kind->exchange(servers[0], COPY);
}

TEST_WITH(CHAOS, files_and_their_copy_in_turn)
{
    one_server(chaos);
    put_back_fail_over(chaos, __func__,
                       &(struct put_back){copy_snapshot, exchange}, 2 * TIMES);
}

static void copy_server(struct chaos *chaos)
{
    copy_snapshot(chaos);
    servers[1] = kind->start_of(servers[0], COPY);
}

/* The other one ran all the while, and so does this one from now on: the
 * brokers are cut off from it by its standstill alone. */
static void change_server(struct chaos *chaos)
{
    struct server *stalled = servers[serving];

    kind->pause(stalled);
    gate_to(chaos, 1 - serving);
    chaos_take_some(chaos);
    kind->resume(stalled);
}

TEST_WITH(CHAOS, server_and_its_copy_in_turn)
{
    one_server(chaos);
    put_back_fail_over(chaos, __func__,
                       &(struct put_back){copy_server, change_server},
                       2 * TIMES);
}

int copied_run(const struct copied_kind *of)
{
    kind = of;
    return test_run_all();
}
