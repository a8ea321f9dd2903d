/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, looking up a name in it, and COMMAND, which reports
 * the table to redis-cli and client libraries. The other commands do not know
 * the table. */
#include "daemon/commands/commands.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "daemon/blocking_call.h"
#include "daemon/daemon.h"
#include "daemon/session.h"

static command_function command_command;

/* Frequent commands first: the table is searched from its top. */
static const struct command commands[] = {
    {"INCR", 2, true, RIGHT_TAKE, "write", "numbers", command_incr,
     "Takes one number: key"},
    {"SEQ.NEXT", -2, true, RIGHT_TAKE, "write", "numbers", command_next,
     "Takes numbers: key [COUNT n] [SHARD s] [STAMP] [STR]"},
    {"INCRBY", 3, true, RIGHT_TAKE, "write", "numbers", command_incrby,
     "Takes n contiguous numbers, answers the last: key n, 1 <= n <= "
     "2^memory_bits"},
    {"SEQ.NUMBER", -2, true, RIGHT_TAKE, "write", "numbers", command_number,
     "Takes numbers as texts: key [COUNT n] [name value ...]"},
    {"SEQ.DECODE", -3, true, RIGHT_READ, "readonly", "numbers", command_decode,
     "Takes a number apart: key number [STR]"},
    {"SEQ.PARSE", -3, true, RIGHT_READ, "readonly", "numbers", command_parse,
     "Takes a text apart: key text [STR]"},
    {"SEQ.STATUS", 1, false, RIGHT_READ, "readonly", "status", command_status,
     "The broker, its partitions and its sequences"},
    {"SEQ.WORKERS", 1, false, RIGHT_READ, "readonly", "status", command_workers,
     "The worker ids of snowflakes, and who has them"},
    {"SEQ.HEALTH", 1, false, RIGHT_READ, "readonly", "status", command_health,
     "Whether each pool has a partition that answers, and what is wrong"},
    {"SEQ.SHOW", -2, false, RIGHT_READ, "readonly", "status", command_show,
     "CONFIG [pattern]|CLIENTS|EVENTS|ERRORS|STATS|LIMITS of this daemon"},
    {"SEQ.PARTITION", -3, false, RIGHT_ADMIN, "admin", "operator",
     command_partition,
     "QUARANTINE|RESCUE|DRAIN|RESUME pool/partition or backend [REPORT]"},
    {"SEQ.DRAIN", 1, false, RIGHT_ADMIN, "admin", "operator", command_drain,
     "Stops the whole daemon, as SIGTERM does"},
    {"SEQ.ADVANCE", -3, true, RIGHT_ADMIN, "write", "operator", command_advance,
     "Moves a sequence beyond a number: key number [FORCE]"},
    {"SEQ.RELOAD", -1, false, RIGHT_ADMIN, "admin", "operator", command_reload,
     "Reads the topology again, or only compares it: [CHECK]"},
    {"INFO", -1, false, RIGHT_READ, "readonly", "status", command_info,
     "The server as text: [section ...]"},
    {"DBSIZE", 1, false, RIGHT_READ, "readonly", "status", command_dbsize,
     "How many sequences this broker knows"},
    {"PING", -1, false, RIGHT_OPEN, "fast", "connection", command_ping,
     "Answers PONG or a word"},
    {"ECHO", 2, false, RIGHT_READ, "fast", "connection", command_echo,
     "Answers a word"},
    {"HELLO", -1, false, RIGHT_OPEN, "fast", "connection", command_hello,
     "Chooses the protocol: [2|3 [AUTH user password] [SETNAME name]]"},
    {"CLIENT", -2, false, RIGHT_READ, "fast", "connection", command_client,
     "ID, INFO, LIST [TYPE type | ID id ...], GETNAME, SETNAME name, SETINFO "
     "attribute value"},
    {"SELECT", 2, false, RIGHT_READ, "fast", "connection", command_select,
     "Chooses the database, of which there is one: 0"},
    {"AUTH", -2, false, RIGHT_OPEN, "fast", "connection", command_auth,
     "Logs in: [user] password"},
    {"RESET", 1, false, RIGHT_OPEN, "fast", "connection", command_reset,
     "Makes the connection like a new one"},
    {"QUIT", -1, false, RIGHT_OPEN, "fast", "connection", command_quit,
     "Closes the connection"},
    {"CONFIG", -2, false, RIGHT_READ, "fast", "server", command_config,
     "GET pattern, for Redis tools; settings are in the topology"},
    {"COMMAND", -1, false, RIGHT_READ, "fast", "server", command_command,
     "This table: [COUNT | LIST | DOCS [name ...] | INFO [name ...]]"},
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

/* Of an error, and of a key, in the audit. */
#define AUDITED_SIZE 512

/* Approximate bytes of an answer with the whole table. */
#define TABLE_SIZE 16384

static_assert(COMMAND_COUNT <= COUNTS_COMMANDS, "there is a count of each");

/* Commands that users of Redis will try: the error names the replacement. */
static const char *const transaction_names[] = {"DISCARD", "EXEC",  "MULTI",
                                                "UNWATCH", "WATCH", NULL};
static const char *const decrement_names[] = {"DECR", "DECRBY", NULL};
static const char *const other_names[] = {
    "APPEND",   "DEL",     "EVAL",   "EVALSHA",     "EXISTS",    "EXPIRE",
    "FLUSHALL", "FLUSHDB", "GET",    "GETDEL",      "GETEX",     "GETSET",
    "HGET",     "HINCRBY", "HSET",   "INCRBYFLOAT", "KEYS",      "LPUSH",
    "MGET",     "MSET",    "PSETEX", "PUBLISH",     "RPUSH",     "SADD",
    "SCAN",     "SET",     "SETEX",  "SETNX",       "SUBSCRIBE", "TTL",
    "TYPE",     "UNLINK",  "XADD",   "ZADD",        "ZINCRBY",   NULL,
};

static const struct {
    const char *const *names;
    const char *instead;
} refusals[] = {
    {transaction_names, "there is no MULTI: pipeline without it, in redis-py "
                        "by pipeline(transaction=False)"},
    {decrement_names, "numbers only go up: use INCR key, or INCRBY key n for "
                      "n contiguous ones"},
    {other_names, "seqbroker only hands out numbers: use INCR key or SEQ.NEXT "
                  "key"},
};

const struct command *command_find(struct resp_slice name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (word_is(name, commands[i].name))
            return &commands[i];
    return NULL;
}

const struct command *command_at(size_t i)
{
    return i < COMMAND_COUNT ? &commands[i] : NULL;
}

/* The text about the replacement for a command of Redis; NULL if the name is
 * not one of them. */
static const char *redis_instead(struct resp_slice name)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        for (size_t j = 0; refusals[i].names[j] != NULL; j++)
            if (word_is(name, refusals[i].names[j]))
                return refusals[i].instead;
    return NULL;
}

static enum command_outcome command_refuse(struct session *session,
                                           struct resp_slice name)
{
    const char *instead = redis_instead(name);

    /* A web page may make a browser send commands inside an HTTP request. The
     * connection is closed at the request's first lines, before these
     * commands. */
    if (word_is(name, "POST") || word_is(name, "Host:")) {
        reply_error(&session->out, "ERR", "this is not an HTTP server");
        session->state = SESSION_CLOSING;
        return COMMAND_DONE;
    }
    if (instead != NULL)
        reply_error(&session->out, "ERR", "%s", instead);
    else
        reply_error(&session->out, "ERR", "unknown command '%.*s'",
                    word_shown(name), name.data);
    return COMMAND_DONE;
}

static enum command_outcome command_execute(struct session *session,
                                            const struct command *command,
                                            const struct resp_request *request)
{
    int words = (int)request->argc;

    session->command = command;
    if (words == command->arity ||
        (command->arity < 0 && words >= -command->arity))
        return session_may(session, command, request)
                   ? command->run(session, request)
                   : COMMAND_DONE;
    reply_error(&session->out, "ERR", "wrong number of arguments for '%s': %s",
                command->name, command->summary);
    return COMMAND_DONE;
}

/* Counts a command that was executed. An error is the only reply that it has
 * written, at offset `before` of the output. `command` is NULL if there is no
 * command of that name. */
static void command_count(struct session *session,
                          const struct command *command, size_t before)
{
    struct counts *counts = &session->daemon->counts;
    const char *reply = buffer_content(&session->out) + before;
    const size_t length = session->out.length - before;

    if (command != NULL) {
        counts->commands[command - commands] += 1 + session->repeats;
        session->other_commands +=
            (command->needs & (RIGHT_TAKE | RIGHT_OPEN)) == 0;
    }
    session->repeats = 0;
    if (!session->out.is_broken && length > 0 && *reply == '-') {
        counts_add_error(counts, reply, length);
        session->errors++;
    }
}

/* Writes a refused order into the audit, unless the order did that itself. The
 * error is the only reply that it has written, at offset `before` of the
 * output. */
static void command_audit(struct session *session,
                          const struct command *command,
                          const struct resp_request *request, size_t before)
{
    const char *reply = buffer_content(&session->out) + before;
    const size_t length = session->out.length - before;
    char why[AUDITED_SIZE];
    char target[AUDITED_SIZE] = "";

    if (command == NULL || command->needs != RIGHT_ADMIN ||
        session->is_audited || session->out.is_broken || length == 0 ||
        *reply != '-')
        return;
    snprintf(why, sizeof why, "%.*s", (int)strcspn(reply, "\r") - 1, reply + 1);
    if (command->takes_key && request->argc > 1)
        snprintf(target, sizeof target, "%.*s", word_shown(request->argv[1]),
                 request->argv[1].data);
    session_audit(session, audit_order_refused,
                  &(struct audit_entry){.command = command->name,
                                        .target = target,
                                        .reason = why});
}

enum command_outcome command_run(struct session *session,
                                 const struct resp_request *request)
{
    const struct command *command = command_find(request->argv[0]);
    const struct blocking_call *call = session->blocking_call;
    const size_t before = session->out.length;
    enum command_outcome outcome;

    /* A timer that outlived its purpose may have resumed the session. */
    if (call != NULL && !blocking_call_is_done(call))
        return COMMAND_WAITS;
    /* A blocking call has a line of its own. */
    session->is_audited = call != NULL;
    outcome = command == NULL ? command_refuse(session, request->argv[0])
                              : command_execute(session, command, request);
    if (outcome != COMMAND_DONE)
        return outcome;
    command_audit(session, command, request, before);
    command_count(session, command, before);
    return outcome;
}

/* --- COMMAND: reporting the table --- */

static void reply_command_name(struct buffer *out,
                               const struct command *command)
{
    char name[COMMAND_NAME_SIZE];

    word_lower(command->name, name, sizeof name);
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

/* The key specification of a command: its key is the second word. */
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

/* The ten elements of Redis 7.0. ACL categories, tips and subcommands are
 * empty. */
static void reply_command_info(struct buffer *out,
                               const struct command *command, bool is_resp3)
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

static void reply_command_docs(struct buffer *out,
                               const struct command *command, bool is_resp3)
{
    reply_command_name(out, command);
    reply_map(out, 3, is_resp3);
    reply_field_string(out, "summary", command->summary);
    reply_field_string(out, "since", "0.1.0");
    reply_field_string(out, "group", command->group);
}

/* The i-th of the commands that are asked for: of those named after the second
 * word, else of all. NULL if the name is unknown. */
static const struct command *asked_at(const struct resp_request *request,
                                      size_t i)
{
    return request->argc > 2 ? command_find(request->argv[i + 2])
                             : &commands[i];
}

static size_t asked_count(const struct resp_request *request)
{
    return request->argc > 2 ? request->argc - 2 : COMMAND_COUNT;
}

static void reply_infos(struct session *session,
                        const struct resp_request *request)
{
    const size_t count = asked_count(request);

    reply_array(&session->out, count);
    for (size_t i = 0; i < count; i++) {
        const struct command *command = asked_at(request, i);

        if (command != NULL)
            reply_command_info(&session->out, command, session->is_resp3);
        else
            reply_null(&session->out, session->is_resp3);
    }
}

/* Unknown names are left out, as Redis does. */
static void reply_docs(struct session *session,
                       const struct resp_request *request)
{
    const size_t count = asked_count(request);
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        known += asked_at(request, i) != NULL;
    reply_map(&session->out, known, session->is_resp3);
    for (size_t i = 0; i < count; i++) {
        const struct command *command = asked_at(request, i);

        if (command != NULL)
            reply_command_docs(&session->out, command, session->is_resp3);
    }
}

static void command_list_names(struct session *session)
{
    reply_array(&session->out, COMMAND_COUNT);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        reply_command_name(&session->out, &commands[i]);
}

static enum command_outcome command_command(struct session *session,
                                            const struct resp_request *request)
{
    struct resp_slice what = {"INFO", 4};
    const bool names_some = request->argc > 2;

    if (!session_may_hold(session, TABLE_SIZE, true))
        return COMMAND_DONE;
    if (request->argc > 1)
        what = request->argv[1];
    if (word_is(what, "COUNT") && !names_some)
        reply_integer(&session->out, COMMAND_COUNT);
    else if (word_is(what, "LIST") && !names_some)
        command_list_names(session);
    else if (word_is(what, "DOCS"))
        reply_docs(session, request);
    else if (word_is(what, "INFO"))
        reply_infos(session, request);
    else
        reply_error(&session->out, "ERR",
                    "unknown subcommand or wrong number of arguments: use "
                    "COMMAND COUNT, LIST, DOCS [name ...] or INFO [name ...]");
    return COMMAND_DONE;
}
