/* SPDX-License-Identifier: Apache-2.0 */
/* See server_cluster.h. */
#include "support/server_cluster.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "support/test.h"

#define PATIENCE_MS INT64_C(60000)
#define SLOTS       16384

static void rest(void)
{
    nanosleep(&(struct timespec){0, 10000000}, NULL);
}

/* A master and the replica of another one on each host. */
static int host_of(size_t i)
{
    return (int)(i < CLUSTER_MASTERS ? i : (i + 1) % CLUSTER_MASTERS);
}

/* The port of the bus is not 10,000 above the other, which may be too high. */
static void server_begin(struct cluster *cluster, size_t i)
{
    const char *const args[] = {"--cluster-enabled",
                                "yes",
                                "--cluster-config-file",
                                "nodes.conf",
                                "--cluster-node-timeout",
                                cluster->node_timeout,
                                "--cluster-port",
                                cluster->words[i],
                                "--repl-diskless-sync-delay",
                                "0",
                                NULL};
    redisReply *reply;

    (void)text_format(cluster->words[i], sizeof cluster->words[i], "%d",
                      (int)free_port());
    memcpy(cluster->args[i], args, sizeof args);
    server_place(lan_fd(cluster->lan, host_of(i)),
                 lan_address(cluster->lan, host_of(i)));
    cluster->servers[i] = server_redis(cluster->args[i]);
    server_place(-1, lan_address(NULL, 0));
    (void)text_format(cluster->addresses[i], sizeof cluster->addresses[i],
                      "%s:%d", server_address(cluster->servers[i]),
                      (int)server_port(cluster->servers[i]));
    cluster->endpoints[i] = cluster->addresses[i];
    reply = server_ask(cluster->servers[i], "CLUSTER MYID");
    (void)text_copy(cluster->ids[i], sizeof cluster->ids[i], reply->str);
    freeReplyObject(reply);
}

/* How many lines of CLUSTER NODES have the word. */
static size_t nodes_with(struct cluster *cluster, size_t asked,
                         const char *word)
{
    redisReply *reply = server_ask(cluster->servers[asked], "CLUSTER NODES");
    size_t count = 0;

    for (const char *at = strstr(reply->str, word); at != NULL;
         at = strstr(at + 1, word))
        count++;
    freeReplyObject(reply);
    return count;
}

static bool is_ok(struct cluster *cluster, size_t asked)
{
    redisReply *reply = server_ask(cluster->servers[asked], "CLUSTER INFO");
    const bool ok =
        strstr(reply->str, "cluster_state:ok") != NULL &&
        strstr(reply->str, "cluster_slots_assigned:16384") != NULL &&
        strstr(reply->str, "cluster_slots_fail:0") != NULL &&
        strstr(reply->str, "cluster_slots_pfail:0") != NULL;

    freeReplyObject(reply);
    return ok;
}

void cluster_await(struct cluster *cluster, size_t asked)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;

    while (!is_ok(cluster, asked)) {
        if (clock_now_ms() > until_ms)
            fail_msg("the cluster does not serve all slots");
        rest();
    }
}

static void all_met_await(struct cluster *cluster, size_t asked)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;

    while (nodes_with(cluster, asked, " connected") < CLUSTER_SERVERS) {
        if (clock_now_ms() > until_ms)
            fail_msg("the servers of the cluster do not meet");
        rest();
    }
}

static void cluster_meet(struct cluster *cluster)
{
    for (size_t i = 1; i < CLUSTER_SERVERS; i++)
        redis_execute(cluster->servers[0], "CLUSTER MEET %s %d %s",
                      server_address(cluster->servers[i]),
                      (int)server_port(cluster->servers[i]), cluster->words[i]);
    for (size_t i = 0; i < CLUSTER_SERVERS; i++)
        all_met_await(cluster, i);
}

static void cluster_fill(struct cluster *cluster)
{
    for (size_t i = 0; i < CLUSTER_MASTERS; i++)
        redis_execute(cluster->servers[i], "CLUSTER ADDSLOTSRANGE %d %d",
                      (int)(SLOTS * i / CLUSTER_MASTERS),
                      (int)(SLOTS * (i + 1) / CLUSTER_MASTERS) - 1);
    for (size_t i = CLUSTER_MASTERS; i < CLUSTER_SERVERS; i++)
        redis_execute(cluster->servers[i], "CLUSTER REPLICATE %s",
                      cluster->ids[i - CLUSTER_MASTERS]);
}

static void replicas_known_await(struct cluster *cluster, size_t asked)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;

    while (nodes_with(cluster, asked, "slave ") < CLUSTER_MASTERS) {
        if (clock_now_ms() > until_ms)
            fail_msg("the replicas of the cluster are not known");
        rest();
    }
}

/* Whether a master has a replica that has its copy, or a replica has that. */
static bool is_in_step(struct cluster *cluster, size_t asked)
{
    redisReply *reply = server_ask(cluster->servers[asked], "INFO replication");
    const bool is = strstr(reply->str, "state=online") != NULL ||
                    strstr(reply->str, "master_link_status:up") != NULL;

    freeReplyObject(reply);
    return is;
}

static void copy_await(struct cluster *cluster, size_t asked)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;

    while (!is_in_step(cluster, asked)) {
        if (clock_now_ms() > until_ms)
            fail_msg("a master of the cluster has no replica");
        rest();
    }
}

void cluster_recover(struct cluster *cluster)
{
    for (size_t i = 0; i < CLUSTER_SERVERS; i++) {
        cluster_await(cluster, i);
        replicas_known_await(cluster, i);
        copy_await(cluster, i);
    }
}

struct cluster *cluster_new_on(const struct lan *lan, int node_timeout_ms)
{
    struct cluster *cluster = calloc(1, sizeof *cluster);

    assert_non_null(cluster);
    cluster->lan = lan;
    (void)text_format(cluster->node_timeout, sizeof cluster->node_timeout, "%d",
                      node_timeout_ms);
    for (size_t i = 0; i < CLUSTER_SERVERS; i++)
        server_begin(cluster, i);
    cluster_meet(cluster);
    cluster_fill(cluster);
    cluster_recover(cluster);
    return cluster;
}

struct cluster *cluster_new(int node_timeout_ms)
{
    return cluster_new_on(NULL, node_timeout_ms);
}

void cluster_free(struct cluster *cluster)
{
    if (cluster == NULL)
        return;
    for (size_t i = 0; i < CLUSTER_SERVERS; i++)
        server_free(cluster->servers[i]);
    free(cluster);
}

size_t cluster_owner(struct cluster *cluster, size_t asked, unsigned slot)
{
    redisReply *reply = server_ask(cluster->servers[asked], "CLUSTER SLOTS");
    size_t owner = CLUSTER_SERVERS;

    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *range = reply->element[i];

        if (range->element[0]->integer > (long long)slot ||
            range->element[1]->integer < (long long)slot)
            continue;
        for (size_t j = 0; j < CLUSTER_SERVERS; j++) {
            if (server_port(cluster->servers[j]) ==
                range->element[2]->element[1]->integer)
                owner = j;
        }
    }
    freeReplyObject(reply);
    return owner;
}

size_t cluster_replica(struct cluster *cluster, size_t master)
{
    redisReply *reply = server_ask(cluster->servers[master],
                                   "CLUSTER REPLICAS %s", cluster->ids[master]);
    size_t replica = 0;

    assert_true(reply->elements > 0);
    while (replica < CLUSTER_SERVERS &&
           strncmp(reply->element[0]->str, cluster->ids[replica],
                   sizeof cluster->ids[replica] - 1) != 0)
        replica++;
    assert_true(replica < CLUSTER_SERVERS);
    freeReplyObject(reply);
    return replica;
}

void cluster_slot_begin(struct cluster *cluster, size_t from, size_t to,
                        unsigned slot)
{
    redis_execute(cluster->servers[to], "CLUSTER SETSLOT %u IMPORTING %s", slot,
                  cluster->ids[from]);
    redis_execute(cluster->servers[from], "CLUSTER SETSLOT %u MIGRATING %s",
                  slot, cluster->ids[to]);
}

void cluster_slot_keys(struct cluster *cluster, size_t from, size_t to,
                       unsigned slot)
{
    redisReply *keys = server_ask(cluster->servers[from],
                                  "CLUSTER GETKEYSINSLOT %u 1000", slot);

    for (size_t i = 0; i < keys->elements; i++)
        redis_execute(cluster->servers[from], "MIGRATE %s %d %s 0 10000",
                      server_address(cluster->servers[to]),
                      (int)server_port(cluster->servers[to]),
                      keys->element[i]->str);
    freeReplyObject(keys);
}

static int64_t epoch_of(struct cluster *cluster, size_t asked)
{
    static const char field[] = "cluster_current_epoch:";
    redisReply *reply = server_ask(cluster->servers[asked], "CLUSTER INFO");
    const char *at = strstr(reply->str, field);
    const int64_t epoch =
        at != NULL ? strtoll(at + strlen(field), NULL, 10) : -1;

    freeReplyObject(reply);
    return epoch;
}

static void epoch_await(struct cluster *cluster, size_t master)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;

    while (epoch_of(cluster, master) != epoch_of(cluster, 0)) {
        if (clock_now_ms() > until_ms)
            fail_msg("the masters of the cluster do not agree");
        rest();
    }
}

/* Until each master has heard of the last change: two that make one at once
 * would believe different ones. */
static void epochs_await(struct cluster *cluster)
{
    for (size_t i = 1; i < CLUSTER_MASTERS; i++)
        epoch_await(cluster, i);
}

void cluster_slot_end(struct cluster *cluster, size_t from, size_t to,
                      unsigned slot)
{
    const size_t third = 0 + 1 + 2 - from - to; /* of the masters */

    redis_execute(cluster->servers[to], "CLUSTER SETSLOT %u NODE %s", slot,
                  cluster->ids[to]);
    redis_execute(cluster->servers[from], "CLUSTER SETSLOT %u NODE %s", slot,
                  cluster->ids[to]);
    redis_execute(cluster->servers[third], "CLUSTER SETSLOT %u NODE %s", slot,
                  cluster->ids[to]);
    epochs_await(cluster);
}
