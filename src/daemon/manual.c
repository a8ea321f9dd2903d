/* SPDX-License-Identifier: Apache-2.0 */
/* A row of the table of commands as COMMAND tells it to redis-cli and client
 * libraries. Which rows is left to commands.c. */
#include <ctype.h>
#include <string.h>

#include "daemon/commands.h"
#include "daemon/reply.h"

void command_name(const struct command *command, char out[COMMAND_NAME_SIZE])
{
    size_t length = 0;

    for (; command->name[length] != '\0'; length++)
        out[length] = (char)tolower((unsigned char)command->name[length]);
    out[length] = '\0';
}

void reply_command_name(struct buffer *out, const struct command *command)
{
    char name[COMMAND_NAME_SIZE];

    command_name(command, name);
    reply_string(out, name);
}

static void reply_flags(struct buffer *out, const char *const *flags,
                        bool is_resp3)
{
    size_t count = 0;

    while (flags[count] != NULL)
        count++;
    reply_set(out, count, is_resp3);
    for (size_t i = 0; i < count; i++)
        reply_simple(out, flags[i]);
}

/* The one key of a command: the second word, and what is done with it. */
static void reply_key_spec(struct buffer *out, bool is_write, bool is_resp3)
{
    static const char *const writes[] = {"RW", "access", "update", NULL};
    static const char *const reads[] = {"RO", "access", NULL};

    reply_map(out, 3, is_resp3);
    reply_string(out, "flags");
    reply_flags(out, is_write ? writes : reads, is_resp3);
    reply_string(out, "begin_search");
    reply_map(out, 2, is_resp3);
    reply_field_string(out, "type", "index");
    reply_string(out, "spec");
    reply_map(out, 1, is_resp3);
    reply_field_integer(out, "index", 1);
    reply_string(out, "find_keys");
    reply_map(out, 2, is_resp3);
    reply_field_string(out, "type", "range");
    reply_string(out, "spec");
    reply_map(out, 3, is_resp3);
    reply_field_integer(out, "lastkey", 0);
    reply_field_integer(out, "keystep", 1);
    reply_field_integer(out, "limit", 0);
}

/* The ten elements of Redis 7.0. There are no ACL categories, tips and
 * subcommands. */
void reply_command_info(struct buffer *out, const struct command *command,
                        bool is_resp3)
{
    const char *const flags[] = {command->flag, NULL};

    reply_array(out, 10);
    reply_command_name(out, command);
    reply_integer(out, command->arity);
    reply_flags(out, flags, is_resp3);
    reply_integer(out, command->takes_key); /* first key, last key, step */
    reply_integer(out, command->takes_key);
    reply_integer(out, command->takes_key);
    reply_set(out, 0, is_resp3);
    reply_array(out, 0);
    reply_array(out, command->takes_key);
    if (command->takes_key)
        reply_key_spec(out, strcmp(command->flag, "write") == 0, is_resp3);
    reply_array(out, 0);
}

void reply_command_docs(struct buffer *out, const struct command *command,
                        bool is_resp3)
{
    reply_command_name(out, command);
    reply_map(out, 3, is_resp3);
    reply_field_string(out, "summary", command->summary);
    reply_field_string(out, "since", "0.1.0");
    reply_field_string(out, "group", command->group);
}
