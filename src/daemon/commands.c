/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, who looks a name up in it, and COMMAND, which tells
 * it. The other commands stand in numbers.c, texts.c, decode.c, parse.c,
 * status.c, workers.c, operate.c, greeting.c and client.c; they do not know of
 * the table. */
#include "daemon/commands.h"

#include "daemon/reply.h"
#include "daemon/session.h"
#include "daemon/words.h"

/* The most frequent one first: the table is searched from its top. */
static const struct command commands[] = {
    {"INCR", 2, true, "write", "numbers", command_incr,
     "Takes one number: key"},
    {"SEQ.NEXT", -2, true, "write", "numbers", command_next,
     "Takes numbers: key [COUNT n] [SHARD s] [STAMP] [STR]"},
    {"INCRBY", 3, true, "write", "numbers", command_incrby,
     "Takes n contiguous numbers, answers the last: key n, 1 <= n <= "
     "2^memory_bits"},
    {"SEQ.NUMBER", -2, true, "write", "numbers", command_number,
     "Takes numbers as texts: key [COUNT n] [name value ...]"},
    {"SEQ.DECODE", -3, true, "readonly", "numbers", command_decode,
     "Takes a number apart: key number [STR]"},
    {"SEQ.PARSE", -3, true, "readonly", "numbers", command_parse,
     "Takes a text apart: key text [STR]"},
    {"SEQ.STATUS", 1, false, "readonly", "status", command_status,
     "The broker, its partitions and its sequences"},
    {"SEQ.WORKERS", 1, false, "readonly", "status", command_workers,
     "The worker ids of snowflakes, and who has them"},
    {"SEQ.HEALTH", 1, false, "readonly", "status", command_health,
     "Whether every pool can serve, and what is wrong"},
    {"SEQ.PARTITION", 3, false, "admin", "operator", command_partition,
     "QUARANTINE|RESCUE|DRAIN|RESUME pool/partition or backend"},
    {"SEQ.DRAIN", 1, false, "admin", "operator", command_drain,
     "Stops the whole daemon, as SIGTERM does"},
    {"SEQ.ADVANCE", 3, true, "write", "operator", command_advance,
     "Moves a sequence beyond a number: key number"},
    {"INFO", -1, false, "readonly", "status", command_info,
     "The server as text: [section ...]"},
    {"DBSIZE", 1, false, "readonly", "status", command_dbsize,
     "How many sequences this broker knows"},
    {"PING", -1, false, "fast", "connection", command_ping,
     "Answers PONG or a word"},
    {"ECHO", 2, false, "fast", "connection", command_echo, "Answers a word"},
    {"HELLO", -1, false, "fast", "connection", command_hello,
     "Chooses the protocol: [2|3 [SETNAME name]]"},
    {"CLIENT", -2, false, "fast", "connection", command_client,
     "ID, INFO, LIST [TYPE type | ID id ...], GETNAME, SETNAME name, SETINFO "
     "attribute value"},
    {"SELECT", 2, false, "fast", "connection", command_select,
     "Chooses the database, of which there is one: 0"},
    {"AUTH", -2, false, "fast", "connection", command_auth,
     "An error: there are no passwords"},
    {"RESET", 1, false, "fast", "connection", command_reset,
     "Makes the connection like a new one"},
    {"QUIT", -1, false, "fast", "connection", command_quit,
     "Closes the connection"},
    {"CONFIG", -2, false, "fast", "server", command_config,
     "GET pattern, for Redis tools; settings are in the topology"},
    {"COMMAND", -1, false, "fast", "server", command_command,
     "This table: [COUNT | LIST | DOCS [name ...] | INFO [name ...]]"},
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

/* What users of Redis will try, to be told what there is instead. */
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

/* What is there instead of a command of Redis; NULL: it is none. */
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

    /* A web page that makes a browser send commands inside a request: the
     * request itself ends the connection before them. */
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

enum command_outcome command_run(struct session *session,
                                 const struct resp_request *request)
{
    const struct command *command = command_find(request->argv[0]);
    int words = (int)request->argc;

    if (command == NULL)
        return command_refuse(session, request->argv[0]);
    session->command = command;
    if (words == command->arity ||
        (command->arity < 0 && words >= -command->arity))
        return command->run(session, request);
    reply_error(&session->out, "ERR", "wrong number of arguments for '%s': %s",
                command->name, command->summary);
    return COMMAND_DONE;
}

/* --- COMMAND: the table, told by itself --- */

static void command_list_info(struct session *session)
{
    reply_array(&session->out, COMMAND_COUNT);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        reply_command_info(&session->out, &commands[i], session->is_resp3);
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
    reply_map(&session->out, COMMAND_COUNT, session->is_resp3);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        reply_command_docs(&session->out, &commands[i], session->is_resp3);
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
    reply_array(&session->out, COMMAND_COUNT);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        reply_command_name(&session->out, &commands[i]);
}

enum command_outcome command_command(struct session *session,
                                     const struct resp_request *request)
{
    struct resp_slice what = {"INFO", 4};
    const bool names_some = request->argc > 2;

    if (request->argc > 1)
        what = request->argv[1];
    if (word_is(what, "COUNT") && !names_some)
        reply_integer(&session->out, COMMAND_COUNT);
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
