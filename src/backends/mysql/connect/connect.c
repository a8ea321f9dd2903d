/* SPDX-License-Identifier: Apache-2.0 */
/* Connecting, and what each session of the mysql engines is set to. */
#include "backends/mysql/connect/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/mysql/connect/client.h"
#include "backends/mysql/errors.h"
#include "net/net.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define DEFAULT_PORT 3306
#define HOST_SIZE    256

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

static unsigned whole_seconds(int32_t ms)
{
    return ((unsigned)ms + 999) / 1000;
}

/* The library does not say which file it could not read. */
static enum seqb_status files_check(const struct mysql_link *link,
                                    const struct seqb_backend_options *options,
                                    struct seqb_error *err)
{
    const char *const files[] = {options->tls_ca, options->tls_cert,
                                 options->tls_key};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i] != NULL && access(files[i], R_OK) != 0)
            return error_set(err, SEQB_INVALID, "%s: cannot read %s: %s",
                             link->where, files[i], strerror(errno));
    }
    return SEQB_OK;
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
    return files_check(link, options, err);
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

/*
 * Looks up the server's name within the deadline of the open: the client
 * library itself looks names up without a time limit. `out` is what to give to
 * it: the address if the name has one and no certificate needs the name;
 * otherwise the name, whose look-up just succeeded. SEQB_UNREACHABLE;
 * SEQB_INVALID for a name that is too long.
 */
static enum seqb_status host_find(const struct mysql_link *link,
                                  const struct seqb_backend_options *options,
                                  char out[static HOST_SIZE],
                                  struct seqb_error *err)
{
    struct addrinfo *found = NULL;
    const char *why = lookup_host(options->host, 0, link->deadline_ms, &found);
    bool is_numeric;

    if (why != NULL)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: cannot connect: host not found: %s", link->where,
                         why);
    is_numeric = options->tls != SEQB_TLS_VERIFY && found->ai_next == NULL &&
                 getnameinfo(found->ai_addr, found->ai_addrlen, out, HOST_SIZE,
                             NULL, 0, NI_NUMERICHOST) == 0;
    freeaddrinfo(found);
    if (is_numeric || text_copy(out, HOST_SIZE, options->host))
        return SEQB_OK;
    return error_set(err, SEQB_INVALID, "%s: the host's name is too long",
                     link->where);
}

static enum seqb_status link_connect(struct mysql_link *link,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err)
{
    const bool has_socket = options->socket_path != NULL;
    const unsigned port =
        options->port != 0 ? (unsigned)options->port : DEFAULT_PORT;
    char host[HOST_SIZE];
    const enum seqb_status status =
        has_socket ? SEQB_OK : host_find(link, options, host, err);

    if (status != SEQB_OK)
        return status;
    if (mysql_real_connect(
            link->handle, has_socket ? NULL : host, options->user,
            options->password != NULL ? options->password : "",
            options->database, has_socket ? 0 : port, options->socket_path,
            link->statements.one_by_one ? 0 : CLIENT_MULTI_STATEMENTS) ==
        NULL) {
        link->code = mysql_errno(link->handle);
        if (!mysql_error_is_clients(link->code))
            return mysql_link_refuse(link, err);
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
