/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, and who looks a name up in it. The commands
 * themselves stand in numbers.c, texts.c, decode.c, parse.c, status.c,
 * workers.c, operate.c, greeting.c, client.c and manual.c. */
#include "daemon/commands.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/reply.h"
#include "daemon/session.h"

#define INTEGER_DIGITS_MAX 20
#define WORD_SHOWN_MAX     64 /* bytes of a client's word in an error */

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

bool word_is(struct resp_slice word, const char *text)
{
    return word.length == strlen(text) &&
           strncasecmp(word.data, text, word.length) == 0;
}

bool word_to_integer(struct resp_slice word, long long *out)
{
    char text[INTEGER_DIGITS_MAX + 1];
    char *end = NULL;

    if (word.length == 0 || word.length > INTEGER_DIGITS_MAX)
        return false;
    if (strchr("-0123456789", word.data[0]) == NULL)
        return false;
    memcpy(text, word.data, word.length);
    text[word.length] = '\0';
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end == text + word.length;
}

const struct command *command_find(struct resp_slice name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (word_is(name, commands[i].name))
            return &commands[i];
    return NULL;
}

void command_name(const struct command *command, char out[COMMAND_NAME_SIZE])
{
    size_t length = 0;

    for (; command->name[length] != '\0'; length++)
        out[length] = (char)tolower((unsigned char)command->name[length]);
    out[length] = '\0';
}

const struct command *command_at(size_t i)
{
    return i < COMMAND_COUNT ? &commands[i] : NULL;
}

/* How much of a client's own word an error shows. */
static int shown_length(struct resp_slice word)
{
    return (int)(word.length < WORD_SHOWN_MAX ? word.length : WORD_SHOWN_MAX);
}

bool command_integer(struct session *session, struct resp_slice word,
                     long long *out)
{
    if (word_to_integer(word, out))
        return true;
    reply_error(&session->out, "ERR",
                "value is not an integer or out of range: '%.*s'",
                shown_length(word), word.data);
    return false;
}

bool command_is_text(struct session *session,
                     const struct resp_request *request, size_t count,
                     bool *out)
{
    *out = request->argc == count + 1 && word_is(request->argv[count], "STR");
    if (*out || request->argc == count)
        return true;
    reply_error(&session->out, "ERR", "syntax error: %s",
                command_find(request->argv[0])->summary);
    return false;
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
                    shown_length(name), name.data);
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
