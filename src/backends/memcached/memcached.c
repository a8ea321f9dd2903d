/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memcached engine: windowed counters in a server that forgets everything
 * when it restarts, and any item when it needs the memory. Each counter is one
 * item. A missing item is the fence, so only install creates an item. reserve.c
 * has the reservation, claim.c the claims, cell.c how an item counts, link.c
 * the connection. Windows are leased in ha/.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/memcached/item.h"
#include "platform/error.h"
#include "platform/text.h"

#define DEFAULT_PREFIX "seqbroker"

static const char *memcached_library(void)
{
    return "memcached meta client, built in";
}

/* --- raise --- */

/* Drops the item without comparing its version: dropping a cell is always safe,
 * and a cell that is in use would never have the version that was read. */
static enum seqb_status cell_drop(struct memcached *mc,
                                  const struct memcached_key *key,
                                  struct seqb_error *err)
{
    struct memcached_reply reply;
    const enum seqb_status status =
        memcached_ask(mc, memcached_add_drop(mc, key), &reply, err);

    if (status != SEQB_OK)
        return status;
    if (reply.code == MEMCACHED_DONE || reply.code == MEMCACHED_ABSENT)
        return SEQB_OK;
    return memcached_unexpected(mc, key, &reply, err);
}

/* Reads the cell; SEQB_FENCED: there is none. `*cas` is its version. */
static enum seqb_status cell_read(struct memcached *mc,
                                  const struct memcached_key *key,
                                  struct memcached_cell *out, uint64_t *cas,
                                  struct seqb_error *err)
{
    struct memcached_reply reply;
    const enum seqb_status status =
        memcached_ask(mc, memcached_add_read(mc, key), &reply, err);

    if (status != SEQB_OK)
        return status;
    *cas = reply.cas;
    return memcached_answer_cell(mc, key, &reply, out, err);
}

static enum seqb_status memcached_raise(struct seqb_backend *backend,
                                        const struct seqb_raise *raise,
                                        int64_t *out, struct seqb_error *err)
{
    struct memcached *mc = memcached_of(backend);
    struct memcached_cell cell;
    struct memcached_key key;
    struct seqb_error why;
    uint64_t cas;
    enum seqb_status status;

    if (!memcached_key_make(mc->prefix, "", raise->counter, &key) ||
        raise->floor < 0)
        return error_set(err, SEQB_INVALID,
                         "%s: %.64s cannot be raised to %" PRId64,
                         mc->link.where, raise->counter, raise->floor);
    status = memcached_link_begin(&mc->link, mc->timeout_ms, &why);
    if (status == SEQB_OK)
        status = cell_read(mc, &key, &cell, &cas, &why);
    if (status != SEQB_OK && status != SEQB_FENCED)
        return error_copy(err, &why);
    if (status == SEQB_OK && cell.window > raise->floor) {
        *out = cell.window;
        return SEQB_OK;
    }
    if (status == SEQB_OK && cell_drop(mc, &key, &why) != SEQB_OK)
        return error_copy(err, &why);
    *out = raise->floor;
    return SEQB_OK;
}

/* --- install --- */

/* Whether the window may be installed. SEQB_AGAIN if so, over version `*cas` of
 * the item (0: there is none); otherwise the answer of install. */
static enum seqb_status install_read(struct memcached *mc,
                                     const struct memcached_key *key,
                                     const struct seqb_window *window,
                                     uint64_t *cas, int64_t *standing,
                                     struct seqb_error *err)
{
    struct memcached_cell found;
    struct seqb_error why;
    const enum seqb_status status = cell_read(mc, key, &found, cas, &why);

    if (status != SEQB_OK && status != SEQB_FENCED)
        return error_copy(err, &why);
    if (status == SEQB_OK && found.size != window->size)
        return memcached_resized(mc, key, err);
    if (status == SEQB_OK && found.offset < found.size &&
        found.window != window->over) {
        *standing = found.window; /* another broker was faster */
        return SEQB_OK;
    }
    if (status == SEQB_OK && found.window >= window->window) {
        *standing = found.window;
        return error_set(err, SEQB_FENCED,
                         "%s: key %s: window %" PRId64 " stands there, %" PRId64
                         " is not above it",
                         mc->link.where, key->name, found.window,
                         window->window);
    }
    if (status == SEQB_FENCED)
        *cas = 0;
    return error_set(err, SEQB_AGAIN,
                     "%s: key %s changed while window %" PRId64
                     " was to be put "
                     "there",
                     mc->link.where, key->name, window->window);
}

/* Sends the window once. SEQB_AGAIN if the server answered that it stored
 * nothing. */
static enum seqb_status install_send(struct memcached *mc,
                                     const struct memcached_key *key,
                                     const struct memcached_cell *fresh,
                                     int64_t keep_s, uint64_t cas,
                                     struct seqb_error *err)
{
    char text[MEMCACHED_CELL_TEXT_MAX + 1];
    const struct memcached_item item = {
        .text = text,
        .flags = memcached_cell_flags(fresh->size),
        .expiry = memcached_cell_expiry(keep_s,
                                        memcached_session_now_s(&mc->session)),
    };
    struct memcached_reply reply;
    enum seqb_status status;

    (void)text_format(text, sizeof text, "%" PRIu64, fresh->value);
    status = memcached_ask(mc, memcached_add_store(mc, key, &item, cas), &reply,
                           err);
    if (status != SEQB_OK)
        return status;
    switch (reply.code) {
    case MEMCACHED_DONE:
        return SEQB_OK;
    case MEMCACHED_NOT_STORED:
    case MEMCACHED_CHANGED:
    case MEMCACHED_ABSENT:
        return SEQB_AGAIN;
    default:
        return memcached_unexpected(mc, key, &reply, err);
    }
}

static enum seqb_status memcached_install(struct seqb_backend *backend,
                                          const struct seqb_window *window,
                                          int64_t *standing,
                                          struct seqb_error *err)
{
    struct memcached *mc = memcached_of(backend);
    struct memcached_cell fresh;
    struct memcached_key key;
    uint64_t cas = 0;
    enum seqb_status status;

    if (!memcached_key_make(mc->prefix, "", window->counter, &key) ||
        !memcached_cell_begin(window->window, window->size, &fresh) ||
        window->keep_s < 0)
        return error_set(err, SEQB_INVALID,
                         "%s: %.64s: no window %" PRId64 " of %" PRId64
                         " offsets, kept %" PRId64 " s",
                         mc->link.where, window->counter, window->window,
                         window->size, window->keep_s);
    if (!memcached_cell_is_guarded(window->size, mc->session.connections))
        return memcached_unguarded(mc, window->counter, window->size, err);
    status = memcached_link_begin(&mc->link, mc->timeout_ms, err);
    if (status != SEQB_OK)
        return status;
    status = install_read(mc, &key, window, &cas, standing, err);
    if (status != SEQB_AGAIN)
        return status;
    status = install_send(mc, &key, &fresh, window->keep_s, cas, err);
    if (status != SEQB_AGAIN)
        return status;
    /* The window was not stored and is not sent again. Another window is there,
     * or it is already used up or dropped: SEQB_AGAIN. */
    return install_read(mc, &key, window, &cas, standing, err);
}

/* --- clock --- */

static enum seqb_status memcached_clock(struct seqb_backend *backend,
                                        int64_t *out_ms, struct seqb_error *err)
{
    struct memcached *mc = memcached_of(backend);
    int64_t now_s;
    enum seqb_status status =
        memcached_link_begin(&mc->link, mc->timeout_ms, err);

    if (status == SEQB_OK)
        status = memcached_session_clock(&mc->link, &now_s, err);
    if (status == SEQB_OK)
        *out_ms = now_s * 1000;
    return status;
}

/* --- the description --- */

static enum seqb_status memcached_describe(struct seqb_backend *backend,
                                           struct seqb_details *out,
                                           struct seqb_error *err)
{
    const struct memcached *mc = memcached_of(backend);

    (void)err; /* the call needs no server */
    (void)text_copy(out->node, sizeof out->node, backend->domain);
    (void)text_copy(out->tls, sizeof out->tls, stream_tls(&mc->link.stream));
    return SEQB_OK;
}

/* --- open and close --- */

static void memcached_close(struct seqb_backend *backend)
{
    struct memcached *mc = memcached_of(backend);

    if (mc == NULL)
        return;
    memcached_link_close(&mc->link);
    free(mc);
}

static void base_fill(struct memcached *mc,
                      const struct seqb_backend_options *options)
{
    struct seqb_backend *base = &mc->base;

    (void)text_copy(base->origin, sizeof base->origin, mc->session.origin);
    (void)text_format(base->server, sizeof base->server, "memcached %s",
                      mc->session.version);
    (void)text_copy(base->loss, sizeof base->loss, mc->session.loss);
    if (options->socket_path != NULL)
        (void)text_copy(base->domain, sizeof base->domain,
                        options->socket_path);
    else
        (void)text_format(
            base->domain, sizeof base->domain, "%s:%d", options->host,
            options->port != 0 ? (int)options->port : MEMCACHED_PORT);
    base->fd = mc->link.stream.fd;
}

static enum seqb_status
memcached_start(struct memcached *mc,
                const struct seqb_backend_options *options,
                struct seqb_error *err)
{
    const char *prefix =
        options->prefix != NULL ? options->prefix : DEFAULT_PREFIX;
    enum seqb_status status;

    if (!text_copy(mc->prefix, sizeof mc->prefix, prefix))
        return error_set(err, SEQB_INVALID, "%s: a prefix has at most %d bytes",
                         options->name, MEMCACHED_PREFIX_SIZE - 1);
    status = memcached_session_open(&mc->link, &mc->session, options, err);
    if (status != SEQB_OK)
        return status;
    mc->timeout_ms = options->timeout_ms;
    base_fill(mc, options);
    return SEQB_OK;
}

static enum seqb_status
memcached_open(const struct seqb_backend_options *options,
               struct seqb_backend **out, struct seqb_error *err)
{
    struct memcached *mc = calloc(1, sizeof *mc);
    enum seqb_status status;

    if (mc == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory",
                         options->name);
    mc->base.ops = &backend_memcached;
    mc->base.fd = -1;
    mc->link.stream.fd = -1;
    status = memcached_start(mc, options, err);
    if (status != SEQB_OK) {
        memcached_close(&mc->base);
        return status;
    }
    *out = &mc->base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_memcached = {
    .engine = "memcached",
    .guarantee = SEQB_WINDOWED,
    .library = memcached_library,
    .open = memcached_open,
    .reserve = memcached_reserve,
    .raise = memcached_raise,
    .install = memcached_install,
    .claim = memcached_claim,
    .claim_many = memcached_claim_many,
    .describe = memcached_describe,
    .clock = memcached_clock,
    .close = memcached_close,
};
