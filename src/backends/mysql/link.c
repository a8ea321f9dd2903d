/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection of the mysql engines: statements, their answers, and the
 * status without an answer. It uses only what both client libraries share.
 */
#include "backends/mysql/link.h"

#include <errmsg.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/mysql/client.h"
#include "backends/mysql/errors.h"
#include "backends/mysql/host.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define DEFAULT_PORT 3306
#define TEXT_SIZE    1024 /* of the statements, initially */

static char library[64]; /* written once */

/* The library's own initialisation is not thread-safe. */
static void library_init(void)
{
    (void)mysql_library_init(0, NULL, NULL);
    (void)text_format(library, sizeof library, "%s %s", mysql_client_name(),
                      mysql_get_client_info());
}

const char *mysql_link_library(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, library_init);
    return library;
}

/* --- statements --- */

static bool text_grow(struct mysql_link *link, size_t more)
{
    size_t size = link->size > 0 ? link->size : TEXT_SIZE;
    char *text;

    while (size - link->length <= more)
        size *= 2;
    if (size == link->size)
        return true;
    text = realloc(link->text, size);
    if (text == NULL) {
        link->is_text_incomplete = true;
        return false;
    }
    link->text = text;
    link->size = size;
    return true;
}

void mysql_link_add(struct mysql_link *link, const char *format, ...)
{
    va_list args;
    va_list again;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length >= 0 && text_grow(link, (size_t)length)) {
        (void)vsnprintf(link->text + link->length, link->size - link->length,
                        format, args);
        link->length += (size_t)length;
    }
    va_end(args);
}

void mysql_link_quote(struct mysql_link *link, const char *value)
{
    const size_t length = strlen(value);
    char *end;

    if (link->handle == NULL || !text_grow(link, 2 * length + 2))
        return;
    end = link->text + link->length;
    *end++ = '\'';
    end += mysql_real_escape_string(link->handle, end, value,
                                    (unsigned long)length);
    *end++ = '\'';
    *end = '\0';
    link->length = (size_t)(end - link->text);
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
    free(link->text);
    link->text = NULL;
    link->length = 0;
    link->size = 0;
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

/* The error of the server, or of the library, for the last statement. */
static enum seqb_status link_refuse(struct mysql_link *link,
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
    link->is_denied = false;
    mysql_link_add(link, "USE `");
    for (const char *at = link->database; *at != '\0'; at++)
        mysql_link_add(link, "%s%c", *at == '`' ? "`" : "", *at);
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
    link->length = 0;
    link->run = NULL;
    link->is_text_incomplete = false;
    return link->is_denied ? rights_read(link, err) : SEQB_OK;
}

enum seqb_status mysql_link_send(struct mysql_link *link, enum seqb_status lost,
                                 struct seqb_error *err)
{
    const size_t length = link->length;

    rows_free(link);
    link->length = 0;
    link->taken = 0;
    link->code = 0;
    link->lost = lost;
    if (link->handle == NULL)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the connection was lost before, open it again",
                         link->where);
    if (link->is_text_incomplete) {
        handle_close(link);
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    }
    if (mysql_send_query(link->handle, link->text, (unsigned long)length) != 0)
        return link_lose(link, false, err);
    return SEQB_OK;
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
    if (link->taken++ == 0)
        return mysql_read_query_result(link->handle) != 0;
    return mysql_next_result(link->handle);
}

enum seqb_status mysql_link_next(struct mysql_link *link,
                                 struct seqb_error *err)
{
    int advanced;

    rows_free(link);
    if (link->handle == NULL)
        return error_set(err, link->lost, "%s: the connection was lost before",
                         link->where);
    if (link->taken == 0 && !link_wait(link))
        return link_lose(link, true, err);
    advanced = link_advance(link);
    if (advanced > 0)
        return link_refuse(link, err);
    if (advanced < 0)
        return mysql_link_distrust(link, "several statements", err);
    link->code = 0;
    link->changed = mysql_affected_rows(link->handle);
    link->insert_id = mysql_insert_id(link->handle);
    if (mysql_field_count(link->handle) == 0)
        return SEQB_OK;
    link->rows = mysql_store_result(link->handle);
    return link->rows != NULL ? SEQB_OK : link_refuse(link, err);
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
    while (status == SEQB_OK && mysql_more_results(link->handle));
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

/* --- connecting --- */

static unsigned whole_seconds(int32_t ms)
{
    return ((unsigned)ms + 999) / 1000;
}

static enum seqb_status
options_check(struct mysql_link *link,
              const struct seqb_backend_options *options,
              struct seqb_error *err)
{
    const int port = options->port != 0 ? options->port : DEFAULT_PORT;

    if (options->socket_path == NULL && options->host == NULL)
        return error_set(err, SEQB_INVALID, "%s: no host and no socket path",
                         options->name);
    if (options->socket_path != NULL)
        text_format(link->where, sizeof link->where, "%s (mysql %s)",
                    options->name, options->socket_path);
    else
        text_format(link->where, sizeof link->where, "%s (mysql %s:%d)",
                    options->name, options->host, port);
    if (options->database == NULL)
        return error_set(err, SEQB_INVALID, "%s: no database", link->where);
    if (options->socket_path != NULL && options->tls != SEQB_TLS_OFF)
        return error_set(err, SEQB_INVALID,
                         "%s: a unix socket has no tls: leave tls off, or give "
                         "a host",
                         link->where);
    return SEQB_OK;
}

/* The library reads none of its own configuration files. */
static bool handle_set(MYSQL *handle,
                       const struct seqb_backend_options *options)
{
    const unsigned connect = whole_seconds(options->connect_timeout_ms);
    const unsigned call = whole_seconds(options->timeout_ms);
    const unsigned protocol = options->socket_path != NULL
                                  ? (unsigned)MYSQL_PROTOCOL_SOCKET
                                  : (unsigned)MYSQL_PROTOCOL_TCP;
    const unsigned no = 0; /* a server may not request our files */

    return mysql_options(handle, MYSQL_OPT_CONNECT_TIMEOUT, &connect) == 0 &&
           mysql_options(handle, MYSQL_OPT_READ_TIMEOUT, &call) == 0 &&
           mysql_options(handle, MYSQL_OPT_WRITE_TIMEOUT, &call) == 0 &&
           mysql_options(handle, MYSQL_OPT_PROTOCOL, &protocol) == 0 &&
           mysql_options(handle, MYSQL_OPT_LOCAL_INFILE, &no) == 0 &&
           mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4") == 0 &&
           mysql_options(handle, MYSQL_OPT_SSL_CA, options->tls_ca) == 0 &&
           mysql_options(handle, MYSQL_OPT_SSL_CERT, options->tls_cert) == 0 &&
           mysql_options(handle, MYSQL_OPT_SSL_KEY, options->tls_key) == 0 &&
           mysql_client_set_tls(handle, options->tls);
}

static enum seqb_status link_connect(struct mysql_link *link,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err)
{
    const bool has_socket = options->socket_path != NULL;
    const unsigned port =
        options->port != 0 ? (unsigned)options->port : DEFAULT_PORT;
    char host[MYSQL_HOST_SIZE];
    const enum seqb_status status =
        has_socket ? SEQB_OK : mysql_host_find(link, options, host, err);

    if (status != SEQB_OK)
        return status;
    if (mysql_real_connect(
            link->handle, has_socket ? NULL : host, options->user,
            options->password != NULL ? options->password : "",
            options->database, has_socket ? 0 : port, options->socket_path,
            CLIENT_MULTI_STATEMENTS) == NULL) {
        link->code = mysql_errno(link->handle);
        if (!mysql_error_is_clients(link->code))
            return link_refuse(link, err);
        return error_set(err, SEQB_UNREACHABLE, "%s: cannot connect: %s",
                         link->where, mysql_error(link->handle));
    }
    if (options->tls != SEQB_TLS_OFF &&
        mysql_get_ssl_cipher(link->handle) == NULL)
        return error_set(err, SEQB_REFUSED, "%s: the server has no tls",
                         link->where);
    (void)fcntl(mysql_link_fd(link), F_SETFD, FD_CLOEXEC);
    return SEQB_OK;
}

/* Lock waits are no longer than a call; the unit of a row's lock wait is a
 * second. The time zone matters because the origin contains a table's date.
 * MySQL 8 would answer that date from a cache that lives for a day, unless it
 * is disabled; MariaDB ignores that setting. */
static enum seqb_status session_set(struct mysql_link *link,
                                    struct seqb_error *err)
{
    const unsigned wait = whole_seconds(link->timeout_ms);
    enum seqb_status status;

    mysql_link_add(link,
                   "SET SESSION autocommit = 1, completion_type = 0, "
                   "sql_safe_updates = 0, time_zone = '+00:00', "
                   "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
                   "innodb_lock_wait_timeout = %u, lock_wait_timeout = %u"
                   " /*!80000 , information_schema_stats_expiry = 0 */;"
                   "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, "
                   "READ WRITE",
                   wait, wait);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    return status == SEQB_OK ? mysql_link_skip(link, 2, err) : status;
}

enum seqb_status mysql_link_open(struct mysql_link *link,
                                 const struct seqb_backend_options *options,
                                 struct seqb_error *err)
{
    enum seqb_status status = options_check(link, options, err);

    if (status != SEQB_OK)
        return status;
    (void)mysql_link_library();
    link->lost = SEQB_UNREACHABLE;
    link->pid = getpid();
    link->database = options->database;
    link->timeout_ms = options->timeout_ms;
    link->budget_ms = options->connect_timeout_ms;
    link->deadline_ms = clock_now_ms() + options->connect_timeout_ms;
    link->handle = mysql_init(NULL);
    if (link->handle == NULL || !handle_set(link->handle, options))
        return error_set(err, SEQB_NO_MEMORY,
                         "%s: out of memory, or an option "
                         "that the client library does not know",
                         link->where);
    status = link_connect(link, options, err);
    return status == SEQB_OK ? session_set(link, err) : status;
}
