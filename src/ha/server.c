/* SPDX-License-Identifier: Apache-2.0 */
/* Which backends are one server, and when it may be tried again. */
#include "ha/server.h"

#include <string.h>

#include "platform/text.h"

int64_t server_gate_enter(struct server_gate *gate, int64_t now_ms)
{
    if (gate->is_down && now_ms < gate->next_ms)
        return gate->next_ms;
    gate->next_ms = now_ms + SERVER_ATTEMPT_MS;
    return 0;
}

/* mysql-row and mysql-autoinc are one kind of server. */
static int engine_family(const char *engine)
{
    return (int)strcspn(engine, "-");
}

void server_address(const struct ha_backend_options *options, char *out,
                    size_t size)
{
    const struct seqb_backend_options *from = &options->options;
    const char *engine = options->ops->engine;
    const int family = engine_family(engine);

    out[0] = '\0';
    if (from->sentinels != NULL && from->sentinels[0] != NULL)
        (void)text_format(out, size, "%.*s:%s@%s", family, engine,
                          from->master_name != NULL ? from->master_name : "",
                          from->sentinels[0]);
    else if (from->socket_path != NULL)
        (void)text_format(out, size, "%.*s:%s", family, engine,
                          from->socket_path);
    else if (from->host != NULL)
        (void)text_format(out, size, "%.*s:%s:%d", family, engine, from->host,
                          (int)from->port);
}

struct server *server_find(struct server *servers, size_t *count,
                           const struct ha_backend_options *options)
{
    char address[SERVER_ADDRESS_SIZE];
    struct server *server;

    server_address(options, address, sizeof address);
    for (size_t i = 0; i < *count && address[0] != '\0'; i++) {
        if (strcmp(servers[i].address, address) == 0)
            return &servers[i];
    }
    server = &servers[(*count)++];
    *server = (struct server){.first = NULL};
    (void)text_copy(server->address, sizeof server->address, address);
    pthread_mutex_init(&server->lock, NULL);
    return server;
}

void server_fini(struct server *server)
{
    pthread_mutex_destroy(&server->lock);
}

int64_t server_enter(struct server *server, int64_t now_ms)
{
    int64_t wait_ms;

    pthread_mutex_lock(&server->lock);
    wait_ms = server_gate_enter(&server->gate, now_ms);
    pthread_mutex_unlock(&server->lock);
    return wait_ms;
}

void server_note(struct server *server, bool is_down)
{
    pthread_mutex_lock(&server->lock);
    server->gate.is_down = is_down;
    if (!is_down)
        server->gate.next_ms = 0;
    pthread_mutex_unlock(&server->lock);
}
