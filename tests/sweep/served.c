/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon and its client; see served.h. */
#include "served.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <event2/event.h>
#include <openssl/ssl.h>
#include <seqbroker/reload.h>

#include "daemon/http/http.h"
#include "daemon/log/log.h"
#include "daemon/reloader/reloader.h"
#include "daemon/signals.h"
#include "platform/text.h"
#include "support/test.h"

#define PATIENCE_S 60 /* an answer has come, or never will */
#define WAIT_S     2
#define AGAIN_MS   20
#define END_MS     10000 /* until connections that were closed are forgotten */

/* The password's hash is cheap. */
static const char begin[] =
    "broker = { name = \"orders\"; open_timeout = \"1m\"; };"
    "backends = ("
    "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"
    "  { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"a\", \"b\" ]; } );"
    "users = ( { name = \"" SERVED_USER "\"; role = \"admin\";";

static const char certificate[] = "  certificate = \"" SERVED_USER "\";";

static const char rest[] =
    "  password_hash ="
    "  \"$$argon2id$$v=19$$m=8,t=1,p=1$$AMIUT7KhQ81YBkEZG"
    "JD90A$$DgYWsPu3+Rs/KFO9uA3m5gUMKnWjo7cgLCpo4Ggkt6w\"; } );"
    "sequences = ( { key = \"order\"; memory_bits = 2; max_unused = 32;"
    "    deadline = $; },"
    "  { key = \"bill\"; max_unused = 32; deadline = $;"
    "    template = \"B@{seq, width=12}\"; }";

static const struct tls_files *tls_files; /* NULL: no TLS */
static SSL_CTX *client_context;

void served_use_tls(const struct tls_files *files)
{
    tls_files = files;
    client_context = SSL_CTX_new(TLS_client_method());
    if (client_context == NULL ||
        SSL_CTX_use_certificate_file(client_context, files->cert,
                                     SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(client_context, files->key,
                                    SSL_FILETYPE_PEM) != 1)
        sweep_fail("the client cannot speak TLS");
}

const char *served_topology(const struct sweep *sweep, const char *more)
{
    char text[sizeof begin + sizeof rest + 1024];
    char tls[768] = "";

    if (tls_files != NULL)
        (void)text_format(tls, sizeof tls,
                          "  tls_cert_file = \"%s\"; tls_key_file = \"%s\";"
                          "  tls_ca_file = \"%s\"; tls_client_auth = \"user\";",
                          tls_files->cert, tls_files->key, tls_files->cert);
    (void)text_format(text, sizeof text,
                      "daemon = { stop_timeout = \"1m\";"
                      "  audit_file = \"%s/%s\"; %s };%s%s%s%s );",
                      sweep->folder, SERVED_AUDIT, tls, begin,
                      tls_files != NULL ? certificate : "", rest, more);
    return sweep_topology(sweep, "daemon.conf", text);
}

/* Kept until the process ends, as by the program. */
static struct reloader *reloader;

bool served_options(struct sweep *sweep, const char *path, struct options *out)
{
    char name[] = "seqbrokerd";
    char copy[128];
    char socket[128];
    char config[] = "-c";
    char listen[] = "--listen=127.0.0.1:0";
    char none[] = "--listen=none";
    char tls[] = "--tls-listen=127.0.0.1:0";
    char http[] = "--http=127.0.0.1:0";
    char https[] = "--https=127.0.0.1:0";
    char *argv[] = {name,
                    config,
                    copy,
                    tls_files != NULL ? none : listen,
                    tls_files != NULL ? https : http,
                    socket,
                    tls,
                    NULL};
    const int argc = COUNT_OF(argv) - (tls_files != NULL ? 1 : 2);
    int code;

    (void)text_copy(copy, sizeof copy, path);
    (void)text_format(socket, sizeof socket, "--socket=%s/s.sock",
                      sweep->folder);
    optind = 0;
    code = options_parse(argc, argv, out);
    out->topology = path; /* the other one ends with this function */
    if (code >= 0 && !sweep->is_faulty)
        sweep_fail("the command line is refused");
    return code < 0;
}

bool served_expect(struct sweep *sweep, const struct seqb_error *err,
                   const char *what)
{
    if (err->status == SEQB_INVALID && sweep->is_faulty && err->text[0] != '\0')
        return false;
    return sweep_expect(sweep, err->status, err, what);
}

/* --- the client --- */

void served_close(struct served *served)
{
    SSL_free(served->ssl);
    served->ssl = NULL;
    if (served->fd >= 0)
        (void)close(served->fd);
    served->fd = -1;
    served->length = 0;
    served->heard[0] = '\0';
}

/* As receive does. */
static bool shake_hands(struct served *served)
{
    served->ssl = SSL_new(client_context);
    if (served->ssl == NULL || SSL_set_fd(served->ssl, served->fd) != 1)
        sweep_fail("the client has no memory");
    for (int i = 0; i < PATIENCE_S / WAIT_S; i++) {
        const int result = SSL_connect(served->ssl);

        if (result == 1)
            return true;
        if (SSL_get_error(served->ssl, result) != SSL_ERROR_WANT_READ)
            return false;
        faults_pause(true);
    }
    sweep_fail("the handshake does not end");
}

static bool connect_client(struct served *served)
{
    const struct timeval patience = {WAIT_S, 0};
    struct sockaddr_in to = {.sin_family = AF_INET};
    const char *port = strrchr(served->address, ':');

    if (served->fd >= 0)
        return true;
    to.sin_port = htons((uint16_t)strtol(port + 1, NULL, 10));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    served->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (served->fd < 0 || setsockopt(served->fd, SOL_SOCKET, SO_RCVTIMEO,
                                     &patience, sizeof patience) != 0)
        sweep_fail("the client has no socket");
    return connect(served->fd, (const struct sockaddr *)&to, sizeof to) == 0 &&
           (tls_files == NULL || shake_hands(served));
}

static bool send_text(struct served *served, const char *text, size_t length)
{
    if (served->ssl != NULL)
        return SSL_write(served->ssl, text, (int)length) == (int)length;
    return send(served->fd, text, length, MSG_NOSIGNAL) == (ssize_t)length;
}

bool served_say(struct served *served, const char *text)
{
    const size_t length = strlen(text);

    served->said = text;
    served->length = 0;
    served->heard[0] = '\0';
    if (connect_client(served) && send_text(served, text, length))
        return true;
    served_close(served);
    return false;
}

/* If an answer does not come because calls fail again and again, it comes when
 * they do not any more. */
static ssize_t receive(struct served *served, void *to, size_t size)
{
    for (int i = 0; i < PATIENCE_S / WAIT_S; i++) {
        ssize_t got = 0;

        errno = 0;
        got = served->ssl != NULL ? SSL_read(served->ssl, to, (int)size)
                                  : recv(served->fd, to, size, 0);

        if (got >= 0 || errno != EAGAIN)
            return got;
        faults_pause(true);
    }
    sweep_fail("no answer to %s, but '%s'", served->said, served->heard);
}

bool served_hear(struct served *served)
{
    const size_t left = sizeof served->heard - 1 - served->length;
    const ssize_t got = receive(served, served->heard + served->length, left);

    if (left == 0)
        sweep_fail("the answer is too long");
    if (got <= 0)
        return false;
    served->length += (size_t)got;
    served->heard[served->length] = '\0';
    return true;
}

bool served_again(const struct served *served, int tries)
{
    if (!served->is_strict)
        return false;
    if (tries * AGAIN_MS > PATIENCE_S * 1000)
        sweep_fail("after all calls, this is answered still: %s",
                   served->heard);
    (void)usleep(AGAIN_MS * 1000);
    return true;
}

struct client {
    struct served *served;
    void (*talk)(struct served *served);
};

static void *client_run(void *argument)
{
    const struct client *client = argument;
    struct served *served = client->served;
    sigset_t all;

    sigfillset(&all); /* the daemon's thread takes the signal */
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    faults_suspend(true);
    faults_pause(false);
    served->is_strict = !served->sweep->is_faulty;
    client->talk(served);
    served_close(served);
    faults_pause(true);
    served->is_strict = true;
    client->talk(served);
    served_close(served);
    (void)kill(getpid(), SIGTERM);
    return NULL;
}

/* --- the daemon --- */

static bool counts_clients(const struct daemon *daemon)
{
    return daemon->limits.client_memory != 0 ||
           daemon->limits.http_connections != 0 || daemon->session_count != 0 ||
           daemon->request_count != 0;
}

static void expect_no_clients(struct server *server)
{
    const struct daemon *daemon = &server->daemon;

    for (int i = 0; i < END_MS && counts_clients(daemon); i++) {
        (void)event_base_loop(server->base, EVLOOP_NONBLOCK);
        (void)usleep(1000);
    }
    if (counts_clients(daemon))
        sweep_fail("clients that are gone are counted: %lld bytes, %lld of "
                   "HTTP, %lld sessions, %lld requests",
                   (long long)daemon->limits.client_memory,
                   (long long)daemon->limits.http_connections,
                   (long long)daemon->session_count,
                   (long long)daemon->request_count);
}

static void serve(struct served *served, void (*talk)(struct served *served))
{
    struct client client = {served, talk};
    pthread_t thread;

    if (pthread_create(&thread, NULL, client_run, &client) != 0)
        sweep_fail("no thread for the client");
    server_run(served->server);
    if (!served->is_strict)
        sweep_fail("the loop has ended");
    (void)pthread_join(thread, NULL);
    expect_no_clients(served->server);
    server_close(served->server);
}

static void must(enum seqb_status status, const struct seqb_error *err)
{
    if (status != SEQB_OK)
        sweep_fail("the daemon does not start: %s", err->text);
}

static void open_server(struct sweep *sweep, struct options *options,
                        struct server **out)
{
    struct seqb_error err = {.status = SEQB_OK};
    struct server_options of_server;

    if (!served_options(sweep, served_topology(sweep, ""), options))
        sweep_fail("no options");
    must(options_complete(options, NULL, &err), &err);
    if (reloader == NULL)
        reloader = reloader_new(options->topology, true);
    if (reloader == NULL)
        sweep_fail("no reloader");
    must(reloader_watch(reloader, &options->alarm, &err), &err);
    of_server = options_of_server(options);
    of_server.reloader = reloader;
    must(server_open(&of_server, out, &err), &err);
}

static void be_silent(int severity, const char *text)
{
    (void)severity;
    (void)text;
}

static const char *address_of(const struct server *server, bool is_http)
{
    if (is_http)
        return tls_files != NULL ? http_tls_name(server->http)
                                 : http_name(server->http);
    return tls_files != NULL ? server->listeners.tls_addresses
                             : server->listeners.addresses;
}

void served_run(struct sweep *sweep, bool is_http,
                void (*talk)(struct served *served))
{
    static const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    static struct served served;
    struct options options;

    faults_pause(true);
    signals_shield();
    faults_prepare_loop();
    event_set_log_callback(be_silent);
    log_open(&quiet);
    served = (struct served){.sweep = sweep, .fd = -1};
    open_server(sweep, &options, &served.server);
    (void)text_copy(served.address, sizeof served.address,
                    address_of(served.server, is_http));
    serve(&served, talk);
    reloader_end(reloader);
    options_free(&options);
}
