/* SPDX-License-Identifier: Apache-2.0 */
/* How seqctl talks to seqbrokerd: over one connection of hiredis. Fields of
 * answers are found by name, so that a daemon may add fields. The callers
 * interpret them. */
#include "ctl/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "ctl/complain.h"

#define TLS_PREFIX "tls://"

/* The path of a socket: the given one, or that in the state directory. */
static enum ctl_exit client_name_socket(struct client *client,
                                        const char *given)
{
    char folder[sizeof client->socket];
    struct seqb_error err;
    int length;

    if (given != NULL) {
        length = snprintf(client->socket, sizeof client->socket, "%s", given);
    } else if (seqb_state_dir(NULL, folder, sizeof folder, &err) == SEQB_OK) {
        length = snprintf(client->socket, sizeof client->socket,
                          "%s/seqbrokerd.sock", folder);
    } else {
        ctl_complain("%s; or name the socket: -s SOCKET", err.text);
        return CTL_USAGE;
    }
    if ((size_t)length >= sizeof((struct sockaddr_un *)NULL)->sun_path) {
        ctl_complain("the socket's path has more than %zu bytes: %s",
                     sizeof((struct sockaddr_un *)NULL)->sun_path - 1,
                     client->socket);
        return CTL_USAGE;
    }
    return CTL_OK;
}

/* Parses HOST:PORT or [HOST]:PORT. A text with a slash is a path. Port 0: it is
 * not an address. */
static void address_find(const char *text, struct address *out)
{
    if (strchr(text, '/') != NULL || !address_parse(text, out))
        out->port = 0;
}

/* Says so if what was taken for a path may be a wrong address. A name of a file
 * is a path. */
static void doubt_path(const struct client *client)
{
    struct address at;

    if (strchr(client->socket, '/') == NULL &&
        access(client->socket, F_OK) != 0 &&
        !address_parse(client->socket, &at))
        ctl_complain("it was taken for a socket's path: the address of a "
                     "broker is HOST:PORT");
}

static enum ctl_exit client_unreachable(const struct client *client,
                                        const char *why)
{
    if (client->is_one_of_several) { /* the label names the broker already */
        ctl_complain("no seqbrokerd: %s", why);
        doubt_path(client);
        return CTL_UNREACHABLE;
    }
    ctl_complain("no seqbrokerd at %s: %s", client->socket, why);
    ctl_complain("start one (seqbrokerd), or name its socket (-s SOCKET)");
    doubt_path(client);
    return CTL_UNREACHABLE;
}

/* The text behind "tls://"; NULL: there is no such prefix. */
static const char *address_of_tls(const char *server)
{
    const size_t length = strlen(TLS_PREFIX);

    return server != NULL && strncmp(server, TLS_PREFIX, length) == 0
               ? server + length
               : NULL;
}

/* Checks that the server and the TLS options fit together. */
static enum ctl_exit tls_check(const struct ctl_options *options,
                               const char *server, int port)
{
    const bool is_tls = address_of_tls(server) != NULL;

    if (is_tls && port == 0) {
        ctl_complain("-s wants tls://HOST:PORT, not %s", server);
        return CTL_USAGE;
    }
    if (!is_tls && options->given & CTL_TLS) {
        ctl_complain("--tls-ca, --tls-cert and --tls-key are for a broker that "
                     "is named by -s tls://HOST:PORT");
        return CTL_USAGE;
    }
    if ((options->tls_cert == NULL) != (options->tls_key == NULL)) {
        ctl_complain("--tls-cert and --tls-key go together");
        return CTL_USAGE;
    }
    return CTL_OK;
}

/* Determines what to connect to; `*port` 0: a path. */
static enum ctl_exit client_name(struct client *client,
                                 const struct ctl_options *options,
                                 struct address *at)
{
    const char *server = options->socket;
    const char *secured = address_of_tls(server);
    enum ctl_exit named;

    if (server != NULL)
        address_find(secured != NULL ? secured : server, at);
    named = tls_check(options, server, at->port);
    if (named != CTL_OK)
        return named;
    if (at->port == 0)
        return client_name_socket(client, server);
    snprintf(client->socket, sizeof client->socket, "%s", server);
    return CTL_OK;
}

static enum ctl_exit client_connect(struct client *client,
                                    const struct ctl_options *options)
{
    const struct tls_client_files files = {.ca_file = options->tls_ca,
                                           .cert_file = options->tls_cert,
                                           .key_file = options->tls_key};
    struct stream_target target = {.host = client->socket};
    struct address at = {.port = 0};
    struct seqb_error err;
    const enum ctl_exit named = client_name(client, options, &at);

    if (named != CTL_OK)
        return named;
    target.port = at.port;
    if (at.port > 0)
        target.host = at.host;
    if (address_of_tls(options->socket) != NULL)
        target.tls = &files;
    switch (resp_open(
        &client->connection, &target, (int32_t)(client->timeout_s * 1000),
        (struct resp_bounds){CLIENT_ELEMENTS_MAX, CLIENT_BYTES_MAX}, &err)) {
    case SEQB_OK:
        client->connection.stream.is_renewed = true;
        return CTL_OK;
    case SEQB_INVALID:
        ctl_complain("%s", err.text);
        return CTL_USAGE;
    default:
        return client_unreachable(client, err.text);
    }
}

void client_close(struct client *client)
{
    resp_close(&client->connection);
}

static enum ctl_exit client_lost(const struct client *client)
{
    const struct stream *stream = &client->connection.stream;
    char why[RESP_WHY_SIZE];
    const enum resp_failure failure = resp_why(&client->connection, why);

    if (failure == RESP_LOST && stream_is_late(stream))
        ctl_complain("seqbrokerd at %s did not answer within %lld s: it may "
                     "be starting (its log says so), hang or be overloaded; "
                     "wait longer with -t SECONDS, or restart it if it hangs",
                     client->socket, (long long)client->timeout_s);
    else if (failure == RESP_GARBLED)
        ctl_complain("%s is no seqbrokerd: %s", client->socket, why);
    else
        ctl_complain("seqbrokerd at %s went away: %s", client->socket, why);
    return CTL_UNREACHABLE;
}

/* An error begins with its code, such as "LAYOUT". */
static void error_complain(const char *error)
{
    char code[32];

    if (error[strspn(error, " ")] == '\0')
        error = "ERR an error without a word was answered";
    snprintf(code, sizeof code, "%.*s", (int)strcspn(error, " "), error);
    complaint_code_set(code);
    ctl_complain("%s", error);
    if (strcmp(code, "NOAUTH") == 0)
        ctl_complain("seqctl logs in by --user NAME and --password-file FILE; "
                     "its user may need none at the unix socket (-s SOCKET)");
}

/* A server that is not our daemon, or a store whose words the daemon passes on,
 * must not control the terminal. So control characters are blanked, also those
 * of Latin 1 in UTF-8. */
static void text_clean(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];

        if (byte < ' ' || byte == 0x7f) {
            text[i] = ' ';
        } else if (byte == 0xc2 && i + 1 < length &&
                   ((unsigned char)text[i + 1] & 0xe0) == 0x80) {
            text[i] = ' ';
            text[i + 1] = ' ';
        }
    }
}

/* The recursion is bounded: hiredis refuses deeply nested replies. */
static void reply_clean(redisReply *reply) // NOLINT(misc-no-recursion)
{
    if (reply->str != NULL)
        text_clean(reply->str, (size_t)reply->len);
    for (size_t i = 0; i < reply->elements; i++)
        reply_clean(reply->element[i]);
}

enum ctl_exit client_call(struct client *client, size_t words,
                          const char *const *word, redisReply **out)
{
    struct resp *connection = &client->connection;
    redisReply *reply = NULL;

    stream_begin(&connection->stream, connection->stream.budget_ms);
    if (resp_append(connection, word, (int)words) && resp_flush(connection))
        reply = resp_read(connection);
    if (reply == NULL)
        return client_lost(client);
    reply_clean(reply);
    if (reply->type == REDIS_REPLY_ERROR) {
        error_complain(reply->str);
        freeReplyObject(reply);
        return CTL_FAILED;
    }
    *out = reply;
    return CTL_OK;
}

static enum ctl_exit client_log_in(struct client *client,
                                   const struct ctl_options *options)
{
    const char *const words[] = {"AUTH", options->user, options->password};
    redisReply *reply = NULL;
    const enum ctl_exit result = client_call(client, 3, words, &reply);

    if (reply != NULL)
        freeReplyObject(reply);
    return result;
}

enum ctl_exit client_open(const struct ctl_options *options, struct client *out)
{
    enum ctl_exit result;

    out->connection.reader = NULL;
    out->timeout_s = options->timeout_s;
    out->is_one_of_several = options->is_one_of_several;
    result = client_connect(out, options);
    if (result == CTL_OK && options->user != NULL)
        result = client_log_in(out, options);
    return result;
}

enum ctl_exit client_ask(const struct ctl_options *options, size_t words,
                         const char *const *word, redisReply **out)
{
    struct client client;
    enum ctl_exit result = client_open(options, &client);

    *out = NULL;
    if (result == CTL_OK)
        result = client_call(&client, words, word, out);
    client_close(&client);
    return result;
}

enum ctl_exit client_await_end(struct client *client)
{
    struct stream *stream = &client->connection.stream;
    redisReply *reply;

    stream_begin(stream, stream->budget_ms);
    reply = resp_read(&client->connection);
    if (reply == NULL && !stream_is_late(stream))
        return CTL_OK;
    if (reply != NULL)
        freeReplyObject(reply);
    ctl_complain("seqbrokerd at %s is stopping, but has not ended within %lld "
                 "s: it waits for its clients or its stores, its log says "
                 "more",
                 client->socket, (long long)client->timeout_s);
    return CTL_FAILED;
}

enum ctl_exit reply_refuse(const char *command, const char *what)
{
    ctl_complain("the answer to %s %s: is this a seqbrokerd, and of this "
                 "version?",
                 command, what);
    return CTL_FAILED;
}

const redisReply *reply_field(const redisReply *map, const char *name)
{
    if (map == NULL || map->type != REDIS_REPLY_ARRAY)
        return NULL;
    for (size_t i = 0; i + 1 < map->elements; i += 2) {
        const redisReply *key = map->element[i];

        if (key->type == REDIS_REPLY_STRING && strcmp(key->str, name) == 0)
            return map->element[i + 1];
    }
    return NULL;
}

const char *reply_text(const redisReply *map, const char *name)
{
    const redisReply *value = reply_field(map, name);

    if (value == NULL || (value->type != REDIS_REPLY_STRING &&
                          value->type != REDIS_REPLY_STATUS))
        return "";
    return value->str;
}

int64_t reply_integer(const redisReply *map, const char *name)
{
    const redisReply *value = reply_field(map, name);

    if (value == NULL)
        return 0;
    if (value->type == REDIS_REPLY_INTEGER)
        return value->integer;
    /* a daemon may send numbers above 2^53 as text */
    return value->type == REDIS_REPLY_STRING ? strtoll(value->str, NULL, 10)
                                             : 0;
}

const redisReply *reply_array(const redisReply *map, const char *name)
{
    const redisReply *value = reply_field(map, name);

    return value != NULL && value->type == REDIS_REPLY_ARRAY ? value : NULL;
}
