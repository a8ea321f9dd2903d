/* SPDX-License-Identifier: Apache-2.0 */
#include "tool.h"

/* No program of an operator is judged by how it asks. */
static void not_judged(struct site *site)
{
    (void)site;
}

static void grant_not_judged(struct site *site,
                             const struct seqb_request *request)
{
    (void)site;
    (void)request;
}

static void backend_set(struct tool *tool, int32_t i)
{
    struct scene *scene = &tool->run->scene;
    struct scene_backend *backend = &scene->backends[i];
    struct site *site = &tool->sites[i];

    *site = (struct site){.store = &backend->store,
                          .server = backend->server,
                          .broker = SCENE_BROKERS,
                          .first_here = site,
                          .index = i,
                          .tries = not_judged,
                          .hangs = not_judged,
                          .is_granted = grant_not_judged};
    site_add(site);
    tool->backends[i] = (struct store_options){
        .ops = scene_is_windowed(scene, i) ? &engine_windowed : &engine_direct,
        .options = {.name = backend->name,
                    .host = backend->host,
                    .path = site->path,
                    .timeout_ms = scene->pool.timeout_ms,
                    .connect_timeout_ms = scene->connect_timeout_ms,
                    .auto_create = true}};
}

void tool_init(struct tool *tool, struct run *run)
{
    tool->run = run;
    for (int32_t i = 0; i < run->scene.backend_count; i++)
        backend_set(tool, i);
}

void tool_fini(struct tool *tool)
{
    for (int32_t i = 0; i < tool->run->scene.backend_count; i++)
        site_remove(&tool->sites[i]);
}

void tool_kill(struct tool *tool)
{
    for (int32_t i = 0; i < tool->run->scene.backend_count; i++)
        tool->sites[i].is_gone = true;
}

void tool_report(void *context, const char *line)
{
    const struct tool *tool = context;

    run_report(tool->run, "seqctl: %s", line);
}
