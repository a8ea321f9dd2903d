/* SPDX-License-Identifier: Apache-2.0 */
/* The TLS context of the daemon, its reload, and the log lines about TLS; see
 * transport.h. */
#include "daemon/transport/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <event2/event.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "daemon/daemon.h"
#include "daemon/listeners/listeners.h"
#include "daemon/log/log.h"

#define POLL_S      2     /* between two checks of the files */
#define AGAIN_MS    60000 /* between two attempts to read files that fail */
#define DAY_MS      (INT64_C(86400) * 1000) /* between checks of the expiry */
#define LOG_REST_MS 1000 /* between two lines about failed handshakes */

#define QUOTE_SIZE 1024

enum { FILES = 3 };

/* The identity of the files, as far as the file system shows it. */
struct files {
    struct {
        dev_t device;
        ino_t inode;
        off_t size;
        struct timespec modified;
        struct timespec changed; /* also by chmod and chown */
    } all[FILES];
};

struct tls_server {
    struct tls_settings settings; /* its strings are the caller's */
    SSL_CTX *context;
    struct event *poll;
    struct files read; /* the files at the last attempt to read them */
    struct files seen; /* the files at the last check */
    int64_t again_ms;  /* the next attempt; INT64_MAX: the last succeeded */
    char reason[SEQB_ERROR_TEXT_SIZE]; /* logged for these files, or "" */
    int64_t look_ms;                   /* when the expiry is checked next */
    int64_t log_next_ms;               /* the next line is not before that */
    int64_t left_out;                  /* lines dropped since the last one */
    struct daemon *daemon;
};

/* --- the log --- */

void tls_server_log(struct tls_server *server, int fd, const char *reason)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    const int64_t now_ms = daemon_now_ms();
    char peer[ADDRESS_SIZE];
    char why[QUOTE_SIZE];

    server->daemon->counts.tls_failed++;
    if (now_ms < server->log_next_ms) {
        server->left_out++;
        return;
    }
    (void)getpeername(fd, (struct sockaddr *)&address, &length);
    address_print(&address, length, peer);
    log_event(SEQB_LOG_INFO, "event=tls_failed peer=%s reason=%s left_out=%lld",
              peer, log_quote(why, sizeof why, reason),
              (long long)server->left_out);
    server->log_next_ms = now_ms + LOG_REST_MS;
    server->left_out = 0;
}

/* Called by OpenSSL at the begin of a handshake, and at the end of each of its
 * steps. A handshake that waits for its peer, or whose peer hung up, has no
 * error in OpenSSL's queue. */
static void on_handshake(const SSL *ssl, int where, int result)
{
    struct tls_server *server = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    char reason[TLS_REASON_SIZE];

    if (where == SSL_CB_HANDSHAKE_START)
        tls_input_watch(ssl, &server->daemon->limits);
    if (where == SSL_CB_HANDSHAKE_DONE)
        server->daemon->counts.tls_handshakes++;
    if (where != SSL_CB_ACCEPT_EXIT || result > 0 || ERR_peek_error() == 0)
        return;
    tls_handshake_reason(ssl, reason);
    tls_server_log(server, SSL_get_fd(ssl), reason);
}

/* Warns ahead of the expiry, because clients refuse an expired certificate. */
static void server_look(const struct tls_server *server)
{
    const struct tls_validity validity = tls_context_validity(server->context);
    char file[QUOTE_SIZE];
    char expires[QUOTE_SIZE];

    if (validity.days_left < TLS_DAYS_SOON)
        log_event(SEQB_LOG_WARN, "event=tls_expires file=%s expires=%s days=%d",
                  log_quote(file, sizeof file, server->settings.cert_file),
                  log_quote(expires, sizeof expires, validity.expires),
                  validity.days_left);
}

/* --- the context --- */

/* A missing file is all zero. */
static struct files files_look(const struct tls_settings *settings)
{
    const char *const paths[FILES] = {settings->cert_file, settings->key_file,
                                      settings->ca_file};
    struct files files;
    struct stat file;

    memset(&files, 0, sizeof files); /* compared by its bytes */
    for (size_t i = 0; i < FILES; i++) {
        if (paths[i] == NULL || stat(paths[i], &file) != 0)
            continue;
        files.all[i].device = file.st_dev;
        files.all[i].inode = file.st_ino;
        files.all[i].size = file.st_size;
        files.all[i].modified = file.st_mtim;
        files.all[i].changed = file.st_ctim;
    }
    return files;
}

static bool files_are_equal(const struct files *a, const struct files *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static enum seqb_status server_read(struct tls_server *server, int64_t now_ms,
                                    struct seqb_error *err)
{
    SSL_CTX *context = NULL;

    /* Taken before the files are read, so that a change during the read is
     * noticed and read next. */
    server->read = files_look(&server->settings);
    server->seen = server->read;
    if (tls_server_context(&server->settings, &context, err) != SEQB_OK)
        return err->status;
    SSL_CTX_set_app_data(context, server);
    SSL_CTX_set_info_callback(context, on_handshake);
    SSL_CTX_free(server->context);
    server->context = context;
    server->again_ms = INT64_MAX;
    server->reason[0] = '\0';
    server->look_ms = now_ms + DAY_MS;
    return SEQB_OK;
}

/* Logged once for each reason of the same files, not at each attempt. */
static void server_log_failure(struct tls_server *server, const char *reason)
{
    char text[QUOTE_SIZE];

    if (strcmp(server->reason, reason) == 0)
        return;
    log_event(SEQB_LOG_ERROR, "event=tls_reload_failed reason=%s",
              log_quote(text, sizeof text, reason));
    snprintf(server->reason, sizeof server->reason, "%s", reason);
}

/* New connections use the files read here; existing ones keep what they have.
 * If the files cannot be used, nothing is changed, and they are read again
 * after AGAIN_MS: the reason may be one that passes, such as short memory. */
static void server_reload(struct tls_server *server, int64_t now_ms)
{
    char text[QUOTE_SIZE];
    struct seqb_error err;

    if (server_read(server, now_ms, &err) != SEQB_OK) {
        server->again_ms = now_ms + AGAIN_MS;
        server_log_failure(server, err.text);
        return;
    }
    log_event(SEQB_LOG_INFO, "event=tls_reloaded expires=%s",
              log_quote(text, sizeof text,
                        tls_context_validity(server->context).expires));
    server_look(server); /* after that line, which ends the former warning */
}

/* Files that have changed are read when two checks in a row saw them the same,
 * so that a certificate is not read before its key is there, too. */
void tls_server_poll(struct tls_server *server, int64_t now_ms)
{
    const struct files files = files_look(&server->settings);
    const bool is_settled = files_are_equal(&files, &server->seen);
    const bool is_changed = !files_are_equal(&files, &server->read);

    server->seen = files;
    if (is_changed)
        server->reason[0] = '\0';
    if (is_settled && (is_changed || now_ms >= server->again_ms))
        server_reload(server, now_ms);
    if (now_ms < server->look_ms)
        return;
    server->look_ms += DAY_MS;
    server_look(server);
}

static void server_on_poll(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    tls_server_poll(context, daemon_now_ms());
}

static enum seqb_status open_fail(struct seqb_error *err,
                                  enum seqb_status status, const char *why)
{
    err->status = status;
    snprintf(err->text, sizeof err->text, "cannot start: TLS: %s", why);
    return status;
}

static enum seqb_status server_watch(struct tls_server *server,
                                     struct event_base *base,
                                     struct seqb_error *err)
{
    const struct timeval pause = {POLL_S, 0};

    server->poll = event_new(base, -1, EV_PERSIST, server_on_poll, server);
    if (server->poll != NULL && event_add(server->poll, &pause) == 0)
        return SEQB_OK;
    return open_fail(err, SEQB_NO_MEMORY, "out of memory");
}

enum seqb_status tls_server_open(const struct tls_settings *settings,
                                 struct event_base *base, struct daemon *daemon,
                                 struct tls_server **out,
                                 struct seqb_error *err)
{
    struct tls_server *server = NULL;

    if (settings->cert_file == NULL)
        return open_fail(err, SEQB_INVALID,
                         "there is no certificate: name it and its key in the "
                         "topology's section daemon, by tls_cert_file and "
                         "tls_key_file");
    server = calloc(1, sizeof *server);
    if (server == NULL)
        return open_fail(err, SEQB_NO_MEMORY, "out of memory");
    server->settings = *settings;
    server->daemon = daemon;
    if (server_read(server, daemon_now_ms(), err) != SEQB_OK ||
        server_watch(server, base, err) != SEQB_OK) {
        tls_server_close(server);
        return err->status;
    }
    server_look(server);
    *out = server;
    return SEQB_OK;
}

SSL *tls_server_accept(struct tls_server *server)
{
    SSL *ssl = SSL_new(server->context);

    if (ssl != NULL)
        SSL_set_accept_state(ssl);
    else
        ERR_clear_error();
    return ssl;
}

void tls_server_close(struct tls_server *server)
{
    if (server == NULL)
        return;
    if (server->poll != NULL)
        event_free(server->poll);
    SSL_CTX_free(server->context);
    free(server);
}
