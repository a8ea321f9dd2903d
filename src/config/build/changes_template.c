/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a running sequence may use another template without a restart. The
 * comparison of the templates themselves is in src/number. */
#include <string.h>

#include "config/build/build.h"
#include "config/build/effective.h"
#include "number/number.h"
#include "platform/error.h"

const struct template *changes_template(const struct queue_options *queue,
                                        const struct setting_item *item,
                                        size_t *likely)
{
    if (item->section == SCHEMA_AUTOMATIC)
        return queue->automatic->template;
    for (size_t i = 0; i < queue->sequence_count; i++) {
        const size_t at = (*likely + i) % queue->sequence_count;

        if (strcmp(queue->sequences[at].key, item->name) != 0)
            continue;
        *likely = at + 1;
        return queue->sequences[at].template;
    }
    return NULL;
}

static const char *zone_of(const struct setting_item *item)
{
    for (const struct setting_value *at = item->first; at != NULL;
         at = at->next) {
        if (strcmp(at->row->name, "time_zone") == 0)
            return at->text;
    }
    return "";
}

/* Dates in texts use the running zone until a restart. So a template does not
 * change together with the zone. */
static enum seqb_status compare(const struct template_change *change,
                                struct seqb_error *why)
{
    bool is_same;

    if (change->before == NULL || change->after == NULL)
        return error_set(why, SEQB_LAYOUT,
                         "what was written before it came, or after it went, "
                         "is not known");
    if (strcmp(zone_of(change->runs), zone_of(change->next)) != 0)
        return error_set(why, SEQB_LAYOUT,
                         "its time_zone changes, too, which needs a restart");
    return template_compare(change->before, change->after, &is_same, why);
}

const char *changes_template_advice(const struct template_change *change,
                                    struct arena *arena)
{
    struct seqb_error why = {.text = ""};

    if (compare(change, &why) == SEQB_OK)
        return "";
    return arena_format(arena,
                        "%s: begin a new sequence; or restart if "
                        "docs/numbers.md calls the change safe",
                        why.text);
}
