/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that take numbers in pipelines of all commands that hand them out:
 *   pipelines PATH SEED CLIENTS ROUNDS
 * The daemon at the unix socket PATH serves the sequences of `kinds`. Each
 * pipeline repeats some requests often, since alike ones are answered together,
 * and is sent in pieces. Prints:
 *   numbers   how many came, of which a text is one
 *   repeats   those that came twice
 *   wrong     answers that are no number of their sequence
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "platform/hash.h"

#define CLIENTS_MAX   16
#define REQUESTS_MAX  300
#define REPEATS_MAX   60
#define REQUEST_SIZE  64
#define PIPELINE_SIZE ((size_t)REQUESTS_MAX * REQUEST_SIZE)
#define NUMBER_MOST   1000000000000 /* what no counter of the test reaches */

struct kind {
    const char *request; /* without the count at its end */
    int counts;          /* from 1 to this; 0: it has none, and means 1 */
    bool is_run;         /* the answer is the last of `count` numbers */
    bool has_stamp;      /* comes before them */
    bool is_small;       /* numbers are below NUMBER_MOST */
    const char *key;
};

static const struct kind kinds[] = {
    {"INCR plain", 0, false, false, true, "plain"},
    {"INCRBY plain", 1, true, false, true, "plain"},
    {"INCRBY plain", 8, true, false, true, "plain"},
    {"SEQ.NEXT plain", 0, false, false, true, "plain"},
    {"SEQ.NEXT plain STR", 0, false, false, true, "plain"},
    {"SEQ.NEXT plain COUNT", 90, false, false, true, "plain"},
    {"INCR single", 0, false, false, true, "single"},
    {"INCRBY single", 1, true, false, true, "single"},
    {"SEQ.NEXT daily STAMP", 0, false, true, true, "daily"},
    {"SEQ.NEXT daily STAMP COUNT", 9, false, true, true, "daily"},
    {"INCR flake", 0, false, false, false, "flake"},
    {"INCRBY flake", 40, true, false, false, "flake"},
    {"SEQ.NEXT flake COUNT", 9, false, false, false, "flake"},
    {"SEQ.NUMBER text", 0, false, false, false, "text"},
    {"SEQ.NUMBER text COUNT", 90, false, false, false, "text"},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* A request of a pipeline. */
struct sent {
    const struct kind *kind;
    int count;
};

struct client {
    pthread_t thread;
    const char *path;
    unsigned seed;
    int rounds;
    int fd;
    redisReader *reader;
    uint64_t *marks; /* a hash of the key, the stamp and the number each */
    size_t count, capacity;
    size_t wrong;
    struct sent sent[REQUESTS_MAX];
    char bytes[PIPELINE_SIZE];
};

static int up_to(struct client *client, int most)
{
    return 1 + rand_r(&client->seed) % most;
}

/* --- what came --- */

static void came(struct client *client, const struct kind *kind,
                 const char *stamp, const char *number)
{
    uint64_t mark = hash_add(HASH_BEGIN, kind->key, strlen(kind->key) + 1);

    if (client->count == client->capacity) {
        client->capacity = 2 * client->capacity + 1024;
        client->marks =
            realloc(client->marks, client->capacity * sizeof client->marks[0]);
        if (client->marks == NULL)
            abort();
    }
    mark = hash_add(mark, stamp, strlen(stamp) + 1);
    client->marks[client->count++] = hash_add(mark, number, strlen(number));
}

static void number_came(struct client *client, const struct kind *kind,
                        const char *stamp, long long number)
{
    char text[32];

    if (number < 1 || (kind->is_small && number >= NUMBER_MOST)) {
        client->wrong++;
        return;
    }
    (void)snprintf(text, sizeof text, "%lld", number);
    came(client, kind, stamp, text);
}

static void item_came(struct client *client, const struct sent *sent,
                      const char *stamp, const redisReply *item)
{
    if (item->type == REDIS_REPLY_STRING) {
        came(client, sent->kind, stamp, item->str);
    } else if (item->type != REDIS_REPLY_INTEGER) {
        if (client->wrong++ == 0)
            (void)fprintf(stderr, "%s: %s\n", sent->kind->request,
                          item->str != NULL ? item->str : "no number");
    } else {
        const int run = sent->kind->is_run ? sent->count : 1;

        for (int i = 0; i < run; i++)
            number_came(client, sent->kind, stamp, item->integer - i);
    }
}

static void items_came(struct client *client, const struct sent *sent,
                       const char *stamp, const redisReply *reply)
{
    if (sent->kind->is_run || reply->type != REDIS_REPLY_ARRAY) {
        item_came(client, sent, stamp, reply);
        return;
    }
    if (reply->elements != (size_t)sent->count)
        client->wrong++;
    for (size_t i = 0; i < reply->elements; i++)
        item_came(client, sent, stamp, reply->element[i]);
}

static void reply_came(struct client *client, const struct sent *sent,
                       const redisReply *reply)
{
    char stamp[32] = "";

    if (!sent->kind->has_stamp || reply->type != REDIS_REPLY_ARRAY ||
        reply->elements != 2) {
        items_came(client, sent, stamp, reply);
        return;
    }
    (void)snprintf(stamp, sizeof stamp, "%lld", reply->element[0]->integer);
    items_came(client, sent, stamp, reply->element[1]);
}

/* --- a pipeline --- */

static size_t request_write(char *out, const struct sent *sent)
{
    char count[16] = "";

    if (sent->kind->counts > 0)
        (void)snprintf(count, sizeof count, " %d", sent->count);
    return (size_t)snprintf(out, REQUEST_SIZE, "%s%s\r\n", sent->kind->request,
                            count);
}

/* Returns how many requests it has. Sets `size`. */
static size_t pipeline_make(struct client *client, size_t *size)
{
    size_t count = 0;

    *size = 0;
    while (count < REQUESTS_MAX) {
        const struct kind *kind = &kinds[up_to(client, (int)KINDS) - 1];
        const struct sent sent = {
            kind, kind->counts == 0 ? 1 : up_to(client, kind->counts)};
        const int repeats = up_to(client, REPEATS_MAX);

        for (int i = 0; i < repeats && count < REQUESTS_MAX; i++) {
            client->sent[count++] = sent;
            *size += request_write(client->bytes + *size, &sent);
        }
    }
    return count;
}

static void pipeline_send(struct client *client, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const size_t left = size - sent;
        const size_t piece = (size_t)up_to(client, (int)PIPELINE_SIZE);
        const ssize_t done = send(client->fd, client->bytes + sent,
                                  piece < left ? piece : left, MSG_NOSIGNAL);

        if (done <= 0)
            exit(1);
        sent += (size_t)done;
    }
}

static void pipeline_hear(struct client *client, size_t count)
{
    char bytes[65536];

    for (size_t i = 0; i < count;) {
        void *reply = NULL;

        if (redisReaderGetReply(client->reader, &reply) != REDIS_OK)
            exit(1);
        if (reply == NULL) {
            const ssize_t got = recv(client->fd, bytes, sizeof bytes, 0);

            if (got <= 0)
                exit(1);
            (void)redisReaderFeed(client->reader, bytes, (size_t)got);
            continue;
        }
        reply_came(client, &client->sent[i++], reply);
        freeReplyObject(reply);
    }
}

static void *client_run(void *argument)
{
    struct client *client = argument;
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    (void)snprintf(to.sun_path, sizeof to.sun_path, "%s", client->path);
    client->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    client->reader = redisReaderCreate();
    if (connect(client->fd, (struct sockaddr *)&to, sizeof to) != 0)
        exit(1);
    for (int i = 0; i < client->rounds; i++) {
        size_t size;
        const size_t count = pipeline_make(client, &size);

        pipeline_send(client, size);
        pipeline_hear(client, count);
    }
    redisReaderFree(client->reader);
    (void)close(client->fd);
    return NULL;
}

/* --- all --- */

static int by_value(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t other = *(const uint64_t *)b;

    return (one > other) - (one < other);
}

static void tell(struct client *clients, int count)
{
    struct client all = {.count = 0};
    size_t repeats = 0;

    for (int i = 0; i < count; i++) {
        all.wrong += clients[i].wrong;
        all.marks = realloc(all.marks, (all.count + clients[i].count + 1) *
                                           sizeof all.marks[0]);
        if (all.marks == NULL)
            abort();
        memcpy(all.marks + all.count, clients[i].marks,
               clients[i].count * sizeof all.marks[0]);
        all.count += clients[i].count;
        free(clients[i].marks);
    }
    qsort(all.marks, all.count, sizeof all.marks[0], by_value);
    for (size_t i = 1; i < all.count; i++)
        repeats += all.marks[i] == all.marks[i - 1];
    free(all.marks);
    (void)printf("numbers %zu\nrepeats %zu\nwrong %zu\n", all.count, repeats,
                 all.wrong);
}

int main(int argc, char **argv)
{
    const int count = argc == 5 ? atoi(argv[3]) : 0;
    struct client *clients = calloc(CLIENTS_MAX, sizeof *clients);

    if (count < 1 || count > CLIENTS_MAX || clients == NULL)
        return 2;
    for (int i = 0; i < count; i++) {
        clients[i].path = argv[1];
        clients[i].seed = (unsigned)atoi(argv[2]) + (unsigned)i;
        clients[i].rounds = atoi(argv[4]);
        if (pthread_create(&clients[i].thread, NULL, client_run, &clients[i]) !=
            0)
            return 1;
    }
    for (int i = 0; i < count; i++)
        (void)pthread_join(clients[i].thread, NULL);
    tell(clients, count);
    free(clients);
    return 0;
}
