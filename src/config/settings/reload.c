/* SPDX-License-Identifier: Apache-2.0 */
/* What a change of each setting needs while the broker runs. A section without
 * an entry here needs a restart, which is the safe default for new sections. */
#include <string.h>

#include "config/config.h"
#include "config/settings/settings.h"

/* For settings of a section that are not in `named`. */
static const enum seqb_reload_need usual[SCHEMA_SECTIONS] = {
    [SCHEMA_BROKER] = SEQB_RELOAD_RESTART,
    [SCHEMA_BACKENDS] = SEQB_RELOAD_NOTHING,
    [SCHEMA_POOLS] = SEQB_RELOAD_REFUSED,
    [SCHEMA_SEQUENCES] = SEQB_RELOAD_REFUSED,
    [SCHEMA_AUTOMATIC] = SEQB_RELOAD_REFUSED,
    [SCHEMA_IDS] = SEQB_RELOAD_REFUSED,
    [SCHEMA_SNOWFLAKE] = SEQB_RELOAD_REFUSED,
    [SCHEMA_DAEMON] = SEQB_RELOAD_RESTART,
    [SCHEMA_USERS] = SEQB_RELOAD_NOTHING,
    [SCHEMA_KEY_LIMITS] = SEQB_RELOAD_NOTHING,
};

/* Lists "a, b" of settings with each need. */
struct named {
    const char *nothing;
    const char *restart;
    const char *refused;
};

/* Settings of sequences: how many numbers are held, and how long callers
 * wait. */
#define PACE                                                                   \
    "deadline, runway, max_unused, prefetch, idle_after, when_full, warm"

static const struct named named[SCHEMA_SECTIONS] = {
    [SCHEMA_BROKER] = {"open_timeout, interval", "", ""},
    [SCHEMA_BACKENDS] = {"", "", "engine, prefix, table_format"},
    [SCHEMA_POOLS] = {"timeout, slow_count, slow_window, rescue, "
                      "rescue_after, check_interval, failover_gap",
                      "", ""},
    [SCHEMA_SEQUENCES] = {PACE, "time_zone, keep_periods, js_safe", ""},
    [SCHEMA_AUTOMATIC] = {PACE ", pattern, limit",
                          "time_zone, keep_periods, js_safe", ""},
    [SCHEMA_SNOWFLAKE] = {"", "lease", ""},
    [SCHEMA_DAEMON] = {"on_event, webhook, webhook_ca_file, alarm_level, "
                       "alarm_reminder, log_level, stop_delay, stop_timeout, "
                       "max_connections, max_connections_per_address, "
                       "max_client_memory, client_timeout, idle_timeout, "
                       "login_timeout",
                       "", ""},
};

static bool is_named(const char *list, const char *name)
{
    return list != NULL && value_is_listed(list, name);
}

enum seqb_reload_need schema_need(const struct schema_row *row)
{
    const struct named *of = &named[row->section];

    if (is_named(of->nothing, row->name))
        return SEQB_RELOAD_NOTHING;
    if (is_named(of->restart, row->name))
        return SEQB_RELOAD_RESTART;
    if (is_named(of->refused, row->name))
        return SEQB_RELOAD_REFUSED;
    return usual[row->section];
}

enum seqb_reload_need config_need(const char *section, const char *name)
{
    size_t count;
    const struct schema_row *rows = schema_rows(&count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(schema_group(rows[i].section)->name, section) == 0 &&
            strcmp(rows[i].name, name) == 0)
            return schema_need(&rows[i]);
    }
    return SEQB_RELOAD_RESTART;
}
