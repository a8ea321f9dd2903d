/* SPDX-License-Identifier: Apache-2.0 */
/* TLS: what a client with a certificate gets while calls of the daemon fail. It
 * may be disconnected, but not be taken for a client without one. And whether a
 * new certificate is served in the end. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>
#include <openssl/ssl.h>

#include "daemon/daemon.h"
#include "daemon/log/log.h"
#include "daemon/transport/transport.h"
#include "platform/text.h"
#include "served.h"
#include "support/test.h"
#include "support/tls_pair.h"

static struct tls_files files;
static struct tls_files next; /* that a renewal brings */

static bool has_one(struct served *served)
{
    const int64_t number = strtoll(served->heard + 1, NULL, 10);

    if (served->heard[0] != ':' || number <= 0)
        return false;
    sweep_note(served->sweep, "order", &number, 1);
    return true;
}

static bool is_ok(struct served *served)
{
    return strcmp(served->heard, "+OK\r\n") == 0;
}

static bool is_true_error(const struct served *served)
{
    static const char *const begins[] = {"-NOMEMORY ", "-ERR out of memory",
                                         "-UNAVAILABLE ", "-TIMEOUT ",
                                         "-AGAIN "};

    for (size_t i = 0; i < COUNT_OF(begins); i++)
        if (strncmp(served->heard, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* False if it has to be tried again. */
static bool do_step(struct served *served, const char *command,
                    bool (*is_right)(struct served *served))
{
    bool is_open = served_say(served, command);

    while (is_open && strstr(served->heard, "\r\n") == NULL)
        is_open = served_hear(served);
    if (!is_open) {
        served_close(served);
        if (served->is_strict)
            sweep_fail("the connection is closed after %s", command);
        return true;
    }
    if (is_right(served))
        return true;
    if (!is_true_error(served))
        sweep_fail("%s is answered: %.300s", command, served->heard);
    return false;
}

static void talk(struct served *served)
{
    static const struct {
        const char *say;
        bool (*is_right)(struct served *served);
    } steps[] = {
        {"INCR order\r\n", has_one}, /* as the user of the certificate */
        {"AUTH " SERVED_USER " " SERVED_PASSWORD "\r\n", is_ok},
        {"INCR order\r\n", has_one},
    };

    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        int tries = 0;

        while (!do_step(served, steps[i].say, steps[i].is_right) &&
               served_again(served, tries++))
            served_close(served);
    }
}

static void serve(struct sweep *sweep)
{
    served_run(sweep, false, talk);
}

static const struct sweep_scene scene = {
    .before = serve, .during = serve, .after = serve, .places = 24};

/* --- the same by HTTP --- */

#define TAKE                                                                   \
    "POST /v1/sequences/order/next HTTP/1.1\r\nHost: localhost\r\n"            \
    "Content-Length: 0\r\n\r\n"

/* As the user of the certificate: nobody else may take. */
static bool has_one_by_http(struct served *served)
{
    static const char name[] = "\"numbers\":[\"";
    const char *numbers = strstr(served->heard, name);
    const int64_t number =
        numbers == NULL ? 0 : strtoll(numbers + strlen(name), NULL, 10);

    if (number <= 0)
        return false;
    sweep_note(served->sweep, "order", &number, 1);
    return true;
}

static bool take_by_http(struct served *served)
{
    bool is_open = served_say(served, TAKE);

    while (is_open && strchr(served->heard, '}') == NULL)
        is_open = served_hear(served);
    if (!is_open && served->is_strict)
        sweep_fail("the connection is closed");
    if (!is_open)
        return true;
    if (has_one_by_http(served))
        return true;
    if (strncmp(served->heard, "HTTP/1.1 503 ", 13) != 0)
        sweep_fail("it is answered: %.300s", served->heard);
    return false;
}

static void talk_by_http(struct served *served)
{
    int tries = 0;

    while (!take_by_http(served) && served_again(served, tries++))
        served_close(served);
}

static void serve_by_http(struct sweep *sweep)
{
    served_run(sweep, true, talk_by_http);
}

static const struct sweep_scene scene_by_http = {.before = serve_by_http,
                                                 .during = serve_by_http,
                                                 .after = serve_by_http,
                                                 .places = 24};

static int files_make(void **state)
{
    (void)state;
    if (!faults_prepare_tls())
        return -1;
    tls_files_make(&files, SERVED_USER, "DNS:a.example");
    tls_files_make(&next, "next", "DNS:b.example");
    served_use_tls(&files);
    return 0;
}

static int files_remove(void **state)
{
    (void)state;
    tls_files_remove(&files);
    tls_files_remove(&next);
    return 0;
}

TEST_BEFORE_ALL(files_make);
TEST_AFTER_ALL(files_remove);

TEST(memory_of_a_client_by_tls)
{
    sweep_run(&scene, FAULTS_MEMORY);
}

TEST(calls_of_a_client_by_tls)
{
    sweep_run(&scene, FAULTS_CALLS);
}

TEST(memory_of_openssl_with_a_client)
{
    sweep_run(&scene, FAULTS_TLS_MEMORY);
}

TEST(memory_of_a_client_by_https)
{
    sweep_run(&scene_by_http, FAULTS_MEMORY);
}

TEST(calls_of_a_client_by_https)
{
    sweep_run(&scene_by_http, FAULTS_CALLS);
}

TEST(memory_of_openssl_with_a_client_by_https)
{
    sweep_run(&scene_by_http, FAULTS_TLS_MEMORY);
}

/* --- new files --- */

static void link_file(const char *to, const char *path)
{
    (void)unlink(path);
    if (symlink(to, path) != 0)
        sweep_fail("%s cannot be made", path);
}

static bool serves(struct tls_server *server, const char *common_name)
{
    SSL *ssl = tls_server_accept(server);
    bool is_named = false;

    if (ssl == NULL)
        sweep_fail("no connection");
    is_named = tls_is_named(ssl, common_name);
    SSL_free(ssl);
    return is_named;
}

/* Looks at the files so many times, every 2 s. */
static void look(struct tls_server *server, int64_t *now_ms, int times)
{
    for (int i = 0; i < times; i++)
        tls_server_poll(server, *now_ms += 2000);
}

/* The daemon, which only counts, and the loop, which never runs. */
static void renew(struct sweep *sweep)
{
    static const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    static struct daemon daemon;
    int64_t now_ms = daemon_now_ms();
    char cert[128];
    char key[128];
    const struct tls_settings settings = {.cert_file = cert, .key_file = key};
    struct event_base *base = NULL;
    struct tls_server *server = NULL;
    struct seqb_error err;

    faults_pause(true);
    log_open(&quiet);
    base = event_base_new();
    (void)text_format(cert, sizeof cert, "%s/crt", sweep->folder);
    (void)text_format(key, sizeof key, "%s/key", sweep->folder);
    link_file(files.cert, cert);
    link_file(files.key, key);
    if (tls_server_open(&settings, base, &daemon, &server, &err) != SEQB_OK)
        sweep_fail("%s", err.text);
    link_file(next.cert, cert);
    link_file(next.key, key);
    faults_pause(false);
    look(server, &now_ms, 3);
    faults_pause(true);
    if (!serves(server, "next") && !serves(server, SERVED_USER))
        sweep_fail("neither the old nor the new certificate is served");
    look(server, &now_ms, 32); /* a minute */
    if (!serves(server, "next"))
        sweep_fail("the new certificate is not served");
    tls_server_close(server);
    event_base_free(base);
}

static const struct sweep_scene renewal = {
    .before = renew, .during = renew, .after = renew};

TEST(memory_of_openssl_with_a_new_certificate)
{
    sweep_run(&renewal, FAULTS_TLS_MEMORY);
}

/* --- what OpenSSL keeps of a certificate --- */

/* The CAs that are invalid. */
static size_t invalid_of(SSL_CTX *context)
{
    const STACK_OF(X509_OBJECT) *objects =
        X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));
    size_t invalid = 0;

    assert_true(sk_X509_OBJECT_num(objects) > 0);
    for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
        X509 *ca = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));

        invalid += X509_check_purpose(ca, -1, 0) != 1;
    }
    return invalid;
}

TEST(authority_stays_valid_if_memory_is_short_at_its_first_client)
{
    static struct faults_record record;
    const struct tls_settings settings = {.cert_file = files.cert,
                                          .key_file = files.key,
                                          .ca_file = files.cert,
                                          .client_auth = TLS_CLIENTS_USERS};
    struct seqb_error err;
    SSL_CTX *context = NULL;

    assert_done(tls_server_context(&settings, &context, &err), err);
    faults_arm(&(struct faults_plan){.kind = FAULTS_TLS_MEMORY,
                                     .at = 1,
                                     .goes_on = true},
               &record);
    (void)invalid_of(context); /* as the first client's certificate does */
    faults_disarm();
    assert_int_equal(invalid_of(context), 0);
    SSL_CTX_free(context);
}
