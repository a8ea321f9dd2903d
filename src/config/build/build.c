/* SPDX-License-Identifier: Apache-2.0 */
/* Builds backends, pools and sequences from their drafts. Names become indexes,
 * and template texts become templates. */
#include "config/build/build.h"

#include <string.h>

#include "config/settings/settings.h"
#include "number/number.h"
#include "platform/error.h"

/* In the state directory. */
#define SPOOL_FILE   "spool"
#define RAISED_FILE  "raised"
#define GRANTED_FILE "granted"

static void build_pool(const struct build *build, const struct draft_pool *pool,
                       struct ha_pool_options *out)
{
    struct layout *layout = &out->layout;

    layout->name = pool->name.text;
    layout->generation = (int32_t)pool->generation.number;
    layout->bits = draft_partition_bits(pool->partitions.count);
    for (size_t i = 0; i < pool->partitions.count; i++)
        layout->partitions[i] =
            draft_find_backend(build->draft, pool->partitions.names[i]);
    layout->authority =
        draft_find_backend(build->draft, draft_pool_authority(pool));
    layout->neighbours = draft_pool_has_neighbours(pool);
    layout->window_bits = draft_window_bits(build->draft, pool);
    layout->all_windowed = draft_pool_is_all_windowed(pool);
    out->timeout_ms = (int32_t)pool->timeout.number;
    out->slow_count = (int32_t)pool->slow_count.number;
    out->slow_window_ms = (int32_t)pool->slow_window.number;
    out->rescue = strcmp(pool->rescue.text, "fixed") == 0 ? HA_RESCUE_FIXED
                                                          : HA_RESCUE_BACKOFF;
    out->rescue_after_ms = (int32_t)pool->rescue_after.number;
    out->check_interval_ms = (int32_t)pool->check_interval.number;
    out->layout.failover_gap = pool->failover_gap.number;
}

static bool stands_in(const struct ha_pool_options *pool, int32_t backend)
{
    for (int32_t i = 0; i < 1 << pool->layout.bits; i++) {
        if (pool->layout.partitions[i] == backend)
            return true;
    }
    return false;
}

/* The time-out of the pool that has the backend as a partition. If it is only
 * an authority, the longest time-out of the pools that it serves. */
static int32_t timeout_ms(const struct ha_pool_options *pools, size_t count,
                          int32_t backend)
{
    int32_t most = 1;

    for (size_t i = 0; i < count; i++) {
        if (stands_in(&pools[i], backend))
            return pools[i].timeout_ms;
        if (pools[i].layout.authority == backend && pools[i].timeout_ms > most)
            most = pools[i].timeout_ms;
    }
    return most;
}

/* The path of a file, relative to the topology's folder; NULL if not set. */
static const char *beside(const struct build *build,
                          const struct draft_text *file)
{
    return file->text == NULL
               ? NULL
               : path_join(build->arena, build->folder, file->text);
}

static void build_server(const struct build *build,
                         const struct draft_backend *backend,
                         struct seqb_backend_options *out)
{
    const bool has_host =
        backend->socket.text == NULL && backend->conninfo.text == NULL &&
        backend->sentinels.count == 0 && backend->cluster.count == 0 &&
        backend->endpoints.count == 0 && backend->hosts.count == 0;

    out->host = has_host ? backend->host.text : NULL;
    if (has_host)
        out->port = draft_backend_port(backend);
    out->socket_path = backend->socket.text;
    out->conninfo = backend->conninfo.text;
    out->user = backend->user.text;
    out->database = backend->database.text;
    out->prefix = backend->prefix.text;
    out->password = secret_password(build, backend);
    secret_check(build, backend);
}

/* A copy of the list, ended by NULL. */
static const char *const *build_addresses(const struct build *build,
                                          const struct draft_names *names)
{
    const char **out = arena_take(build->arena, names->count + 1, sizeof *out);

    for (size_t i = 0; out != NULL && i < names->count; i++)
        out[i] = names->names[i];
    return out;
}

static enum seqb_tls build_tls(const char *choice)
{
    if (strcmp(choice, "verify") == 0)
        return SEQB_TLS_VERIFY;
    return strcmp(choice, "require") == 0 ? SEQB_TLS_REQUIRE : SEQB_TLS_OFF;
}

/* An engine of the service may be a server, whatever its settings are. */
static bool is_server(const struct draft_backend *backend)
{
    return backend->is_custom || backend->path.text == NULL;
}

static void build_backend(const struct build *build,
                          const struct draft_backend *backend,
                          struct store_options *out)
{
    out->ops = backend->ops;
    out->options.name = backend->name.text;
    out->options.connect_timeout_ms = (int32_t)backend->connect_timeout.number;
    if (backend->path.text != NULL)
        out->options.path = path_join(build->arena, build->topology->state_dir,
                                      backend->path.text);
    if (is_server(backend)) {
        build_server(build, backend, &out->options);
        out->password_file = beside(build, &backend->password_file);
    }
    if (backend->sentinels.count > 0)
        out->options.sentinels = build_addresses(build, &backend->sentinels);
    if (backend->cluster.count > 0)
        out->options.endpoints = build_addresses(build, &backend->cluster);
    if (backend->endpoints.count > 0)
        out->options.endpoints = build_addresses(build, &backend->endpoints);
    if (backend->hosts.count > 0)
        out->options.endpoints = build_addresses(build, &backend->hosts);
    out->options.master_name = backend->master_name.text;
    out->options.sentinel_user = backend->sentinel_user.text;
    out->sentinel_password_file =
        beside(build, &backend->sentinel_password_file);
    out->options.table_format = backend->table_format.text;
    out->options.keep_rows = backend->keep_rows.number;
    out->options.tls = build_tls(backend->tls.text);
    out->options.tls_ca = beside(build, &backend->tls_ca);
    out->options.tls_cert = beside(build, &backend->tls_cert);
    out->options.tls_key = beside(build, &backend->tls_key);
    out->options.parameters = backend->parameters.text;
    out->options.accept_loss = backend->accept_loss.number != 0;
    out->options.auto_create = backend->auto_create.number != 0;
}

/* Two backends with the same file would give out the same numbers. */
static void check_paths(const struct build *build,
                        const struct store_options *backends, size_t i)
{
    const char *path = backends[i].options.path;

    for (size_t j = 0; path != NULL && j < i; j++) {
        const char *other = backends[j].options.path;

        if (other == NULL || strcmp(path, other) != 0)
            continue;
        diagnostics_add(build->diagnostics, build->draft->backends[i].path.line,
                        "backend '%s' has the same file: %s",
                        backends[j].options.name, path);
        return;
    }
}

static void build_sequence(const struct build *build,
                           const struct draft_sequence *sequence,
                           struct queue_sequence_options *out)
{
    out->key = sequence->key.text;
    out->pool = draft_find_pool(build->draft, sequence);
    out->memory_bits = (int32_t)sequence->memory_bits.number;
    if (sequence->window_bits.line > 0)
        out->window_bits = (int32_t)sequence->window_bits.number;
    out->deadline_ms = (int32_t)sequence->deadline.number;
    out->runway_ms = (int32_t)sequence->runway.number;
    out->max_unused = sequence->max_unused.number;
    out->prefetch = sequence->prefetch.number != 0;
    out->idle_after_ms = sequence->idle_after.number;
    out->warm = sequence->warm.number != 0;
    if (sequence->js_safe.number != 0 && sequence->ids.line == 0)
        out->value_bits = draft_value_bits(sequence);
    build_period(build->arena, sequence, out);
    build_snowflake(build, sequence, out);
    templates_add(build, sequence, out);
    width_check(build, sequence, out);
}

/* The options built for a group, for other sequences that differ only in the
 * key. */
struct made {
    const struct queue_sequence_options *options; /* NULL: not shared */
    size_t notes;                                 /* found in it */
    size_t warnings;
};

/* Builds the i-th listed sequence. Its options can be shared by other sequences
 * of the group, unless it has mistakes or its template contains the key. */
static void build_apart(const struct build *build, size_t i, struct made *made,
                        struct queue_sequence_options *out)
{
    const struct draft_sequence sequence = draft_sequence_at(build->draft, i);
    const struct diagnostics *diagnostics = build->diagnostics;
    const size_t found = diagnostics->found.count;
    const size_t notes = diagnostics->notes.count;
    const size_t warnings = diagnostics->warnings.count;

    build_sequence(build, &sequence, out);
    if (found < diagnostics->found.count ||
        (out->template != NULL && template_has_key(out->template)))
        return;
    made->options = out;
    made->notes = diagnostics->notes.count - notes;
    made->warnings = diagnostics->warnings.count - warnings;
}

/* Repeats the group's notes and warnings for the i-th listed sequence. They are
 * only counted once none of them would be kept. */
static void report_alike(const struct build *build, size_t i,
                         const struct made *made,
                         struct queue_sequence_options *out)
{
    struct diagnostics *diagnostics = build->diagnostics;
    struct draft_sequence sequence;

    if (!(made->notes > 0 && diagnostics_have_room(&diagnostics->notes)) &&
        !(made->warnings > 0 &&
          diagnostics_have_room(&diagnostics->warnings))) {
        diagnostics->notes.count += made->notes;
        diagnostics->warnings.count += made->warnings;
        return;
    }
    sequence = draft_sequence_at(build->draft, i);
    width_check(build, &sequence, out);
}

static void build_sequences(const struct build *build,
                            struct queue_sequence_options *out)
{
    const struct draft *draft = build->draft;
    struct made *groups = arena_take(build->diagnostics->arena,
                                     draft->sequence_count, sizeof *groups);

    for (size_t i = 0; groups != NULL && i < draft->listed_count; i++) {
        struct made *made = &groups[draft->listed[i].of];

        if (made->options == NULL) {
            build_apart(build, i, made, &out[i]);
            continue;
        }
        out[i] = *made->options;
        out[i].key = draft->listed[i].key;
        report_alike(build, i, made, &out[i]);
    }
}

/* Whether the backend is in a pool with neighbours. */
static bool needs_incarnation(const struct ha_pool_options *pools,
                              size_t pool_count, int32_t backend)
{
    for (size_t i = 0; i < pool_count; i++) {
        const struct layout *layout = &pools[i].layout;

        for (int32_t j = 0; layout->neighbours && j < 1 << layout->bits; j++) {
            if (layout->partitions[j] == backend)
                return true;
        }
    }
    return false;
}

static void build_ha(const struct build *build, struct store_options *backends,
                     struct ha_pool_options *pools,
                     const struct layout **layouts)
{
    const struct draft *draft = build->draft;
    struct ha_options *out = &build->topology->ha;

    for (size_t i = 0; i < draft->pool_count; i++) {
        build_pool(build, &draft->pools[i], &pools[i]);
        layouts[i] = &pools[i].layout;
    }
    for (size_t i = 0; i < draft->backend_count; i++) {
        build_backend(build, &draft->backends[i], &backends[i]);
        backends[i].options.timeout_ms =
            timeout_ms(pools, draft->pool_count, (int32_t)i);
        backends[i].options.needs_incarnation =
            needs_incarnation(pools, draft->pool_count, (int32_t)i);
        check_paths(build, backends, i);
    }
    out->backends = backends;
    out->backend_count = draft->backend_count;
    out->pools = pools;
    out->pool_count = draft->pool_count;
    out->open_timeout_ms = (int32_t)draft->broker->open_timeout.number;
    out->granted_path =
        path_join(build->arena, build->topology->state_dir, GRANTED_FILE);
    out->raised_path =
        path_join(build->arena, build->topology->state_dir, RAISED_FILE);
    build->topology->stores =
        (struct store_topology){.backends = backends,
                                .backend_count = draft->backend_count,
                                .layouts = layouts,
                                .pool_count = draft->pool_count,
                                .granted_path = out->granted_path};
}

static void build_queue(const struct build *build,
                        struct queue_sequence_options *sequences)
{
    const struct draft *draft = build->draft;
    struct queue_options *out = &build->topology->queue;
    struct queue_sequence_options *automatic = &sequences[draft->listed_count];

    build_snowflakes(build);
    build_sequences(build, sequences);
    out->sequences = sequences;
    out->sequence_count = draft->listed_count;
    out->interval_ms = (int32_t)draft->broker->interval.number;
    out->compare_templates = template_compare;
    out->warm_timeout_ms = (int32_t)draft->broker->open_timeout.number;
    if (draft->broker->spool.number != 0)
        out->spool_path =
            path_join(build->arena, build->topology->state_dir, SPOOL_FILE);
    if (draft->automatic == NULL)
        return;
    build_sequence(build, draft->automatic, automatic);
    out->automatic = automatic;
    out->auto_pattern = draft->automatic->pattern.text;
    out->auto_limit = draft->automatic->limit.number;
}

enum seqb_status build_topology(const struct build *build,
                                struct seqb_error *err)
{
    const struct draft *draft = build->draft;
    struct store_options *backends =
        arena_take(build->arena, draft->backend_count, sizeof *backends);
    struct ha_pool_options *pools =
        arena_take(build->arena, draft->pool_count, sizeof *pools);
    const struct layout **layouts = /* pointers into the pools */
        /* NOLINTNEXTLINE(bugprone-sizeof-expression) */
        arena_take(build->arena, draft->pool_count, sizeof *layouts);
    /* One more than listed, for auto_sequences. */
    struct queue_sequence_options *sequences =
        arena_take(build->arena, draft->listed_count + 1, sizeof *sequences);
    const char *state_dir = NULL;
    enum seqb_status status;

    if (backends == NULL || pools == NULL || layouts == NULL ||
        sequences == NULL)
        return error_set(err, SEQB_NO_MEMORY, "topology: out of memory");
    status = path_state_dir(build->arena, draft->broker->state_dir.text,
                            &state_dir, err);
    if (status != SEQB_OK)
        return status;
    build->topology->broker_name = draft->broker->name.text;
    build->topology->state_dir = state_dir;
    build_ha(build, backends, pools, layouts);
    build_queue(build, sequences);
    build->topology->queue.clock = build_clock(build);
    build->topology->daemon = build_daemon(build);
    build->topology->settings = build_settings(build);
    return SEQB_OK;
}
