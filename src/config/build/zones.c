/* SPDX-License-Identifier: Apache-2.0 */
/* Zones are a linked list: even topologies with many sequences have few
 * zones. */
#include "config/build/build.h"

#include <string.h>

#include "period/period.h"

#define UTC "UTC" /* needs no file and is not opened */

struct zone {
    struct zone *next;
    const char *name;
    struct period_zone *rules;
};

static const struct period_zone *find(const struct zones *zones,
                                      const char *name)
{
    for (const struct zone *at = zones->first; at != NULL; at = at->next) {
        if (strcmp(at->name, name) == 0)
            return at->rules;
    }
    return NULL;
}

static const struct period_zone *open_new(struct zones *zones,
                                          const struct draft_text *name,
                                          struct diagnostics *diagnostics)
{
    struct zone *zone = arena_take(zones->arena, 1, sizeof *zone);
    struct seqb_error err;

    if (zone == NULL)
        return NULL;
    zone->name = arena_format(zones->arena, "%s", name->text);
    if (zone->name == NULL)
        return NULL;
    if (period_zone_open(name->text, &zone->rules, &err) != SEQB_OK) {
        if (err.status == SEQB_NO_MEMORY)
            zones->arena->is_out_of_memory = true;
        diagnostics_add(diagnostics, name->line, "%s", err.text);
        return NULL;
    }
    zone->next = zones->first;
    zones->first = zone;
    return zone->rules;
}

/* Opens the zone of a group, for a sequence `lines` lines further down. */
static void open_for(struct zones *zones, struct draft_sequence *group,
                     int lines, struct diagnostics *diagnostics)
{
    const struct draft_text name = {group->time_zone.text,
                                    group->time_zone.line + lines};

    if (group->zone != NULL || name.text == NULL || strcmp(name.text, UTC) == 0)
        return;
    group->zone = find(zones, name.text);
    if (group->zone == NULL)
        group->zone = open_new(zones, &name, diagnostics);
}

void zones_open(struct zones *zones, struct draft *draft,
                struct diagnostics *diagnostics)
{
    for (size_t i = 0; i < draft->listed_count; i++)
        open_for(zones, &draft->sequences[draft->listed[i].of],
                 draft->listed[i].lines, diagnostics);
    if (draft->automatic != NULL)
        open_for(zones, draft->automatic, 0, diagnostics);
}

void zones_close(struct zones *zones)
{
    for (struct zone *at = zones->first; at != NULL; at = at->next)
        period_zone_close(at->rules);
    zones->first = NULL;
}
