/* SPDX-License-Identifier: Apache-2.0 */
/* Which backends are on one server, and when to try to connect to it again. */
#include "store/endpoint.h"

#include <string.h>

#include "platform/text.h"

int64_t endpoint_gate_enter(struct endpoint_gate *gate, int64_t now_ms)
{
    if (gate->is_down && now_ms < gate->next_ms)
        return gate->next_ms;
    gate->next_ms = now_ms + ENDPOINT_ATTEMPT_MS;
    return 0;
}

/* mysql-row and mysql-autoinc use the same kind of server: only the part before
 * the '-' counts. */
static int engine_family(const char *engine)
{
    return (int)strcspn(engine, "-");
}

void endpoint_address(const struct store_options *options, char *out,
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
    else if (from->endpoints != NULL && from->endpoints[0] != NULL)
        (void)text_format(out, size, "%.*s:%s", family, engine,
                          from->endpoints[0]);
    else if (from->socket_path != NULL)
        (void)text_format(out, size, "%.*s:%s", family, engine,
                          from->socket_path);
    else if (from->host != NULL)
        (void)text_format(out, size, "%.*s:%s:%d", family, engine, from->host,
                          (int)from->port);
}

struct endpoint *endpoint_find(struct endpoint *endpoints, size_t *count,
                               const struct store_options *options)
{
    char address[ENDPOINT_ADDRESS_SIZE];
    struct endpoint *endpoint;

    endpoint_address(options, address, sizeof address);
    for (size_t i = 0; i < *count && address[0] != '\0'; i++) {
        if (strcmp(endpoints[i].address, address) == 0)
            return &endpoints[i];
    }
    endpoint = &endpoints[(*count)++];
    *endpoint = (struct endpoint){.address = ""};
    (void)text_copy(endpoint->address, sizeof endpoint->address, address);
    pthread_mutex_init(&endpoint->lock, NULL);
    return endpoint;
}

void endpoint_fini(struct endpoint *endpoint)
{
    pthread_mutex_destroy(&endpoint->lock);
}

int64_t endpoint_enter(struct endpoint *endpoint, int64_t now_ms)
{
    int64_t wait_ms;

    pthread_mutex_lock(&endpoint->lock);
    wait_ms = endpoint_gate_enter(&endpoint->gate, now_ms);
    pthread_mutex_unlock(&endpoint->lock);
    return wait_ms;
}

void endpoint_note(struct endpoint *endpoint, bool is_down)
{
    pthread_mutex_lock(&endpoint->lock);
    endpoint->gate.is_down = is_down;
    if (!is_down)
        endpoint->gate.next_ms = 0;
    pthread_mutex_unlock(&endpoint->lock);
}
