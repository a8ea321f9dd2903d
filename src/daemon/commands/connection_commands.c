/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about the connection itself, which client libraries send before
 * and between their real work. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/session.h"

#define PATTERN_SIZE 64

/* Bytes that PING answers before the login, so that little is unsent. */
#define OPEN_WORD_MAX 64

enum command_outcome command_ping(struct session *session,
                                  const struct resp_request *request)
{
    if (request->argc == 1)
        reply_simple(&session->out, "PONG");
    else if (session_is_unknown(session) &&
             request->argv[1].length > OPEN_WORD_MAX)
        reply_error(&session->out, "NOAUTH",
                    "Authentication required: before the login, PING answers "
                    "at most %d bytes",
                    OPEN_WORD_MAX);
    else
        reply_bulk(&session->out, request->argv[1].data,
                   request->argv[1].length);
    return COMMAND_DONE;
}

enum command_outcome command_echo(struct session *session,
                                  const struct resp_request *request)
{
    reply_bulk(&session->out, request->argv[1].data, request->argv[1].length);
    return COMMAND_DONE;
}

enum command_outcome command_quit(struct session *session,
                                  const struct resp_request *request)
{
    (void)request;
    reply_simple(&session->out, "OK");
    session->state = SESSION_CLOSING;
    return COMMAND_DONE;
}

enum command_outcome command_reset(struct session *session,
                                   const struct resp_request *request)
{
    struct identity identity;

    (void)request;
    session->is_resp3 = false;
    session->name[0] = '\0';
    identity_of_origin(&session->daemon->access, session_origin(session),
                       &identity);
    if (!session_try_become(session, &identity)) {
        session_refuse_place(session, identity.user);
        session->state = SESSION_CLOSING;
        return COMMAND_DONE;
    }
    reply_simple(&session->out, "RESET");
    return COMMAND_DONE;
}

enum command_outcome command_select(struct session *session,
                                    const struct resp_request *request)
{
    long long database = -1;

    if (!word_to_integer(request->argv[1], &database) || database != 0)
        reply_error(&session->out, "ERR",
                    "DB index is out of range: there is only 0");
    else
        reply_simple(&session->out, "OK");
    return COMMAND_DONE;
}

static void reply_hello(struct session *session)
{
    struct buffer *out = &session->out;

    reply_map(out, 7, session->is_resp3);
    reply_field_string(out, "server", "seqbroker");
    reply_field_string(out, "version", SEQB_VERSION);
    reply_field_integer(out, "proto", session->is_resp3 ? 3 : 2);
    reply_field_integer(out, "id", session->id);
    reply_field_string(out, "mode", "standalone");
    reply_field_string(out, "role", "master");
    reply_string(out, "modules");
    reply_array(out, 0);
}

/* What follows the version of a HELLO; NULL if not given. */
struct hello_options {
    const struct resp_slice *name, *user, *secret;
};

/* False after answering the error. */
static bool hello_parse(struct session *session,
                        const struct resp_request *request,
                        struct hello_options *out)
{
    *out = (struct hello_options){.name = NULL};
    for (size_t i = 2; i < request->argc; i++) {
        const struct resp_slice *word = &request->argv[i];
        const size_t left = request->argc - i - 1;

        if (word_is(*word, "AUTH") && left >= 2) {
            if (out->secret != NULL)
                secret_blank(*out->secret);
            out->user = word + 1;
            out->secret = word + 2;
            i += 2;
        } else if (word_is(*word, "SETNAME") && left >= 1) {
            out->name = word + 1;
            i++;
        } else {
            reply_error(&session->out, "ERR", "syntax error in HELLO");
            return false;
        }
    }
    return true;
}

/* `*is_well` is false if the error was answered, or if the command has to
 * wait. */
static enum command_outcome hello_apply(struct session *session,
                                        const struct hello_options *options,
                                        bool *is_well)
{
    enum command_outcome outcome = COMMAND_DONE;

    *is_well = true;
    if (options->user != NULL)
        outcome =
            session_log_in(session, options->user, *options->secret, is_well);
    if (*is_well && options->name != NULL)
        *is_well = client_rename(session, *options->name);
    return outcome;
}

/* Parses the version, 2 or 3, and what follows it. False after answering the
 * error. */
static bool hello_read(struct session *session,
                       const struct resp_request *request, long long *version,
                       struct hello_options *options)
{
    *version = session->is_resp3 ? 3 : 2;
    if (request->argc > 1 && !word_to_integer(request->argv[1], version)) {
        reply_error(&session->out, "ERR",
                    "Protocol version is not an integer or out of range");
        return false;
    }
    if (*version != 2 && *version != 3) {
        reply_error(&session->out, "NOPROTO", "unsupported protocol version");
        return false;
    }
    return hello_parse(session, request, options);
}

enum command_outcome command_hello(struct session *session,
                                   const struct resp_request *request)
{
    long long version;
    struct hello_options options;
    enum command_outcome outcome;
    bool is_well = false;

    if (!hello_read(session, request, &version, &options)) {
        words_blank(request, 1);
        return COMMAND_DONE;
    }
    outcome = hello_apply(session, &options, &is_well);
    if (!is_well)
        return outcome;
    session->is_resp3 = version == 3;
    reply_hello(session);
    return COMMAND_DONE;
}

/* Settings that redis-benchmark reads and prints. */
static const struct {
    const char *name;
    const char *value;
} redis_settings[] = {{"save", ""}, {"appendonly", "no"}};

enum command_outcome command_config(struct session *session,
                                    const struct resp_request *request)
{
    const size_t count = sizeof redis_settings / sizeof redis_settings[0];
    char pattern[PATTERN_SIZE];
    bool matches[sizeof redis_settings / sizeof redis_settings[0]];
    size_t found = 0;

    if (!word_is(request->argv[1], "GET") || request->argc != 3) {
        reply_error(&session->out, "ERR",
                    "only CONFIG GET pattern: settings are in the topology "
                    "file, see seqbrokerd --help");
        return COMMAND_DONE;
    }
    snprintf(pattern, sizeof pattern, "%.*s", (int)request->argv[2].length,
             request->argv[2].data);
    for (size_t i = 0; i < count; i++) {
        matches[i] = fnmatch(pattern, redis_settings[i].name,
                             FNM_CASEFOLD | FNM_NOESCAPE) == 0;
        found += matches[i];
    }
    reply_map(&session->out, found, session->is_resp3);
    for (size_t i = 0; i < count; i++)
        if (matches[i])
            reply_field_string(&session->out, redis_settings[i].name,
                               redis_settings[i].value);
    return COMMAND_DONE;
}
