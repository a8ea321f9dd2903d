/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on their way to a model store, and their answers. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "platform/error.h"
#include "platform/text.h"
#include "store_cell.h"
#include "world.h"

#define SITES_MAX 256

static struct site *sites[SITES_MAX];

struct link {
    struct seqb_backend base;
    struct site *site;
    int64_t epoch;
    int64_t origin; /* of the store, when it was opened */
    int32_t side;
    int32_t timeout_ms;
};

void site_add(struct site *site)
{
    int32_t i = 0;

    while (i < SITES_MAX - 1 && sites[i] != NULL)
        i++;
    if (i >= SITES_MAX - 1)
        abort();
    sites[i] = site;
    (void)text_format(site->path, sizeof site->path, "%d", (int)i);
}

void site_remove(struct site *site)
{
    sites[atoi(site->path)] = NULL;
}

static enum seqb_status unreachable(const struct site *site, const char *why,
                                    struct seqb_error *err)
{
    return error_set(err, SEQB_UNREACHABLE, "store %s: %s", site->path, why);
}

static enum seqb_status no_answer(const struct site *site,
                                  struct seqb_error *err)
{
    return error_set(err, SEQB_UNCERTAIN, "store %s: no answer", site->path);
}

/* As the SQL engines compare in each statement: a direct store is the one that
 * was opened, in the same run. */
static bool is_another(const struct link *link)
{
    const struct store *store = link->site->store;

    char run[SEQB_INCARNATION_SIZE];

    if (store->is_windowed || (store->without & STORE_ORIGIN) != 0)
        return false;
    store_incarnation(store, link->side, run, sizeof run);
    return link->origin != store_origin(store, link->side) ||
           strcmp(link->base.incarnation, run) != 0;
}

static bool is_broken(const struct link *link)
{
    const struct net_server *server = link->site->server;

    return server->is_down || link->epoch != server->epoch || is_another(link);
}

static void site_mark(struct site *site, const struct seqb_request *request)
{
    int32_t i = 0;

    while (i < site->mark_count &&
           strcmp(site->marks[i].counter, request->counter) != 0)
        i++;
    if (i == STORE_CELLS)
        return;
    if (i == site->mark_count) {
        site->mark_count++;
        (void)text_copy(site->marks[i].counter, sizeof site->marks[i].counter,
                        request->counter);
    }
    site->marks[i].value = request->block.first + request->block.count - 1;
    site->is_granted(site, request);
}

/* A command that nobody waits for any more. */
struct late {
    struct command *command;
    struct store *store;
    const struct net_server *server;
    int64_t epoch;
    int32_t side;
};

static void late_arrives(void *context)
{
    struct late *late = context;

    if (late->epoch == late->server->epoch)
        (void)command_run(late->command, late->store, late->side, NULL);
    command_free(late->command);
    free(late);
}

static void send_late(const struct link *link, const struct command *command,
                      int64_t arrives_us)
{
    struct late *late = malloc(sizeof *late);

    if (late == NULL)
        abort();
    *late = (struct late){command_copy(command), link->site->store,
                          link->site->server, link->epoch, link->side};
    world_at(arrives_us, late_arrives, late);
}

/* Waits until then; false if the connection broke meanwhile. */
static bool link_wait(const struct link *link, int64_t until_us)
{
    world_sleep_until(until_us);
    return !is_broken(link);
}

static enum seqb_status link_call(struct link *link, struct command *command,
                                  struct seqb_error *err)
{
    struct site *site = link->site;
    const int64_t until_us = world_now_us() + link->timeout_ms * MS;
    struct net_fate disposition;
    enum seqb_status status;

    if (site->is_gone || is_broken(link))
        return unreachable(site, "the connection broke", err);
    disposition = net_send(site->server, site->broker);
    if (disposition.answer_us >= until_us && command->requests != NULL)
        site->hangs(site);
    if (disposition.arrives_us >= until_us) {
        if (disposition.arrives_us != WORLD_NEVER)
            send_late(link, command, disposition.arrives_us);
        (void)link_wait(link, until_us);
        return no_answer(site, err);
    }
    if (!link_wait(link, disposition.arrives_us)) {
        command_run_undone(command, site->store, link->side);
        return no_answer(site, err);
    }
    status = command_run(command, site->store, link->side, err);
    if (!link_wait(link, disposition.answer_us < until_us
                             ? disposition.answer_us
                             : until_us))
        return no_answer(site, err);
    return disposition.answer_us < until_us ? status : no_answer(site, err);
}

/* --- the calls of an engine --- */

static const char *engine_library(void)
{
    return "model 1.0";
}

/* The way there and back in which a server tells what it is. */
static enum seqb_status site_greet(struct site *site, int32_t timeout_ms,
                                   struct seqb_error *err)
{
    const int64_t until_us = world_now_us() + timeout_ms * MS;
    const int64_t epoch = site->server->epoch;
    struct net_fate disposition;

    if (site->is_gone)
        return unreachable(site, "the broker is gone", err);
    site->tries(site);
    disposition = net_send(site->server, site->broker);
    if (!site->server->is_down) {
        world_sleep_until(disposition.answer_us < until_us
                              ? disposition.answer_us
                              : until_us);
        if (disposition.answer_us >= until_us)
            return unreachable(site, "no answer to a connection", err);
    }
    if (!site->server->is_down && site->server->epoch == epoch)
        return SEQB_OK;
    site->first_here->refused_ill = site->server->ills;
    return unreachable(site, "connection refused", err);
}

static enum seqb_status
engine_connect(const struct seqb_backend_ops *ops,
               const struct seqb_backend_options *options,
               struct seqb_backend **out, struct seqb_error *err)
{
    struct site *site = sites[atoi(options->path)];
    enum seqb_status status =
        site_greet(site, options->connect_timeout_ms, err);
    struct link *link;

    if (status != SEQB_OK)
        return status;
    link = calloc(1, sizeof *link);
    if (link == NULL)
        abort();
    link->base.ops = ops;
    link->base.fd = -1;
    link->site = site;
    link->epoch = site->server->epoch;
    link->side = (int32_t)(site->store->aside >> site->broker & 1);
    link->timeout_ms = options->timeout_ms;
    if (!store_serves(site->store, link->side)) {
        free(link);
        return error_set(err, SEQB_ROLE, "store %s: a replica", site->path);
    }
    (void)text_copy(link->base.server, sizeof link->base.server,
                    engine_library());
    if (!site->store->is_windowed)
        store_incarnation(site->store, link->side, link->base.incarnation,
                          sizeof link->base.incarnation);
    link->origin = store_origin(site->store, link->side);
    (void)text_format(link->base.origin, sizeof link->base.origin, "%lld",
                      (long long)link->origin);
    *out = &link->base;
    return SEQB_OK;
}

static enum seqb_status direct_open(const struct seqb_backend_options *options,
                                    struct seqb_backend **out,
                                    struct seqb_error *err)
{
    return engine_connect(&engine_direct, options, out, err);
}

static enum seqb_status
windowed_open(const struct seqb_backend_options *options,
              struct seqb_backend **out, struct seqb_error *err)
{
    return engine_connect(&engine_windowed, options, out, err);
}

static enum seqb_status engine_reserve(struct seqb_backend *backend,
                                       struct seqb_request *requests, size_t n,
                                       struct seqb_error *err)
{
    struct command command = {.requests = requests, .n = n};
    struct seqb_error why;
    enum seqb_status status;

    for (size_t i = 0; i < n; i++)
        requests[i].status = SEQB_UNCERTAIN;
    status = link_call((struct link *)backend, &command, &why);

    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        if (requests[i].status == SEQB_OK)
            site_mark(((struct link *)backend)->site, &requests[i]);
    }
    return status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}

static enum seqb_status engine_raise(struct seqb_backend *backend,
                                     const struct seqb_raise *raise,
                                     int64_t *out, struct seqb_error *err)
{
    struct command command = {.raise = raise, .out = out};

    return link_call((struct link *)backend, &command, err);
}

static enum seqb_status engine_install(struct seqb_backend *backend,
                                       const struct seqb_window *window,
                                       int64_t *standing,
                                       struct seqb_error *err)
{
    struct command command = {.window = window, .out = standing};

    return link_call((struct link *)backend, &command, err);
}

static enum seqb_status engine_claim(struct seqb_backend *backend,
                                     const char *name, const char *text,
                                     char *standing, size_t size,
                                     struct seqb_error *err)
{
    struct command command = {
        .name = name, .text = text, .standing = standing, .size = size};

    return link_call((struct link *)backend, &command, err);
}

static enum seqb_status engine_swap(struct seqb_backend *backend,
                                    const struct seqb_swap *swap,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    struct command command = {.swap = swap, .standing = standing, .size = size};

    return link_call((struct link *)backend, &command, err);
}

static enum seqb_status engine_purge(struct seqb_backend *backend,
                                     const struct seqb_purge *purge,
                                     int32_t *deleted, struct seqb_error *err)
{
    struct command command = {.purge = purge, .deleted = deleted};

    return link_call((struct link *)backend, &command, err);
}

static enum seqb_status engine_list(struct seqb_backend *backend,
                                    struct seqb_page *page,
                                    struct seqb_error *err)
{
    struct command command = {.page = page};

    return link_call((struct link *)backend, &command, err);
}

static enum seqb_status engine_clock(struct seqb_backend *backend,
                                     int64_t *out_ms, struct seqb_error *err)
{
    struct command command = {.clock_ms = out_ms};

    return link_call((struct link *)backend, &command, err);
}

static void engine_close(struct seqb_backend *backend)
{
    free(backend);
}

const struct seqb_backend_ops engine_direct = {
    .engine = "direct",
    .guarantee = SEQB_DIRECT,
    .library = engine_library,
    .open = direct_open,
    .reserve = engine_reserve,
    .raise = engine_raise,
    .install = engine_install,
    .claim = engine_claim,
    .swap = engine_swap,
    .purge = engine_purge,
    .list = engine_list,
    .clock = engine_clock,
    .close = engine_close,
};

const struct seqb_backend_ops engine_windowed = {
    .engine = "windowed",
    .guarantee = SEQB_WINDOWED,
    .library = engine_library,
    .open = windowed_open,
    .reserve = engine_reserve,
    .raise = engine_raise,
    .install = engine_install,
    .claim = engine_claim,
    .clock = engine_clock,
    .close = engine_close,
};
