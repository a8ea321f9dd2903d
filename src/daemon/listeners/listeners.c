/* SPDX-License-Identifier: Apache-2.0 */
/* Inherited sockets and those of the options; see listeners.h. */
#include "daemon/listeners/listeners.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

static struct listener *listeners_add(struct listeners *listeners)
{
    struct listener *listener = &listeners->all[listeners->count++];

    *listener = (struct listener){.fd = -1};
    return listener;
}

static bool folder_is_there(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_SIZE];

    if (slash == NULL || slash == path)
        return true;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return access(folder, F_OK) == 0;
}

/* Opens the unix sockets that are not open yet. `later`: skips those whose
 * folder does not exist yet. */
static enum seqb_status
listeners_take_sockets(struct listeners *listeners,
                       const struct listeners_options *options, bool later,
                       struct seqb_error *err)
{
    for (size_t i = 0; i < options->socket_count; i++) {
        if (listeners->has_socket[i] ||
            (later && !folder_is_there(options->sockets[i])))
            continue;
        if (listener_open_local(listeners_add(listeners), options->sockets[i],
                                &options->rights, err) != SEQB_OK)
            return err->status;
        listeners->has_socket[i] = true;
    }
    return SEQB_OK;
}

static enum seqb_status listeners_adopt(struct listeners *listeners,
                                        const struct listeners_options *options,
                                        const struct inherited *inherited,
                                        struct seqb_error *err)
{
    const size_t opened =
        (inherited_has(inherited, INHERITED_TCP) ? 0 : options->listen_count) +
        (inherited_has(inherited, INHERITED_TLS) ? 0
                                                 : options->tls_listen_count) +
        (inherited_has(inherited, INHERITED_LOCAL) ? 0 : options->socket_count);

    for (size_t i = 0; i < inherited->count; i++) {
        if (inherited->sockets[i].kind >= INHERITED_HTTP)
            continue;
        if (listeners->count + opened == SERVER_LISTENERS_MAX) {
            snprintf(err->text, sizeof err->text,
                     "there are more than %d sockets to listen on, those of "
                     "$LISTEN_FDS included",
                     SERVER_LISTENERS_MAX);
            err->status = SEQB_INVALID;
            return err->status;
        }
        listener_adopt(listeners_add(listeners), &inherited->sockets[i]);
    }
    return SEQB_OK;
}

static enum seqb_status
listeners_take_tls(struct listeners *listeners,
                   const struct listeners_options *options,
                   struct seqb_error *err)
{
    for (size_t i = 0; i < options->tls_listen_count; i++) {
        struct listener *listener = listeners_add(listeners);

        listener->is_tls = true;
        if (listener_open_tcp(listener, options->tls_listen[i], err) != SEQB_OK)
            return err->status;
    }
    return SEQB_OK;
}

enum seqb_status listeners_take(struct listeners *listeners,
                                const struct listeners_options *options,
                                const struct inherited *inherited,
                                struct seqb_error *err)
{
    if (listeners_adopt(listeners, options, inherited, err) != SEQB_OK)
        return err->status;
    if (!inherited_has(inherited, INHERITED_TCP)) {
        for (size_t i = 0; i < options->listen_count; i++)
            if (listener_open_tcp(listeners_add(listeners), options->listen[i],
                                  err) != SEQB_OK)
                return err->status;
    }
    if (!inherited_has(inherited, INHERITED_TLS) &&
        listeners_take_tls(listeners, options, err) != SEQB_OK)
        return err->status;
    if (inherited_has(inherited, INHERITED_LOCAL)) {
        memset(listeners->has_socket, true, sizeof listeners->has_socket);
        return SEQB_OK;
    }
    return listeners_take_sockets(listeners, options, true, err);
}

enum seqb_status listeners_check_guard(const struct listeners *listeners,
                                       struct seqb_error *err)
{
    for (size_t i = 0; i < listeners->count; i++)
        if (listener_check_guard(&listeners->all[i], err) != SEQB_OK)
            return err->status;
    return SEQB_OK;
}

static void places_name(char *out, const struct listeners *listeners,
                        enum inherited_kind kind)
{
    size_t used = 0;

    snprintf(out, SERVER_PLACES_SIZE, "none");
    for (size_t i = 0; i < listeners->count; i++) {
        const struct listener *listener = &listeners->all[i];

        if (listener_kind(listener) == kind && used < SERVER_PLACES_SIZE)
            used +=
                (size_t)snprintf(out + used, SERVER_PLACES_SIZE - used, "%s%s",
                                 used > 0 ? "," : "", listener->name);
    }
}

enum seqb_status listeners_start(struct listeners *listeners,
                                 const struct listeners_options *options,
                                 struct seqb_error *err)
{
    if (listeners_take_sockets(listeners, options, false, err) != SEQB_OK)
        return err->status;
    for (size_t i = 0; i < listeners->count; i++)
        if (listener_start(&listeners->all[i], err) != SEQB_OK)
            return err->status;
    places_name(listeners->addresses, listeners, INHERITED_TCP);
    places_name(listeners->tls_addresses, listeners, INHERITED_TLS);
    places_name(listeners->sockets, listeners, INHERITED_LOCAL);
    return SEQB_OK;
}

static void listener_watch(struct listener *listener, bool wanted)
{
    if (listener->event == NULL)
        return;
    if (wanted)
        event_add(listener->event, NULL);
    else
        event_del(listener->event);
}

void listeners_watch(struct listeners *listeners, bool wanted)
{
    for (size_t i = 0; i < listeners->count; i++)
        listener_watch(&listeners->all[i], wanted);
}

void listeners_watch_tls(struct listeners *listeners, bool wanted)
{
    for (size_t i = 0; i < listeners->count; i++)
        if (listeners->all[i].is_tls)
            listener_watch(&listeners->all[i], wanted);
}

bool listeners_have_tls(const struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        if (listeners->all[i].is_tls)
            return true;
    return false;
}

const struct listener *listeners_find(const struct listeners *listeners, int fd)
{
    size_t i = 0;

    while (listeners->all[i].fd != fd)
        i++;
    return &listeners->all[i];
}

int listeners_port(const struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        if (!listeners->all[i].is_local)
            return listener_port(&listeners->all[i]);
    return 0;
}

void listeners_release(struct listeners *listeners, struct inherited *out)
{
    for (size_t i = 0; i < listeners->count; i++) {
        const struct inherited_socket socket =
            listener_release(&listeners->all[i]);

        if (!inherited_add(out, &socket))
            close(socket.fd);
    }
    listeners->count = 0;
}

void listeners_close(struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        listener_close(&listeners->all[i]);
    listeners->count = 0;
}
