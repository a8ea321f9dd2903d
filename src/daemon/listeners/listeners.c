/* SPDX-License-Identifier: Apache-2.0 */
/* Inherited sockets and those of the options; see listeners.h. */
#include "daemon/listeners/listeners.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqbroker/admin.h>

/* NULL, with the reason, if there are too many. */
static struct listener *listeners_add(struct listeners *listeners,
                                      struct seqb_error *err)
{
    struct listener *listener = &listeners->all[listeners->count];

    if (listeners->count == SERVER_LISTENERS_MAX) {
        snprintf(err->text, sizeof err->text,
                 "there are more than %d sockets to listen on, those of "
                 "$LISTEN_FDS included",
                 SERVER_LISTENERS_MAX);
        err->status = SEQB_INVALID;
        return NULL;
    }
    listeners->count++;
    *listener = (struct listener){.fd = -1};
    return listener;
}

/* The inherited sockets of clients of unix sockets. */
static enum seqb_status
listeners_adopt_sockets(struct listeners *listeners,
                        const struct listeners_options *options,
                        struct inherited *inherited, struct seqb_error *err)
{
    const struct listener_places places = {INHERITED_LOCAL, options->sockets,
                                           options->socket_count,
                                           SERVER_LISTENERS_MAX};
    struct inherited_socket *found[PLACES_MAX] = {NULL};

    if (inherited_replaces(inherited, INHERITED_LOCAL)) {
        memset(listeners->has_socket, true, sizeof listeners->has_socket);
        return places_adopt(&places, inherited, listeners->all,
                            &listeners->count, err);
    }
    places_match(&places, inherited, found);
    for (size_t i = 0; i < options->socket_count; i++) {
        struct listener *listener;

        if (found[i] == NULL)
            continue;
        listener = listeners_add(listeners, err);
        if (listener == NULL)
            return err->status;
        listener_adopt(listener, found[i]);
        listeners->has_socket[i] = true;
        if (listener_set_rights(listener, &options->rights, err) != SEQB_OK)
            return err->status;
    }
    return SEQB_OK;
}

/* Takes the sockets of a kind that has addresses. */
static enum seqb_status listeners_take_kind(struct listeners *listeners,
                                            struct listener_places places,
                                            struct inherited *inherited,
                                            struct seqb_error *err)
{
    size_t count = 0;
    enum seqb_status status;

    places.room = SERVER_LISTENERS_MAX - listeners->count;
    status = places_take(&places, inherited, &listeners->all[listeners->count],
                         &count, err);
    listeners->count += count;
    return status;
}

enum seqb_status listeners_take(struct listeners *listeners,
                                const struct listeners_options *options,
                                struct inherited *inherited,
                                struct seqb_error *err)
{
    const struct listener_places plain = {INHERITED_TCP, options->listen,
                                          options->listen_count, 0};
    const struct listener_places tls = {INHERITED_TLS, options->tls_listen,
                                        options->tls_listen_count, 0};

    if (listeners_adopt_sockets(listeners, options, inherited, err) !=
            SEQB_OK ||
        listeners_take_kind(listeners, plain, inherited, err) != SEQB_OK)
        return err->status;
    return listeners_take_kind(listeners, tls, inherited, err);
}

static enum seqb_status path_check_once(const struct listeners_options *options,
                                        size_t i, struct seqb_error *err)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(options->sockets[i], options->sockets[j]) != 0)
            continue;
        snprintf(err->text, sizeof err->text,
                 "cannot listen on %s: the topology or an option has it "
                 "already; choose another path",
                 options->sockets[i]);
        err->status = SEQB_INVALID;
        return SEQB_INVALID;
    }
    return SEQB_OK;
}

enum seqb_status listeners_check_local(const struct listeners *listeners,
                                       const struct listeners_options *options,
                                       struct seqb_error *err)
{
    for (size_t i = 0; i < options->socket_count; i++)
        if (!listeners->has_socket[i] &&
            (path_check_once(options, i, err) != SEQB_OK ||
             listener_check_local(options->sockets[i], &options->rights, err) !=
                 SEQB_OK))
            return err->status;
    return SEQB_OK;
}

/* Whether this user may not look at the path. The daemon's user may be another
 * one. */
static bool is_hidden(const char *path)
{
    struct stat found;

    return lstat(path, &found) != 0 && errno == EACCES;
}

/* Whether the folder may be the state directory, which is not there yet. Paths
 * of which only one is absolute cannot be compared. */
static bool folder_may_be_made(const char *folder, const char *state_dir)
{
    struct stat found;

    return stat(state_dir, &found) != 0 &&
           ((folder[0] == '/') != (state_dir[0] == '/') ||
            strncmp(folder, state_dir, strlen(state_dir)) == 0);
}

static enum seqb_status folder_check(const char *path, const char *state_dir,
                                     struct seqb_error *err)
{
    const char *slash = strrchr(path, '/');
    struct stat found;
    char folder[ADDRESS_SIZE];

    if (slash == NULL || slash == path)
        return SEQB_OK;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    if (stat(folder, &found) == 0 || folder_may_be_made(folder, state_dir))
        return SEQB_OK;
    snprintf(err->text, sizeof err->text,
             "cannot listen on %s: there is no folder %s: make it, or choose "
             "another path with --socket PATH",
             path, folder);
    err->status = SEQB_INVALID;
    return SEQB_INVALID;
}

enum seqb_status listeners_check_files(const struct listeners_options *options,
                                       struct seqb_error *err)
{
    for (size_t i = 0; i < options->socket_count; i++) {
        const char *path = options->sockets[i];
        bool is_there;

        if (!is_hidden(path) &&
            (listener_check_file(path, &is_there, err) != SEQB_OK ||
             folder_check(path, options->state_dir, err) != SEQB_OK))
            return err->status;
    }
    return SEQB_OK;
}

enum seqb_status listeners_take_local(struct listeners *listeners,
                                      const struct listeners_options *options,
                                      struct seqb_error *err)
{
    if (listeners_check_local(listeners, options, err) != SEQB_OK ||
        seqb_make_state_dir(options->state_dir, err) != SEQB_OK)
        return err->status;
    for (size_t i = 0; i < options->socket_count; i++) {
        struct listener *listener;

        if (listeners->has_socket[i])
            continue;
        listener = listeners_add(listeners, err);
        if (listener == NULL ||
            listener_open_local(listener, options->sockets[i], &options->rights,
                                err) != SEQB_OK)
            return err->status;
    }
    return SEQB_OK;
}

static bool listeners_have_path(const struct listeners *listeners,
                                const char *path)
{
    for (size_t i = 0; i < listeners->count; i++)
        if (listeners->all[i].is_local &&
            strcmp(listeners->all[i].name, path) == 0)
            return true;
    return false;
}

void listeners_leave(struct listeners *listeners, struct inherited *inherited)
{
    for (size_t i = 0; i < inherited->count; i++) {
        struct inherited_socket *socket = &inherited->sockets[i];
        struct listener *left;

        if (socket->is_taken)
            continue;
        if (socket->kind >= INHERITED_HTTP) {
            close(socket->fd);
            continue;
        }
        left = &listeners->left[listeners->left_count++];
        *left = (struct listener){.fd = -1};
        listener_adopt(left, socket);
        /* The file is that of the socket that was opened again. */
        if (listeners_have_path(listeners, left->name))
            left->is_own = false;
    }
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
                                 struct seqb_error *err)
{
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

void listeners_lend(const struct listeners *listeners, struct inherited *out)
{
    for (size_t i = 0; i < listeners->count; i++) {
        const struct inherited_socket socket =
            listener_socket(&listeners->all[i]);

        (void)inherited_add(out, &socket); /* INHERITED_MAX includes all */
    }
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

void listeners_close_left(struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->left_count; i++)
        listener_close(&listeners->left[i]);
    listeners->left_count = 0;
}

void listeners_close(struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        listener_close(&listeners->all[i]);
    listeners->count = 0;
    listeners_close_left(listeners);
}
