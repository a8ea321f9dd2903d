/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, and the search for a name in it. main.c has what all
 * command lines share. */
#include "ctl/commands.h"

#include <string.h>

/* The options of all commands that ask a daemon. */
#define ASKS                                                                   \
    (CTL_JSON | CTL_SOCKET | CTL_TIMEOUT | CTL_TLS | CTL_USER |                \
     CTL_PASSWORD_FILE)

static const struct command commands[] = {
    {"next", "KEY", 1, ASKS | CTL_COUNT | CTL_SHARD | CTL_STAMP, numbers_next,
     "take numbers of a sequence"},
    {"number", "KEY [NAME=VALUE ...]", -1, ASKS | CTL_COUNT, numbers_number,
     "take numbers as their template writes them"},
    {"status", "[KEY|POOL]", 0,
     ASKS | CTL_TAKES_ONE_MORE | CTL_TAKES_SEVERAL | CTL_MARKDOWN | CTL_WATCH |
         CTL_INTERVAL | CTL_WIDE | CTL_SORT | CTL_TOP | CTL_ALL | CTL_COLOR,
     status_run, "show partitions and sequences"},
    {"health", "", 0, ASKS | CTL_TAKES_SEVERAL | CTL_COLOR, operate_health,
     "whether every pool can serve"},
    {"workers", "", 0, ASKS | CTL_WIDE | CTL_COLOR, workers_run,
     "show which broker has which worker id"},
    {"show", "WHAT [PATTERN]", 1,
     ASKS | CTL_TAKES_ONE_MORE | CTL_TAKES_SEVERAL | CTL_WIDE | CTL_COLOR |
         CTL_SINCE | CTL_LEVEL | CTL_ALL,
     show_run, "show the configuration, clients, log, ..."},
    {"quarantine", "PARTITION", 1, ASKS, operate_quarantine,
     "take a partition out as if it had failed"},
    {"rescue", "PARTITION", 1, ASKS, operate_rescue, "probe a partition now"},
    {"drain", "PARTITION|--broker", 1, ASKS | CTL_TAKES_SEVERAL | CTL_BROKER,
     operate_drain, "stop asking a partition, or stop the broker"},
    {"resume", "PARTITION", 1, ASKS | CTL_TAKES_SEVERAL, operate_resume,
     "undo a drain"},
    {"advance", "KEY --to N", 1, ASKS | CTL_TO | CTL_FORCE, operate_advance,
     "raise a sequence above a number"},
    {"reload", "", 0, ASKS | CTL_CHECK, reload_run, "read the topology again"},
    {"decode", "KEY VALUE", 2, ASKS, numbers_decode,
     "show what a number is made of"},
    {"parse", "KEY TEXT", 2, ASKS, numbers_parse,
     "show what a text is made of"},
    {"check", "FILE", 1, CTL_PROBE | CTL_ALL | CTL_JSON, check_run,
     "check a topology file"},
    {"migrate", "OLD NEW", 2, CTL_DRY_RUN | CTL_KEYS | CTL_WITHOUT | CTL_JSON,
     migrate_run, "move pools to another layout"},
    {"trust", "FILE BACKEND", 2, CTL_DRY_RUN | CTL_FORCE | CTL_JSON, trust_run,
     "say that a restarted store did not go back"},
    {"settings", "[NAME]", 0, CTL_MARKDOWN | CTL_JSON | CTL_TAKES_ONE_MORE,
     settings_run, "list the settings of a topology file"},
    {"config", "[NAME]", 0, CTL_MARKDOWN | CTL_JSON | CTL_TAKES_ONE_MORE,
     settings_run, "the same as settings"},
    {"password", "", 0, CTL_JSON, password_run,
     "make the hash of a password, for a user"},
    {"token", "", 0, CTL_JSON, token_run,
     "make a token and its hash, for a user"},
    {"help", "[COMMAND]", 0, CTL_JSON | CTL_TAKES_ONE_MORE, NULL,
     "print this text, or that of a command"},
};

const struct command *command_at(size_t i)
{
    return i < sizeof commands / sizeof commands[0] ? &commands[i] : NULL;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}
