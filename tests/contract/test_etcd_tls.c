/* SPDX-License-Identifier: Apache-2.0 */
/* An etcd that is used by TLS: what each end has to prove. */
#include <string.h>

#include "backends/backends.h"
#include "contract/etcd_fixture.h"
#include "platform/text.h"
#include "support/server_etcd.h"
#include "support/test.h"
#include "support/tls_pair.h"

static struct tls_files files;  /* of the server and of user root */
static struct tls_files others; /* of nobody */
static struct server *server;

static int server_begin(void **state)
{
    (void)state;
    tls_files_make(&files, "root", "IP:127.0.0.1");
    tls_files_make(&others, "root", "IP:127.0.0.1");
    server = server_etcd_tls(&files);
    return 0;
}

static int server_end(void **state)
{
    (void)state;
    server_free(server);
    tls_files_remove(&files);
    tls_files_remove(&others);
    return 0;
}

static struct seqb_backend_options secure_options(void)
{
    struct seqb_backend_options options = etcd_options(server);

    options.tls = SEQB_TLS_VERIFY;
    options.tls_ca = files.cert;
    options.tls_cert = files.cert;
    options.tls_key = files.key;
    return options;
}

static void must_not_open(const struct seqb_backend_options *options,
                          const char *why)
{
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    assert_int_equal(backend_etcd.open(options, &backend, &err),
                     SEQB_UNREACHABLE);
    if (strstr(err.text, why) == NULL)
        fail_msg("'%s' is not in: %s", why, err.text);
}

TEST(numbers_are_taken_by_tls)
{
    const struct seqb_backend_options options = secure_options();
    struct seqb_backend *backend = etcd_open(&options);
    struct seqb_details details = {.node = ""};
    struct seqb_error err;
    int64_t first;
    int64_t next;

    assert_ok(etcd_take(backend, &first));
    assert_ok(etcd_take(backend, &next));
    assert_int_equal(next, first + 1);
    assert_done(backend_etcd.describe(backend, &details, &err), err);
    assert_non_null(strstr(details.tls, "TLSv1."));
    assert_string_equal(details.role, "leader");
    assert_string_equal(details.quorum, "1 of 1 members");
    assert_string_equal(details.replicas, "none");
    assert_memory_equal(details.node, "127.0.0.1:", 10);
    backend_etcd.close(backend);
}

TEST(server_of_another_ca_or_name_is_refused)
{
    struct seqb_backend_options options = secure_options();

    options.tls_ca = others.cert;
    must_not_open(&options, "certificate");
    options.tls_ca = NULL; /* the system's, of which it is none */
    must_not_open(&options, "certificate");
    options = secure_options();
    options.host = "localhost";
    must_not_open(&options, "mismatch");
}

TEST(server_whose_certificate_expired_is_refused)
{
    struct tls_files expired;
    struct server *late;
    struct seqb_backend_options options;
    char address[64];

    tls_files_make_expired(&expired, "root", "IP:127.0.0.1");
    late = server_etcd_tls(&expired);
    options = etcd_options(late);
    options.tls = SEQB_TLS_VERIFY;
    options.tls_ca = expired.cert;
    must_not_open(&options, "certificate has expired");
    must_not_open(&options, options.name);
    (void)text_format(address, sizeof address, "127.0.0.1:%d",
                      (int)server_port(late));
    must_not_open(&options, address);
    server_free(late);
    tls_files_remove(&expired);
}

TEST(file_that_is_not_there_is_a_wrong_setting)
{
    struct seqb_backend_options options = secure_options();
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    options.tls_ca = "/nonexistent/ca.pem";
    assert_int_equal(backend_etcd.open(&options, &backend, &err), SEQB_INVALID);
    assert_non_null(strstr(err.text, "/nonexistent/ca.pem"));
}

TEST(client_without_its_certificate_is_refused)
{
    struct seqb_backend_options options = secure_options();

    options.tls_cert = others.cert;
    options.tls_key = others.key;
    must_not_open(&options, "certificate");
    options.tls_cert = NULL;
    options.tls_key = NULL;
    must_not_open(&options, "certificate");
}

TEST(ends_that_differ_in_tls_say_so)
{
    struct server *plain = server_etcd(NULL);
    struct seqb_backend_options options = secure_options();

    options.port = server_port(plain);
    must_not_open(&options, "TLS");
    options = etcd_options(server);
    must_not_open(&options, "demand TLS");
    server_free(plain);
}

/* The common name is the user's. It is the last test: there is no way back. */
TEST(user_is_known_by_the_certificate)
{
    const struct seqb_backend_options options = secure_options();
    struct seqb_backend *backend;
    int64_t first;

    etcd_demand_logins(server);
    backend = etcd_open(&options);
    assert_ok(etcd_take(backend, &first));
    backend_etcd.close(backend);
}

TEST_BEFORE_ALL(server_begin);
TEST_AFTER_ALL(server_end);
