/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the answer to CLUSTER SLOTS, or as an error reply that
 * redirects. What must hold: each slot's server is one of those that were
 * named, and each of them can be connected to; a refusal has a status and a
 * text. Nothing is connected to: an answer may name any server.
 */
#include "backends/redis/cluster.h"
#include "fuzz/fuzz.h"

static const struct address asked = {"127.0.0.1", 6379};

static void check_address(const struct address *address)
{
    require(memchr(address->host, '\0', sizeof address->host) != NULL);
    require(address->host[0] != '\0');
    require(address->port >= 1 && address->port <= 65535);
}

static void check_nodes(const struct redis_cluster *cluster)
{
    require(cluster->count <= CLUSTER_NODES_MAX);
    for (size_t i = 0; i < cluster->count; i++) {
        check_address(&cluster->nodes[i]->address);
        for (size_t j = 0; j < i; j++)
            require(!address_equal(&cluster->nodes[i]->address,
                                   &cluster->nodes[j]->address));
    }
    for (size_t i = 0; i < REDIS_SLOTS; i++)
        require(cluster->owner[i] <= cluster->count);
}

static void check_slots(const redisReply *reply)
{
    struct redis_cluster *cluster = calloc(1, sizeof *cluster);
    struct redis_link link = {.where = "a (redis 127.0.0.1:6379)"};
    struct seqb_error err = {.status = SEQB_OK};

    require(cluster != NULL);
    cluster->options.name = "a";
    cluster->nodes = calloc(CLUSTER_NODES_MAX, sizeof(struct redis_node *));
    require(cluster->nodes != NULL);
    if (cluster_read_slots(cluster, &link, reply, &asked, &err) == SEQB_OK)
        require(cluster->count > 0);
    else
        require(err.status != SEQB_OK && err.text[0] != '\0');
    check_nodes(cluster);
    cluster_close(cluster);
}

static void check_redirection(const char *text)
{
    struct redirection redirection;

    if (!redirection_parse(text, &redirection))
        return;
    require(redirection.slot < REDIS_SLOTS);
    if (redirection.to.host[0] == '\0')
        (void)text_copy(redirection.to.host, sizeof redirection.to.host, "a");
    check_address(&redirection.to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    redisReader *reader = redisReaderCreate();
    struct reader bound;
    void *reply = NULL;

    require(reader != NULL);
    reader_bound(&bound, reader, LINK_ELEMENTS_MAX);
    if (redisReaderFeed(reader, (const char *)data, size) == REDIS_OK &&
        redisReaderGetReply(reader, &reply) == REDIS_OK && reply != NULL) {
        check_slots(reply);
        if (((const redisReply *)reply)->type == REDIS_REPLY_ERROR)
            check_redirection(((const redisReply *)reply)->str);
        freeReplyObject(reply);
    }
    redisReaderFree(reader);
    return 0;
}
