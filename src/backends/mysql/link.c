/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection of the mysql engines: statements, their answers, and the
 * status without an answer. It uses only what both client libraries share.
 */
#include "backends/mysql/link.h"

#include <assert.h>
#include <errmsg.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <mysqld_error.h>

#include "backends/mysql/errors.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* --- statements --- */

void mysql_link_add(struct mysql_link *link, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    mysql_statements_add(&link->statements, format, args);
    va_end(args);
}

void mysql_link_quote(struct mysql_link *link, const char *value)
{
    const size_t length = strlen(value);
    char *const begin =
        link->handle != NULL
            ? mysql_statements_space(&link->statements, 2 * length + 2)
            : NULL;
    char *end = begin;

    if (begin == NULL)
        return;
    *end++ = '\'';
    end += mysql_real_escape_string(link->handle, end, value,
                                    (unsigned long)length);
    *end++ = '\'';
    mysql_statements_grown(&link->statements, (size_t)(end - begin));
}

/* --- failures --- */

static void rows_free(struct mysql_link *link)
{
    if (link->rows != NULL)
        mysql_free_result(link->rows);
    link->rows = NULL;
    link->row = NULL;
}

/* In a forked child the library must not end the parent's session: what it
 * writes goes to /dev/null. */
static void handle_mute(MYSQL *handle)
{
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (nowhere < 0)
        return;
    (void)dup3(nowhere, (int)handle->net.fd, O_CLOEXEC);
    close(nowhere);
}

static void handle_close(struct mysql_link *link)
{
    rows_free(link);
    if (link->handle != NULL)
        mysql_close(link->handle);
    link->handle = NULL;
}

void mysql_link_close(struct mysql_link *link)
{
    if (link->handle != NULL && link->pid != getpid())
        handle_mute(link->handle);
    handle_close(link);
    mysql_statements_free(&link->statements);
}

enum seqb_status mysql_link_distrust(struct mysql_link *link, const char *asked,
                                     struct seqb_error *err)
{
    handle_close(link);
    return error_set(err, SEQB_PROTOCOL, "%s: the answer to %s makes no sense",
                     link->where, asked);
}

static enum seqb_status link_lose(struct mysql_link *link, bool is_late,
                                  struct seqb_error *err)
{
    enum seqb_status status = link->lost;

    link->code = mysql_errno(link->handle);
    if (link->code == CR_OUT_OF_MEMORY)
        status =
            error_set(err, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    else if (is_late)
        error_set(err, status, "%s: no answer within %d ms", link->where,
                  (int)link->budget_ms);
    else
        error_set(err, status, "%s: connection lost: %s", link->where,
                  mysql_error(link->handle));
    handle_close(link);
    return status;
}

enum seqb_status mysql_link_refuse(struct mysql_link *link,
                                   struct seqb_error *err)
{
    const struct mysql_error *error;

    link->code = mysql_errno(link->handle);
    if (link->code == 0 || mysql_error_is_clients(link->code))
        return link_lose(link, false, err);
    error = mysql_error_find(link->code);
    link->is_denied = link->is_denied || mysql_error_is_of_rights(link->code);
    if (error == NULL || error->next == NULL)
        return error_set(err, error != NULL ? error->status : SEQB_REFUSED,
                         "%s: error %u: %s", link->where, link->code,
                         mysql_error(link->handle));
    return error_set(err, error->status, "%s: error %u: %s; %s", link->where,
                     link->code, mysql_error(link->handle), error->next);
}

/* --- calls --- */

/* A server reads the rights on a database when the database is chosen: to see
 * rights that are granted later, a session must choose it again. */
static enum seqb_status rights_read(struct mysql_link *link,
                                    struct seqb_error *err)
{
    const size_t length = strlen(link->database);
    size_t quoted = 0;
    char *out;

    link->is_denied = false;
    mysql_link_add(link, "USE `");
    out = mysql_statements_space(&link->statements, 2 * length);
    for (size_t i = 0; i < length && out != NULL; i++) {
        if (link->database[i] == '`')
            out[quoted++] = '`';
        out[quoted++] = link->database[i];
    }
    if (out != NULL)
        mysql_statements_grown(&link->statements, quoted);
    mysql_link_add(link, "`");
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

enum seqb_status mysql_link_begin(struct mysql_link *link,
                                  struct seqb_error *err)
{
    if (link->pid != getpid())
        return error_set(err, SEQB_FORKED, "%s: was opened before fork()",
                         link->where);
    if (link->handle == NULL)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the connection was lost before, open it again",
                         link->where);
    link->budget_ms = link->timeout_ms;
    link->deadline_ms = clock_now_ms() + link->timeout_ms;
    link->run = NULL;
    link->statements.length = 0;
    link->statements.is_incomplete = false;
    mysql_statements_drop(&link->statements);
    return link->is_denied ? rights_read(link, err) : SEQB_OK;
}

/* Sends what is next, and begins to wait for its answer. */
static enum seqb_status link_transmit(struct mysql_link *link,
                                      struct seqb_error *err)
{
    size_t length;
    const char *text = mysql_statements_next(&link->statements, &length);

    if (text == NULL)
        return mysql_link_distrust(link, "several statements", err);
    link->is_query = strncmp(text, "SELECT", strlen("SELECT")) == 0;
    link->is_sent = true;
    if (mysql_send_query(link->handle, text, (unsigned long)length) != 0)
        return link_lose(link, false, err);
    return SEQB_OK;
}

enum seqb_status mysql_link_send(struct mysql_link *link, enum seqb_status lost,
                                 struct seqb_error *err)
{
    rows_free(link);
    mysql_statements_close(&link->statements);
    link->code = 0;
    link->lost = lost;
    if (link->handle == NULL)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the connection was lost before, open it again",
                         link->where);
    if (link->statements.is_incomplete) {
        handle_close(link);
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    }
    return link_transmit(link, err);
}

/* Waits for the first byte of an answer; false at the deadline. */
static bool link_wait(const struct mysql_link *link)
{
    struct pollfd fd = {.fd = mysql_link_fd(link), .events = POLLIN};

    for (;;) {
        const int64_t rest = link->deadline_ms - clock_now_ms();
        int ready;

        if (rest <= 0)
            return false;
        ready = poll(&fd, 1, (int)rest);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true; /* the read then reports the error */
    }
}

/* Goes to the next answer: 0 on success, 1 on failure, -1 if there is no
 * further answer. */
static int link_advance(struct mysql_link *link)
{
    if (!link->is_sent)
        return mysql_next_result(link->handle);
    link->is_sent = false;
    return mysql_read_query_result(link->handle) != 0;
}

static bool link_has_more(const struct mysql_link *link)
{
    return mysql_more_results(link->handle) ||
           mysql_statements_are_left(&link->statements);
}

/* A SELECT without a result set, from a node of a cluster. */
static enum seqb_status link_abort(struct mysql_link *link,
                                   struct seqb_error *err)
{
    link->code = ER_LOCK_DEADLOCK;
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: the transaction was aborted, since another node was "
                     "faster",
                     link->where);
}

static enum seqb_status answer_take(struct mysql_link *link,
                                    struct seqb_error *err)
{
    int advanced;

    assert(link->handle != NULL);
    if (link->is_sent && !link_wait(link))
        return link_lose(link, true, err);
    advanced = link_advance(link);
    if (advanced > 0)
        return mysql_link_refuse(link, err);
    if (advanced < 0)
        return mysql_link_distrust(link, "several statements", err);
    link->code = 0;
    link->changed = mysql_affected_rows(link->handle);
    link->insert_id = mysql_insert_id(link->handle);
    if (mysql_field_count(link->handle) == 0)
        return link->is_query && link->statements.one_by_one
                   ? link_abort(link, err)
                   : SEQB_OK;
    link->rows = mysql_store_result(link->handle);
    return link->rows != NULL ? SEQB_OK : mysql_link_refuse(link, err);
}

enum seqb_status mysql_link_next(struct mysql_link *link,
                                 struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    rows_free(link);
    if (link->handle == NULL)
        return error_set(err, link->lost, "%s: the connection was lost before",
                         link->where);
    if (!link->is_sent && !mysql_more_results(link->handle))
        status = link_transmit(link, err);
    if (status == SEQB_OK)
        status = answer_take(link, err);
    if (status != SEQB_OK)
        mysql_statements_drop(&link->statements);
    return status;
}

enum seqb_status mysql_link_skip(struct mysql_link *link, size_t n,
                                 struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (; n > 0 && status == SEQB_OK; n--)
        status = mysql_link_next(link, err);
    return status;
}

enum seqb_status mysql_link_finish(struct mysql_link *link,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    do
        status = mysql_link_next(link, err);
    while (status == SEQB_OK && link_has_more(link));
    return status;
}

enum seqb_status mysql_link_next_commit(struct mysql_link *link,
                                        struct seqb_error *err)
{
    struct seqb_error why;
    const enum seqb_status status = mysql_link_next(link, &why);

    if (status == SEQB_OK)
        return SEQB_OK;
    if (link->handle != NULL && mysql_error_find(link->code) == NULL)
        return error_set(err, SEQB_UNCERTAIN, "%s", why.text);
    return error_copy(err, &why);
}

enum seqb_status mysql_link_run(struct mysql_link *link, enum seqb_status lost,
                                struct seqb_error *err)
{
    const enum seqb_status status = mysql_link_send(link, lost, err);

    return status == SEQB_OK ? mysql_link_next(link, err) : status;
}

/* --- rows --- */

bool mysql_link_row(struct mysql_link *link)
{
    link->row = link->rows != NULL ? mysql_fetch_row(link->rows) : NULL;
    return link->row != NULL;
}

const char *mysql_link_text(const struct mysql_link *link, unsigned column)
{
    if (link->row == NULL || column >= mysql_num_fields(link->rows))
        return NULL;
    return link->row[column];
}

bool mysql_link_int64(const struct mysql_link *link, unsigned column,
                      int64_t *out)
{
    const char *text = mysql_link_text(link, column);

    return text != NULL && text_to_int64(text, strlen(text), out);
}

int mysql_link_fd(const struct mysql_link *link)
{
    return (int)link->handle->net.fd;
}
