/* SPDX-License-Identifier: Apache-2.0 */
/* CLIENT: lists the connections, one line each in the format of Redis 7.0, and
 * stores what a client says about itself. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/listeners/listeners.h"
#include "daemon/session.h"

/* So many ids are compared at the cost of one number. */
#define IDS_PER_COST 16

/* What CLIENT INFO costs of the session's turn, as a row of a listing. */
#define INFO_COST 64

static bool name_is_legal(struct resp_slice name)
{
    bool is_legal = name.length <= SESSION_NAME_MAX;

    for (size_t i = 0; is_legal && i < name.length; i++)
        is_legal = name.data[i] > ' ' && name.data[i] <= '~';
    return is_legal;
}

bool client_rename(struct session *session, struct resp_slice name)
{
    if (!name_is_legal(name)) {
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

/* LIB-NAME and LIB-VER, to be shown in the list of connections. A value that
 * cannot be shown is not stored. */
static void client_describe_library(struct session *session,
                                    struct resp_slice attribute,
                                    struct resp_slice value)
{
    char *to = word_is(attribute, "LIB-NAME")  ? session->library
               : word_is(attribute, "LIB-VER") ? session->library_version
                                               : NULL;

    if (to == NULL || !name_is_legal(value))
        return;
    memcpy(to, value.data, value.length);
    to[value.length] = '\0';
}

/* --- a line --- */

/* The addresses of both ends of a connection. A client of a unix socket has no
 * address of its own, and is shown with the socket's path, as in Redis. */
struct ends {
    char peer[ADDRESS_SIZE];
    char own[ADDRESS_SIZE];
    bool is_local;
};

static void ends_read(int fd, struct ends *out)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;

    (void)getsockname(fd, (struct sockaddr *)&address, &length);
    address_print(&address, length, out->own);
    out->is_local = address.ss_family == AF_UNIX;
    if (!out->is_local) {
        length = sizeof address;
        (void)getpeername(fd, (struct sockaddr *)&address, &length);
    }
    address_print(&address, length, out->peer);
}

/* Redis's flags: b waits, c is about to be closed, U by a unix socket, N
 * none. */
static void flags_print(const struct session *session, bool is_local,
                        char out[4])
{
    char *to = out;

    if (session->state == SESSION_WAITING)
        *to++ = 'b';
    if (session->state == SESSION_CLOSING ||
        session->state == SESSION_LINGERING)
        *to++ = 'c';
    if (is_local)
        *to++ = 'U';
    if (to == out)
        *to++ = 'N';
    *to = '\0';
}

/* Redis shows a client that has not logged in as "default". */
static const char *client_user(const struct session *session,
                               char out[IDENTITY_NAME_SIZE])
{
    return session->identity.user != NULL
               ? identity_name(&session->identity, out)
               : "default";
}

static void line_write(struct buffer *text, const struct session *session)
{
    const int64_t now_ms = daemon_now_ms();
    const struct buffer *in = &session->in;
    const struct buffer *out = &session->out;
    char command[COMMAND_NAME_SIZE] = "NULL";
    char flags[4];
    char user[IDENTITY_NAME_SIZE];
    struct ends ends;

    ends_read(session->fd, &ends);
    flags_print(session, ends.is_local, flags);
    if (session->command != NULL)
        word_lower(session->command->name, command, sizeof command);
    buffer_format(
        text,
        "id=%lld addr=%s laddr=%s fd=%d name=%s age=%lld idle=%lld flags=%s "
        "db=0 sub=0 psub=0 ssub=0 multi=-1 qbuf=%zu qbuf-free=%zu argv-mem=0 "
        "multi-mem=0 rbs=%zu rbp=%zu obl=%zu oll=0 omem=0 tot-mem=%zu "
        "events=%s%s cmd=%s user=%s redir=-1 resp=%d",
        (long long)session->id, ends.peer, ends.own, session->fd, session->name,
        (long long)(now_ms - session->opened_ms) / 1000,
        (long long)(now_ms - session->received_ms) / 1000, flags, in->length,
        in->capacity - in->length, out->capacity, out->capacity, out->length,
        session->daemon->session_size + in->capacity + out->capacity,
        session->is_reading ? "r" : "", session->is_writing ? "w" : "", command,
        client_user(session, user), session->is_resp3 ? 3 : 2);
}

static void reply_client_info(struct session *session)
{
    struct buffer text = {0};

    line_write(&text, session);
    buffer_append(&text, "\n", 1);
    session->budget -= INFO_COST;
    reply_verbatim(&session->out, buffer_content(&text), text.length,
                   session->is_resp3);
    buffer_fini(&text);
}

/* --- a connection as a struct --- */

static const char *state_name(enum session_state state)
{
    if (state == SESSION_WAITING)
        return "waits";
    return state == SESSION_CLOSING || state == SESSION_LINGERING ? "closes"
                                                                  : "open";
}

void client_describe(const struct session *session, struct client_texts *texts,
                     struct status_client *out)
{
    const int64_t now_ms = daemon_now_ms();
    const bool has_version = session->library_version[0] != '\0';
    struct ends ends;

    ends_read(session->fd, &ends);
    snprintf(texts->address, sizeof texts->address, "%s", ends.peer);
    snprintf(texts->library, sizeof texts->library, "%s%s%s", session->library,
             has_version ? " " : "", session->library_version);
    texts->command[0] = '\0';
    if (session->command != NULL)
        word_lower(session->command->name, texts->command,
                   sizeof texts->command);
    *out = (struct status_client){
        .id = session->id,
        .address = texts->address,
        .user = identity_name(&session->identity, texts->user),
        .name = session->name,
        .library = texts->library,
        .state = state_name(session->state),
        .age_ms = now_ms - session->opened_ms,
        .idle_ms = now_ms - session->received_ms,
        .commands = session->commands,
        .command = texts->command,
        .resp = session->is_resp3 ? 3 : 2,
    };
}

/* --- the list --- */

/* Which connections a CLIENT LIST asks for. */
struct choice {
    int64_t ids[RESP_ARGUMENTS_MAX];
    size_t id_count;
    bool is_by_id; /* else all, or none if is_none */
    bool is_none;
};

static bool choice_has(const struct choice *choice, int64_t id)
{
    for (size_t i = 0; i < choice->id_count; i++)
        if (choice->ids[i] == id)
            return true;
    return !choice->is_by_id && !choice->is_none;
}

/* All connections are of Redis's type "normal". */
static bool type_parse(struct session *session, struct resp_slice type,
                       struct choice *out)
{
    static const char *const others[] = {"master", "replica", "slave",
                                         "pubsub"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        out->is_none = out->is_none || word_is(type, others[i]);
    if (out->is_none || word_is(type, "normal"))
        return true;
    reply_error(&session->out, "ERR", "Unknown client type '%.*s'",
                (int)type.length, type.data);
    return false;
}

static bool ids_parse(struct session *session,
                      const struct resp_request *request, struct choice *out)
{
    out->is_by_id = true;
    for (size_t i = 3; i < request->argc; i++) {
        long long id = 0;

        if (!word_to_integer(request->argv[i], &id) || id < 1) {
            reply_error(&session->out, "ERR", "Invalid client ID");
            return false;
        }
        out->ids[out->id_count++] = id;
    }
    return true;
}

/* Parses the words after CLIENT LIST. False after answering the error. */
static bool choice_parse(struct session *session,
                         const struct resp_request *request, struct choice *out)
{
    *out = (struct choice){.id_count = 0};
    if (request->argc == 2)
        return true;
    if (word_is(request->argv[2], "TYPE") && request->argc == 4)
        return type_parse(session, request->argv[3], out);
    if (word_is(request->argv[2], "ID") && request->argc > 3)
        return ids_parse(session, request, out);
    reply_error(&session->out, "ERR",
                "syntax error, use CLIENT LIST [TYPE type | ID id ...]");
    return false;
}

/* If not all connections are listed, each line has their total number in a
 * field that Redis does not have and clients skip. */
static bool line_add(struct session *session, const struct session *client,
                     const void *context)
{
    const struct choice *choice = context;
    struct listing *listing = session->listing;

    session->budget -= (int)(choice->id_count / IDS_PER_COST);
    if (!choice_has(choice, client->id))
        return false;
    line_write(&listing->text, client);
    if (listing->total > 0)
        buffer_format(&listing->text, " total=%lld", (long long)listing->total);
    buffer_append(&listing->text, "\n", 1);
    return true;
}

static enum command_outcome
reply_client_list(struct session *session, const struct resp_request *request)
{
    struct choice choice;
    struct listing *listing = NULL;

    if (!choice_parse(session, request, &choice))
        return COMMAND_DONE;
    if (session->listing == NULL &&
        !client_walk_begin(session, choice.is_by_id,
                           choice.is_by_id ? (int64_t)choice.id_count
                                           : CLIENTS_LISTED_MAX))
        return COMMAND_DONE;
    if (client_walk_run(session, line_add, &choice) == COMMAND_YIELDS)
        return COMMAND_YIELDS;
    listing = session->listing;
    reply_verbatim(&session->out, buffer_content(&listing->text),
                   listing->text.length, session->is_resp3);
    listing_end(session);
    return COMMAND_DONE;
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
    else if (word_is(what, "LIST"))
        return reply_client_list(session, request);
    else if (word_is(what, "GETNAME") && words == 0)
        reply_client_name(session);
    else if (word_is(what, "SETNAME") && words == 1) {
        if (client_rename(session, request->argv[2]))
            reply_simple(&session->out, "OK");
    } else if (word_is(what, "SETINFO") && words == 2) {
        client_describe_library(session, request->argv[2], request->argv[3]);
        reply_simple(&session->out, "OK");
    } else if ((word_is(what, "NO-EVICT") && words == 1) ||
               (word_is(what, "NO-TOUCH") && words == 1))
        reply_simple(&session->out, "OK"); /* accepted, and without effect */
    else
        reply_error(&session->out, "ERR",
                    "unknown subcommand or wrong number of arguments: use "
                    "CLIENT ID, INFO, LIST, GETNAME, SETNAME or SETINFO");
    return COMMAND_DONE;
}
