/* SPDX-License-Identifier: Apache-2.0 */
/* See cluster.h. */
#include "backends/redis/cluster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/redis/login.h"
#include "platform/checksum.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

static int32_t rest_ms(const struct redis_cluster *cluster)
{
    const int64_t rest = cluster->deadline_ms - clock_now_ms();

    return rest > 0 ? (int32_t)rest : 0;
}

/* --- servers --- */

/* The node at that address, which is created if there is none; NULL when out of
 * memory or at CLUSTER_NODES_MAX. */
static struct redis_node *node_at(struct redis_cluster *cluster,
                                  const struct address *address, size_t *index)
{
    struct redis_node *node;

    for (*index = 0; *index < cluster->count; (*index)++) {
        node = cluster->nodes[*index];
        if (address_equal(&node->address, address))
            return node;
    }
    if (cluster->count == CLUSTER_NODES_MAX)
        return NULL;
    node = calloc(1, sizeof *node);
    if (node == NULL)
        return NULL;
    node->address = *address;
    cluster->nodes[cluster->count++] = node;
    return node;
}

/* Connects the node if necessary, and begins a call. */
static enum seqb_status node_ready(struct redis_cluster *cluster,
                                   struct redis_node *node,
                                   struct seqb_error *err)
{
    if (link_is_open(&node->link))
        return SEQB_OK;
    return session_connect(node, &cluster->options, rest_ms(cluster), err);
}

static enum seqb_status no_room(const struct redis_cluster *cluster,
                                struct seqb_error *err)
{
    return error_set(err, SEQB_NO_MEMORY,
                     "%s: out of memory, or a cluster of more than %d servers",
                     cluster->options.name, CLUSTER_NODES_MAX);
}

/* --- slots --- */

static bool is_integer(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_INTEGER;
}

/* The master of a range: [host or "", port, ...]. A server that does not know
 * its own address is the server that was asked. */
static bool master_read(const redisReply *reply, const struct address *asked,
                        struct address *out)
{
    const redisReply *host;

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2 ||
        !is_integer(reply->element[1]) || reply->element[1]->integer < 1 ||
        reply->element[1]->integer > UINT16_MAX)
        return false;
    host = reply->element[0];
    out->port = (int)reply->element[1]->integer;
    if (host->type != REDIS_REPLY_STRING || host->len == 0)
        return text_copy(out->host, sizeof out->host, asked->host);
    return strlen(host->str) == (size_t)host->len &&
           text_copy(out->host, sizeof out->host, host->str);
}

/* A range is [first, last, [master], [replica] ...]. */
static enum seqb_status range_read(struct redis_cluster *cluster,
                                   struct redis_link *link,
                                   const redisReply *range,
                                   const struct address *asked,
                                   struct seqb_error *err)
{
    struct address address;
    size_t index;

    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3 ||
        !is_integer(range->element[0]) || !is_integer(range->element[1]) ||
        range->element[0]->integer < 0 ||
        range->element[1]->integer >= REDIS_SLOTS ||
        !master_read(range->element[2], asked, &address))
        return link_distrust(link, "CLUSTER SLOTS", err);
    if (node_at(cluster, &address, &index) == NULL)
        return no_room(cluster, err);
    for (long long i = range->element[0]->integer;
         i <= range->element[1]->integer; i++)
        cluster->owner[i] = (uint16_t)(index + 1);
    return SEQB_OK;
}

enum seqb_status cluster_read_slots(struct redis_cluster *cluster,
                                    struct redis_link *link,
                                    const redisReply *reply,
                                    const struct address *asked,
                                    struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (reply->type == REDIS_REPLY_ERROR)
        return link_refuse(link, reply, err);
    if (reply->type != REDIS_REPLY_ARRAY)
        return link_distrust(link, "CLUSTER SLOTS", err);
    if (reply->elements == 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the cluster has given no slot to a server: "
                         "redis-cli --cluster create does",
                         link->where);
    for (size_t i = 0; i < reply->elements && status == SEQB_OK; i++)
        status = range_read(cluster, link, reply->element[i], asked, err);
    return status;
}

/* Asks one server for the slots, over a separate connection, because it may be
 * a replica. */
static enum seqb_status slots_ask(struct redis_cluster *cluster,
                                  const struct address *asked,
                                  int32_t budget_ms, struct seqb_error *err)
{
    const struct seqb_backend_options *options = &cluster->options;
    const struct redis_login login = {options->user, options->password};
    struct redis_link link = {.where = ""};
    redisReply *reply = NULL;
    enum seqb_status status;

    (void)text_format(link.where, sizeof link.where, "%s (redis %s:%d)",
                      options->name, asked->host, asked->port);
    status = link_connect(&link, options, asked, budget_ms, err);
    if (status == SEQB_OK &&
        (!login_append(&link, &login) ||
         !link_append(&link, (const char *[]){"CLUSTER", "SLOTS"}, 2) ||
         !link_flush(&link)))
        status = link_lose(&link, SEQB_UNREACHABLE, err);
    if (status == SEQB_OK)
        status = login_answer(&link, &login, err);
    if (status == SEQB_OK) {
        reply = link_read(&link);
        status = reply == NULL
                     ? link_lose(&link, SEQB_UNREACHABLE, err)
                     : cluster_read_slots(cluster, &link, reply, asked, err);
    }
    if (reply != NULL)
        freeReplyObject(reply);
    link_close(&link);
    return status;
}

/* --- open and close --- */

static void nodes_forget(struct redis_cluster *cluster)
{
    for (size_t i = 0; i < cluster->count; i++) {
        link_close(&cluster->nodes[i]->link);
        free(cluster->nodes[i]);
    }
    cluster->count = 0;
    memset(cluster->owner, 0, sizeof cluster->owner);
}

/* The cluster as one of its servers sees it. */
static enum seqb_status view_take(struct redis_cluster *cluster,
                                  const char *endpoint, int32_t budget_ms,
                                  struct seqb_error *err)
{
    struct address asked;
    enum seqb_status status;

    if (!address_parse(endpoint, &asked))
        return error_set(err, SEQB_INVALID, "%s: '%.80s' is no host:port",
                         cluster->options.name, endpoint);
    status = slots_ask(cluster, &asked, budget_ms, err);
    for (size_t i = 0; i < cluster->count && status == SEQB_OK; i++)
        status = node_ready(cluster, cluster->nodes[i], err);
    return status;
}

static size_t endpoints_left(const char *const *endpoint)
{
    size_t count = 0;

    while (endpoint[count] != NULL)
        count++;
    return count;
}

static enum seqb_status views_try(struct redis_cluster *cluster,
                                  struct seqb_error *err)
{
    const char *const *endpoint = cluster->options.endpoints;
    const int64_t until_ms =
        clock_now_ms() + cluster->options.connect_timeout_ms;
    enum seqb_status status = SEQB_UNREACHABLE;

    /* Asks the next server too, because a server that was disconnected may have
     * an old view. */
    for (; *endpoint != NULL &&
           (status == SEQB_UNREACHABLE || status == SEQB_ROLE);
         endpoint++) {
        const int64_t now_ms = clock_now_ms();

        nodes_forget(cluster);
        cluster->deadline_ms =
            now_ms + (until_ms - now_ms) / (int64_t)endpoints_left(endpoint);
        status = view_take(cluster, *endpoint, rest_ms(cluster), err);
    }
    return status;
}

enum seqb_status cluster_open(const struct seqb_backend_options *options,
                              struct redis_cluster **out,
                              struct seqb_error *err)
{
    struct redis_cluster *cluster = calloc(1, sizeof *cluster);

    *out = cluster;
    if (cluster == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory",
                         options->name);
    cluster->options = *options;
    cluster->nodes = calloc(CLUSTER_NODES_MAX, sizeof(struct redis_node *));
    if (cluster->nodes == NULL)
        return no_room(cluster, err);
    if (options->endpoints[0] == NULL)
        return error_set(err, SEQB_INVALID, "%s: a cluster needs a server",
                         options->name);
    return views_try(cluster, err);
}

void cluster_close(struct redis_cluster *cluster)
{
    if (cluster == NULL)
        return;
    if (cluster->nodes != NULL)
        nodes_forget(cluster);
    free(cluster->nodes);
    free(cluster);
}

void cluster_origin(const struct redis_cluster *cluster,
                    char out[static SEQB_ORIGIN_SIZE])
{
    uint64_t sum = 0; /* independent of the order of the nodes */

    for (size_t i = 0; i < cluster->count; i++) {
        const char *origin = cluster->nodes[i]->session.origin;

        sum += checksum_of(origin, strlen(origin));
    }
    (void)text_format(out, SEQB_ORIGIN_SIZE, "cluster:%zu:%016" PRIx64,
                      cluster->count, sum);
}

/* --- calls --- */

enum seqb_status cluster_begin(struct redis_cluster *cluster, int32_t budget_ms,
                               struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    cluster->deadline_ms = clock_now_ms() + budget_ms;
    for (size_t i = 0; i < cluster->count && status == SEQB_OK; i++)
        status = link_begin(&cluster->nodes[i]->link, budget_ms, err);
    return status;
}

enum seqb_status cluster_find(struct redis_cluster *cluster, const char *key,
                              struct redis_node **out, struct seqb_error *err)
{
    const uint16_t owner = cluster->owner[slot_of_key(key)];

    /* Without a known owner any server will do: it redirects, or says that
     * there is no owner. */
    *out = cluster->nodes[owner > 0 ? owner - 1 : 0];
    return node_ready(cluster, *out, err);
}

enum seqb_status cluster_follow(struct redis_cluster *cluster,
                                const struct redirection *redirection,
                                const struct redis_node *from,
                                struct redis_node **out, struct seqb_error *err)
{
    struct address address = redirection->to;
    enum seqb_status status;
    size_t index;

    if (address.host[0] == '\0')
        (void)text_copy(address.host, sizeof address.host, from->address.host);
    *out = node_at(cluster, &address, &index);
    if (*out == NULL)
        return no_room(cluster, err);
    status = node_ready(cluster, *out, err);
    if (status == SEQB_OK && !redirection->is_ask)
        cluster->owner[redirection->slot] = (uint16_t)(index + 1);
    return status;
}
