/* SPDX-License-Identifier: Apache-2.0 */
/* COMMAND: tells clients the table of commands, as redis-cli and client
 * libraries ask for it. */
#include <string.h>

#include "daemon/commands.h"
#include "daemon/reply.h"
#include "daemon/session.h"

static size_t command_count(void)
{
    size_t count = 0;

    while (command_at(count) != NULL)
        count++;
    return count;
}

static void reply_name(struct buffer *out, const struct command *command)
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
static void reply_command_info(struct buffer *out,
                               const struct command *command, bool is_resp3)
{
    const char *const flags[] = {command->flag, NULL};

    reply_array(out, 10);
    reply_name(out, command);
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

static void reply_command_docs(struct buffer *out,
                               const struct command *command, bool is_resp3)
{
    reply_name(out, command);
    reply_map(out, 3, is_resp3);
    reply_field_string(out, "summary", command->summary);
    reply_field_string(out, "since", "0.1.0");
    reply_field_string(out, "group", command->group);
}

static void command_list_info(struct session *session)
{
    reply_array(&session->out, command_count());
    for (size_t i = 0; command_at(i) != NULL; i++)
        reply_command_info(&session->out, command_at(i), session->is_resp3);
}

static void command_info_of(struct session *session,
                            const struct resp_request *request)
{
    reply_array(&session->out, request->argc - 2);
    for (size_t i = 2; i < request->argc; i++) {
        const struct command *command = command_find(request->argv[i]);

        if (command != NULL)
            reply_command_info(&session->out, command, session->is_resp3);
        else
            reply_null(&session->out, session->is_resp3);
    }
}

static void command_list_docs(struct session *session)
{
    reply_map(&session->out, command_count(), session->is_resp3);
    for (size_t i = 0; command_at(i) != NULL; i++)
        reply_command_docs(&session->out, command_at(i), session->is_resp3);
}

/* Names that are unknown are left out, as Redis does. */
static void command_docs_of(struct session *session,
                            const struct resp_request *request)
{
    size_t known = 0;

    for (size_t i = 2; i < request->argc; i++)
        known += command_find(request->argv[i]) != NULL;
    reply_map(&session->out, known, session->is_resp3);
    for (size_t i = 2; i < request->argc; i++) {
        const struct command *command = command_find(request->argv[i]);

        if (command != NULL)
            reply_command_docs(&session->out, command, session->is_resp3);
    }
}

static void command_list_names(struct session *session)
{
    reply_array(&session->out, command_count());
    for (size_t i = 0; command_at(i) != NULL; i++)
        reply_name(&session->out, command_at(i));
}

enum command_outcome command_command(struct session *session,
                                     const struct resp_request *request)
{
    struct resp_slice what = {"INFO", 4};
    const bool names_some = request->argc > 2;

    if (request->argc > 1)
        what = request->argv[1];
    if (word_is(what, "COUNT") && !names_some)
        reply_integer(&session->out, (int64_t)command_count());
    else if (word_is(what, "LIST") && !names_some)
        command_list_names(session);
    else if (word_is(what, "DOCS") && names_some)
        command_docs_of(session, request);
    else if (word_is(what, "DOCS"))
        command_list_docs(session);
    else if (word_is(what, "INFO") && names_some)
        command_info_of(session, request);
    else if (word_is(what, "INFO"))
        command_list_info(session);
    else
        reply_error(&session->out, "ERR",
                    "unknown subcommand or wrong number of arguments: use "
                    "COMMAND COUNT, LIST, DOCS [name ...] or INFO [name ...]");
    return COMMAND_DONE;
}
