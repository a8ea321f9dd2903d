/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the addresses; see addresses.h. server.c listens at them. */
#include "daemon/addresses.h"

#include <stdio.h>

#include "daemon/server.h"

/* Opens TLS if a socket needs it. */
static enum seqb_status tls_open(struct server *server, struct seqb_error *err)
{
    if (!listeners_have_tls(&server->listeners) &&
        !inherited_replaces(&server->inherited, INHERITED_HTTPS) &&
        server->options.https_count == 0)
        return SEQB_OK;
    if (tls_server_open(&server->options.tls, server->base, &server->daemon,
                        &server->tls, err) != SEQB_OK)
        return err->status;
    server->handshakes =
        handshakes_new(server->tls, &server->connections, &server->listeners);
    if (server->handshakes != NULL)
        return SEQB_OK;
    snprintf(err->text, sizeof err->text, "cannot start: tls: out of memory");
    err->status = SEQB_NO_MEMORY;
    return err->status;
}

static enum seqb_status web_open(struct server *server, struct seqb_error *err)
{
    const struct http_places places = {
        .inherited = &server->inherited,
        .addresses = server->options.http,
        .count = server->options.http_count,
        .tls_addresses = server->options.https,
        .tls_count = server->options.https_count,
        .tls = server->tls,
    };

    return http_open(&server->daemon, server->base, &places, &server->http,
                     err);
}

enum seqb_status addresses_take(struct server *server, struct seqb_error *err)
{
    struct access *access = &server->daemon.access;

    if (inherited_read(&server->inherited, err) != SEQB_OK ||
        listeners_take(&server->listeners, &server->options.places,
                       &server->inherited, err) != SEQB_OK)
        return err->status;
    access->is_public =
        listeners_check_guard(&server->listeners, err) != SEQB_OK;
    if (access->is_public && !access_has_guard(access))
        return err->status;
    server->daemon.tcp_port = listeners_port(&server->listeners);
    if (tls_open(server, err) != SEQB_OK || web_open(server, err) != SEQB_OK ||
        listeners_take_local(&server->listeners, &server->options.places,
                             err) != SEQB_OK)
        return err->status;
    listeners_leave(&server->listeners, &server->inherited);
    return SEQB_OK;
}

enum seqb_status addresses_check(const struct server_options *options,
                                 struct seqb_error *err)
{
    const struct listeners_options *places = &options->places;
    const struct access access = {.is_open_to_all = options->is_open_to_all};
    static const struct listeners none;
    struct places_known known = {.count = 0};

    if (places_check(places->listen, places->listen_count, &known, err) !=
            SEQB_OK ||
        places_check(places->tls_listen, places->tls_listen_count, &known,
                     err) != SEQB_OK ||
        places_check(options->http, options->http_count, &known, err) !=
            SEQB_OK ||
        places_check(options->https, options->https_count, &known, err) !=
            SEQB_OK)
        return err->status;
    if (known.public_place != NULL &&
        !access_would_have_guard(&access, options->users))
        return address_lacks_guard(known.public_place, err);
    if (listeners_check_local(&none, places, err) != SEQB_OK)
        return err->status;
    return listeners_check_files(places, err);
}
