/* SPDX-License-Identifier: Apache-2.0 */
/* The begin of a session with a memcached server: connect, log in, and refuse
 * servers that lack what the engine needs or whose data may go back. */
#include "backends/memcached/session.h"

#include <inttypes.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define STAT_SIZE  160
#define STATS_MAX  1000 /* lines; servers have about a hundred */
#define STATS_KEPT 6

/* The STAT lines that the engine uses. */
struct stats {
    char pid[STAT_SIZE];
    char uptime[STAT_SIZE];
    char time[STAT_SIZE];
    char maxconns[STAT_SIZE];
    char cas_enabled[STAT_SIZE];
    char memory_file[STAT_SIZE];
};

/* --- requests and answers --- */

/* Sends a question behind what was added, and reads one line. "": none is
 * sent. */
static enum seqb_status session_ask(struct memcached_link *link,
                                    const char *question,
                                    struct memcached_reply *reply,
                                    struct seqb_error *err)
{
    if (!memcached_link_add(link, "%s", question) ||
        !memcached_link_flush(link) || !memcached_link_read(link, reply))
        return memcached_link_lose(link, SEQB_UNREACHABLE, err);
    return SEQB_OK;
}

/* Keeps the value of the line "STAT name value" if the engine uses it. */
static void stat_keep(const struct memcached_reply *line, struct stats *stats)
{
    const struct {
        const char *head;
        char *value;
    } kept[STATS_KEPT] = {
        {"STAT pid", stats->pid},
        {"STAT uptime", stats->uptime},
        {"STAT time", stats->time},
        {"STAT maxconns", stats->maxconns},
        {"STAT cas_enabled", stats->cas_enabled},
        {"STAT memory_file", stats->memory_file},
    };

    for (size_t i = 0; i < STATS_KEPT; i++) {
        const size_t head = strlen(kept[i].head) + 1;

        if (line->length > head && memcached_reply_begins(line, kept[i].head))
            (void)text_format(kept[i].value, STAT_SIZE, "%.*s",
                              (int)(line->length - head), line->text + head);
    }
}

/* `lost` is the status if there is no answer. */
static enum seqb_status stats_read(struct memcached_link *link,
                                   const char *question, enum seqb_status lost,
                                   struct stats *stats, struct seqb_error *err)
{
    struct memcached_reply line = {.code = MEMCACHED_LINE, .text = ""};

    if (!memcached_link_add(link, "%s\r\n", question) ||
        !memcached_link_flush(link))
        return memcached_link_lose(link, lost, err);
    for (int i = 0; i < STATS_MAX; i++) {
        if (!memcached_link_read(link, &line))
            return memcached_link_lose(link, lost, err);
        if (memcached_reply_begins(&line, "END"))
            return SEQB_OK;
        if (line.code == MEMCACHED_ERROR)
            return memcached_link_refuse(link, question, &line, err);
        if (!memcached_reply_begins(&line, "STAT"))
            break;
        stat_keep(&line, stats);
    }
    return memcached_link_distrust(link, question, &line, err);
}

/* --- log in --- */

/* Only if the server asked for a login: another server would store the password
 * as the item that the command names. */
static enum seqb_status session_login(struct memcached_link *link,
                                      const struct seqb_backend_options *from,
                                      struct seqb_error *err)
{
    const char *user = from->user != NULL ? from->user : "";
    const char *password = from->password != NULL ? from->password : "";
    const size_t length = strlen(user) + 1 + strlen(password);
    struct memcached_reply reply;
    enum seqb_status status;

    if (!memcached_link_add(link, "set auth 0 0 %zu\r\n", length) ||
        !memcached_link_add_bytes(link, user, strlen(user)) ||
        !memcached_link_add_bytes(link, " ", 1) ||
        !memcached_link_add_bytes(link, password, strlen(password)))
        return memcached_link_lose(link, SEQB_UNREACHABLE, err);
    status = session_ask(link, "\r\nversion\r\n", &reply, err);
    explicit_bzero(link->out, sizeof link->out);
    if (status != SEQB_OK || memcached_reply_begins(&reply, "STORED"))
        return status;
    return error_set(err, SEQB_REFUSED,
                     "%s: the user or the password was refused", link->where);
}

/* Asks for the version. A proxy answers other words, or none. */
static enum seqb_status session_version(struct memcached_link *link,
                                        struct memcached_session *session,
                                        const struct seqb_backend_options *from,
                                        struct seqb_error *err)
{
    static const char head[] = "VERSION ";
    struct memcached_reply reply = {.code = MEMCACHED_LINE, .text = ""};
    enum seqb_status status = session_ask(link, "version\r\n", &reply, err);

    if (status == SEQB_OK && from->password != NULL &&
        memcached_reply_begins(&reply, "CLIENT_ERROR unauthenticated")) {
        status = session_login(link, from, err);
        if (status == SEQB_OK) /* the version was asked for again */
            status = session_ask(link, "", &reply, err);
    }
    if (status != SEQB_OK)
        return status;
    if (reply.code == MEMCACHED_ERROR)
        return memcached_link_refuse(link, "version", &reply, err);
    if (memcached_reply_begins(&reply, "-ERR") ||
        memcached_reply_begins(&reply, "-NOAUTH"))
        return error_set(err, SEQB_PROTOCOL,
                         "%s: a Redis server answers there, and no memcached: "
                         "give another port, or engine = \"redis\"",
                         link->where);
    if (!memcached_reply_begins(&reply, "VERSION") ||
        reply.length < sizeof head ||
        strchr("0123456789", reply.text[sizeof head - 1]) == NULL)
        return memcached_link_distrust(link, "version", &reply, err);
    (void)text_format(session->version, sizeof session->version, "%.*s",
                      (int)(reply.length - (sizeof head - 1)),
                      reply.text + (sizeof head - 1));
    return SEQB_OK;
}

/* Refuses servers before 1.6, which have no meta commands. */
static enum seqb_status session_meta(struct memcached_link *link,
                                     const struct memcached_session *session,
                                     struct seqb_error *err)
{
    struct memcached_reply reply;
    const enum seqb_status status = session_ask(link, "mn\r\n", &reply, err);

    if (status != SEQB_OK || memcached_reply_begins(&reply, "MN"))
        return status;
    return error_set(err, SEQB_REFUSED,
                     "%s: memcached %s has no meta commands: use 1.6 or "
                     "later",
                     link->where, session->version);
}

/* --- checks of the server --- */

static bool stat_number(const char *text, int64_t *out)
{
    return text_to_int64(text, strlen(text), out);
}

/* Parses seconds since 1970 that also fit as ms. */
static bool stat_time(const char *text, int64_t *out)
{
    return stat_number(text, out) && *out >= 1 && *out <= INT64_MAX / 1000;
}

/* Refuses a server that keeps its memory in a file: at a start it loads that
 * file, which may be an old copy. */
static enum seqb_status check_memory(const struct memcached_link *link,
                                     const struct stats *stats,
                                     const struct seqb_backend_options *options,
                                     struct memcached_session *session,
                                     struct seqb_error *err)
{
    if (stats->memory_file[0] == '\0' ||
        strcmp(stats->memory_file, "(null)") == 0)
        return SEQB_OK;
    if (!options->accept_loss)
        return error_set(err, SEQB_UNSAFE,
                         "%s: the server keeps its memory in a file (%s), an "
                         "old copy of which would repeat numbers: start it "
                         "without -e, or set accept_loss",
                         link->where, stats->memory_file);
    (void)text_copy(session->loss, sizeof session->loss,
                    "an old copy of the server's memory file, put back, "
                    "repeats numbers");
    return SEQB_OK;
}

static enum seqb_status check_stats(struct memcached_link *link,
                                    const struct stats *stats,
                                    const struct seqb_backend_options *options,
                                    struct memcached_session *session,
                                    struct seqb_error *err)
{
    int64_t pid;
    int64_t uptime;

    if (!stat_number(stats->pid, &pid) ||
        !stat_time(stats->time, &session->time_s) ||
        !stat_number(stats->uptime, &uptime) ||
        !stat_number(stats->maxconns, &session->connections) ||
        session->connections < 1)
        return error_set(err, SEQB_PROTOCOL,
                         "%s: the server does not say its pid, its age, and "
                         "its limit of connections: is it a proxy? Name the "
                         "server itself",
                         link->where);
    if (strcmp(stats->cas_enabled, "yes") != 0)
        return error_set(err, SEQB_REFUSED,
                         "%s: the server has no compare and swap: start it "
                         "without -C",
                         link->where);
    (void)text_format(session->origin, sizeof session->origin,
                      "%" PRId64 ":%" PRId64, pid, session->time_s - uptime);
    session->seen_ms = clock_now_ms();
    return check_memory(link, stats, options, session, err);
}

enum seqb_status memcached_session_open(
    struct memcached_link *link, struct memcached_session *session,
    const struct seqb_backend_options *options, struct seqb_error *err)
{
    struct stats stats = {.pid = ""};
    enum seqb_status status = memcached_link_open(link, options, err);

    if (status == SEQB_OK)
        status = session_version(link, session, options, err);
    if (status == SEQB_OK)
        status = session_meta(link, session, err);
    if (status == SEQB_OK)
        status = stats_read(link, "stats", SEQB_UNREACHABLE, &stats, err);
    if (status == SEQB_OK)
        status =
            stats_read(link, "stats settings", SEQB_UNREACHABLE, &stats, err);
    if (status != SEQB_OK)
        return status;
    return check_stats(link, &stats, options, session, err);
}

enum seqb_status memcached_session_clock(struct memcached_link *link,
                                         int64_t *out_s, struct seqb_error *err)
{
    struct stats stats = {.time = ""};
    const enum seqb_status status =
        stats_read(link, "stats", SEQB_UNCERTAIN, &stats, err);

    if (status != SEQB_OK || stat_time(stats.time, out_s))
        return status;
    memcached_link_close(link);
    return error_set(err, SEQB_PROTOCOL,
                     "%s: the server does not say what time it is: is it a "
                     "proxy? Name the server itself",
                     link->where);
}

int64_t memcached_session_now_s(const struct memcached_session *session)
{
    return session->time_s + (clock_now_ms() - session->seen_ms) / 1000;
}
