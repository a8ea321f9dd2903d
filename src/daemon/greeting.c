/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about the connection itself: what client libraries send before
 * and between their real work. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands.h"
#include "daemon/reply.h"
#include "daemon/server.h"
#include "daemon/session.h"

#define PATTERN_SIZE 64

enum command_outcome command_ping(struct session *session,
                                  const struct resp_request *request)
{
    if (request->argc == 1)
        reply_simple(&session->out, "PONG");
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
    (void)request;
    session->is_resp3 = false;
    session->name[0] = '\0';
    reply_simple(&session->out, "RESET");
    return COMMAND_DONE;
}

enum command_outcome command_auth(struct session *session,
                                  const struct resp_request *request)
{
    (void)request;
    reply_error(&session->out, "ERR", "no password is set");
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

/* False after answering the error. */
static bool session_rename(struct session *session, struct resp_slice name)
{
    bool is_legal = name.length <= SESSION_NAME_MAX;

    for (size_t i = 0; is_legal && i < name.length; i++)
        is_legal = name.data[i] > ' ' && name.data[i] <= '~';
    if (!is_legal) {
        reply_error(&session->out, "ERR",
                    "a client's name has at most %d printable characters, no "
                    "spaces",
                    SESSION_NAME_MAX);
        return false;
    }
    memcpy(session->name, name.data, name.length);
    session->name[name.length] = '\0';
    return true;
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

/* What follows the version. False after answering the error. */
static bool hello_options(struct session *session,
                          const struct resp_request *request)
{
    for (size_t i = 2; i < request->argc; i += 2) {
        size_t left = request->argc - i - 1;

        if (word_is(request->argv[i], "AUTH") && left >= 2) {
            command_auth(session, request);
            return false;
        }
        if (!word_is(request->argv[i], "SETNAME") || left < 1) {
            reply_error(&session->out, "ERR", "syntax error in HELLO");
            return false;
        }
        if (!session_rename(session, request->argv[i + 1]))
            return false;
    }
    return true;
}

enum command_outcome command_hello(struct session *session,
                                   const struct resp_request *request)
{
    long long version = session->is_resp3 ? 3 : 2;

    if (request->argc > 1 && !word_to_integer(request->argv[1], &version)) {
        reply_error(&session->out, "ERR",
                    "Protocol version is not an integer or out of range");
        return COMMAND_DONE;
    }
    if (version != 2 && version != 3) {
        reply_error(&session->out, "NOPROTO", "unsupported protocol version");
        return COMMAND_DONE;
    }
    if (!hello_options(session, request))
        return COMMAND_DONE;
    session->is_resp3 = version == 3;
    reply_hello(session);
    return COMMAND_DONE;
}

static void reply_client_info(struct session *session)
{
    char text[SESSION_NAME_MAX + 128];

    snprintf(text, sizeof text, "id=%lld fd=%d name=%s age=%lld db=0 resp=%d",
             (long long)session->id, session->fd, session->name,
             (long long)(server_now_ms() - session->opened_ms) / 1000,
             session->is_resp3 ? 3 : 2);
    reply_string(&session->out, text);
}

static void reply_client_name(struct session *session)
{
    if (session->name[0] == '\0')
        reply_null(&session->out, session->is_resp3);
    else
        reply_string(&session->out, session->name);
}

enum command_outcome command_client(struct session *session,
                                    const struct resp_request *request)
{
    struct resp_slice what = request->argv[1];
    size_t words = request->argc - 2;

    if (word_is(what, "ID") && words == 0)
        reply_integer(&session->out, session->id);
    else if (word_is(what, "INFO") && words == 0)
        reply_client_info(session);
    else if (word_is(what, "GETNAME") && words == 0)
        reply_client_name(session);
    else if (word_is(what, "SETNAME") && words == 1) {
        if (session_rename(session, request->argv[2]))
            reply_simple(&session->out, "OK");
    } else if ((word_is(what, "SETINFO") && words == 2) ||
               (word_is(what, "NO-EVICT") && words == 1) ||
               (word_is(what, "NO-TOUCH") && words == 1))
        reply_simple(&session->out, "OK"); /* nothing here depends on them */
    else
        reply_error(&session->out, "ERR",
                    "unknown subcommand or wrong number of arguments: use "
                    "CLIENT ID, INFO, GETNAME, SETNAME or SETINFO");
    return COMMAND_DONE;
}

/* What redis-benchmark asks for: it prints them. */
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
