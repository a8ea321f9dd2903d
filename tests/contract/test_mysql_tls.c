/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A MariaDB that lets the broker's user in by TLS alone: which certificates of
 * the server are refused, and the broker's own one. The words are those of
 * MariaDB's client library, which docs/tls.md lists.
 */
#include <string.h>

#include "contract/mysql_fixture.h"
#include "platform/text.h"
#include "support/tls_pair.h"

#define WORD_SIZE (TLS_PAIR_PATH_SIZE + 16)

static struct tls_files broker; /* the broker's own */
static struct tls_files others; /* of nobody */

static int files_begin(void **state)
{
    (void)without_sigpipe(state);
    tls_files_make(&broker, "broker", "DNS:broker.example");
    tls_files_share(&broker);
    tls_files_make(&others, "other", "IP:127.0.0.1");
    return 0;
}

static int files_end(void **state)
{
    (void)state;
    tls_files_remove(&broker);
    tls_files_remove(&others);
    return 0;
}

/* A server with that certificate, which trusts the broker's. */
static struct fixture *prepare(void **state, const struct tls_files *files)
{
    char cert[WORD_SIZE];
    char key[WORD_SIZE];
    char ca[WORD_SIZE];
    const char *const args[] = {cert, key, ca, NULL};
    struct fixture *f;

    mariadb_require();
    tls_files_share(files);
    (void)text_format(cert, sizeof cert, "--ssl-cert=%s", files->cert);
    (void)text_format(key, sizeof key, "--ssl-key=%s", files->key);
    (void)text_format(ca, sizeof ca, "--ssl-ca=%s", broker.cert);
    f = fixture_prepare_on(state, &backend_mysql_row, server_mariadb(args));
    TELL(f, "ALTER USER seq REQUIRE SSL");
    f->options.tls = SEQB_TLS_VERIFY;
    f->options.tls_ca = files->cert;
    return f;
}

TEST_STATE(ON_SERVER, server_of_another_ca_or_name_is_refused)
{
    struct tls_files files;
    struct fixture *f;

    tls_files_make(&files, "server", "IP:127.0.0.1");
    f = prepare(state, &files);
    must_open(f);
    must_take(f, 10, 0);
    f->options.tls_ca = others.cert;
    must_not_open(f, SEQB_UNREACHABLE, "self-signed certificate");
    f->options.tls_ca = NULL; /* the system's, of which it is none */
    must_not_open(f, SEQB_UNREACHABLE, "self-signed certificate");
    f->options.tls_ca = files.cert;
    f->options.host = "localhost"; /* is not what the certificate says */
    must_not_open(f, SEQB_UNREACHABLE,
                  "Validation of SSL server certificate failed");
    f->options.tls = SEQB_TLS_REQUIRE; /* whoever it is */
    must_open(f);
    must_take(f, 1, 10);
    tls_files_remove(&files);
}

TEST_STATE(ON_SERVER, server_whose_certificate_expired_is_refused)
{
    struct tls_files files;
    struct fixture *f;

    tls_files_make_expired(&files, "server", "IP:127.0.0.1");
    f = prepare(state, &files);
    must_not_open(f, SEQB_UNREACHABLE, "certificate has expired");
    f->options.tls = SEQB_TLS_REQUIRE; /* whoever it is */
    f->options.tls_ca = NULL;
    must_open(f);
    must_take(f, 1, 0);
    tls_files_remove(&files);
}

TEST_STATE(ON_SERVER, broker_is_known_by_its_certificate)
{
    struct tls_files files;
    struct fixture *f;

    tls_files_make(&files, "server", "IP:127.0.0.1");
    f = prepare(state, &files);
    TELL(f, "ALTER USER seq REQUIRE SUBJECT '/CN=broker'");
    must_not_open(f, SEQB_REFUSED, "Access denied");
    f->options.tls_cert = others.cert;
    f->options.tls_key = others.key;
    must_not_open(f, SEQB_UNREACHABLE, "cannot connect"); /* alert or reset */
    f->options.tls_cert = broker.cert;
    f->options.tls_key = broker.key;
    must_open(f);
    must_take(f, 10, 0);
    tls_files_remove(&files);
}

TEST_STATE(ON_SERVER, own_certificate_that_cannot_be_read_is_named)
{
    struct tls_files files;
    struct fixture *f;

    tls_files_make(&files, "server", "IP:127.0.0.1");
    f = prepare(state, &files);
    f->options.tls_cert = "/nonexistent/cert.pem";
    f->options.tls_key = broker.key;
    must_not_open(f, SEQB_INVALID, "cannot read /nonexistent/cert.pem: No");
    f->options.tls_cert = broker.cert;
    f->options.tls_key = "/nonexistent/key.pem";
    must_not_open(f, SEQB_INVALID, "cannot read /nonexistent/key.pem: No");
    f->options.tls_key = others.key;
    must_not_open(f, SEQB_UNREACHABLE, "key values mismatch");
    f->options.tls_key = broker.key;
    f->options.tls_ca = "/nonexistent/ca.pem";
    must_not_open(f, SEQB_INVALID, "cannot read /nonexistent/ca.pem: No");
    tls_files_remove(&files);
}

TEST_BEFORE_ALL(files_begin);
TEST_AFTER_ALL(files_end);
