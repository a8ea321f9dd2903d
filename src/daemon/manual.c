/* SPDX-License-Identifier: Apache-2.0 */
/* COMMAND: tells clients the table of commands, as redis-cli and client
 * libraries ask for it. */
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

static void reply_command_info(struct buffer *out,
                               const struct command *command)
{
    reply_array(out, 6);
    reply_string(out, command->name);
    reply_integer(out, command->arity);
    reply_array(out, 1);
    reply_simple(out, command->takes_key ? "write" : "fast");
    reply_integer(out, command->takes_key); /* first key, last key, step */
    reply_integer(out, command->takes_key);
    reply_integer(out, command->takes_key);
}

static void reply_command_docs(struct buffer *out,
                               const struct command *command, bool is_resp3)
{
    reply_string(out, command->name);
    reply_map(out, 3, is_resp3);
    reply_field_string(out, "summary", command->summary);
    reply_field_string(out, "since", "0.1.0");
    reply_field_string(out, "group", command->group);
}

static void command_list_info(struct session *session)
{
    reply_array(&session->out, command_count());
    for (size_t i = 0; command_at(i) != NULL; i++)
        reply_command_info(&session->out, command_at(i));
}

static void command_info_of(struct session *session,
                            const struct resp_request *request)
{
    reply_array(&session->out, request->argc - 2);
    for (size_t i = 2; i < request->argc; i++) {
        const struct command *command = command_find(request->argv[i]);

        if (command != NULL)
            reply_command_info(&session->out, command);
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
        reply_string(&session->out, command_at(i)->name);
}

enum command_outcome command_command(struct session *session,
                                     const struct resp_request *request)
{
    struct resp_slice what = {"INFO", 4};
    bool names_some = request->argc > 2;

    if (request->argc > 1)
        what = request->argv[1];
    if (word_is(what, "COUNT"))
        reply_integer(&session->out, (int64_t)command_count());
    else if (word_is(what, "LIST"))
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
                    "unknown subcommand: use COMMAND COUNT, DOCS, INFO or "
                    "LIST");
    return COMMAND_DONE;
}
