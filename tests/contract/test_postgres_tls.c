/* SPDX-License-Identifier: Apache-2.0 */
/* The postgres engine by TLS: which servers it refuses and in which words,
 * those of libpq, and its own certificate. docs/tls.md has the words. */
#include "contract/postgres_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/tls_pair.h"

#define UNVERIFIED                                                             \
    "certificate verify failed; the server's certificate has expired, it "     \
    "does not send the intermediate ones, or tls_ca is not its CA"
#define PLAIN "server does not support SSL, but SSL was required"

static struct tls_files good;    /* for 127.0.0.1 */
static struct tls_files expired; /* the same, until a day ago */
static struct tls_files chain;   /* for 127.0.0.1, of a root and another CA */
static struct tls_files leaf;    /* the same without that other CA */
static struct tls_files user;    /* of the user "certified" */
static struct tls_files other;   /* of the same name, whom nobody trusts */

static int files_make(void **state)
{
    (void)state;
    tls_files_make(&good, "postgres", "IP:127.0.0.1");
    tls_files_make_expired(&expired, "postgres", "IP:127.0.0.1");
    tls_files_make_chain(&chain, "postgres", "IP:127.0.0.1", false);
    tls_files_make_chain(&leaf, "postgres", "IP:127.0.0.1", true);
    tls_files_make(&user, "certified", "email:a@b");
    tls_files_make(&other, "certified", "email:a@b");
    tls_files_share(&good);
    tls_files_share(&expired);
    tls_files_share(&chain);
    tls_files_share(&leaf);
    tls_files_share(&user);
    /* libpq reads no key that others may read. */
    assert_int_equal(chmod(user.key, 0600), 0);
    assert_int_equal(chmod(other.key, 0600), 0);
    assert_int_equal(setenv("HOME", "/nowhere", 1), 0);
    return 0;
}

static int files_remove(void **state)
{
    (void)state;
    tls_files_remove(&good);
    tls_files_remove(&expired);
    tls_files_remove(&chain);
    tls_files_remove(&leaf);
    tls_files_remove(&user);
    tls_files_remove(&other);
    return 0;
}

static struct fixture *secure_prepare(void **state)
{
    struct fixture *f = fixture_prepare(state);

    postgres_show(f->server, good.cert, good.key);
    f->options.tls = SEQB_TLS_VERIFY;
    f->options.tls_ca = good.cert;
    return f;
}

#define SECURED FIXTURE(struct fixture *f, secure_prepare, fixture_stop)

TEST_SKIPPABLE(SECURED, server_whose_certificate_expired_is_refused)
{
    must_open(f);
    postgres_show(f->server, expired.cert, expired.key);
    f->options.tls_ca = expired.cert; /* it is its own CA */
    must_not_open(f, SEQB_UNREACHABLE, UNVERIFIED);
    f->options.tls = SEQB_TLS_REQUIRE; /* by a CA, which is checked */
    must_not_open(f, SEQB_UNREACHABLE, UNVERIFIED);
    f->options.tls_ca = NULL; /* whoever it is */
    must_open(f);
    must_take(f, 1, 0);
}

TEST_SKIPPABLE(SECURED, chain_is_verified_by_its_root)
{
    postgres_show(f->server, chain.cert, chain.key);
    f->options.tls_ca = chain.root;
    must_open(f);
    must_take(f, 1, 0);
    postgres_show(f->server, leaf.cert, leaf.key);
    f->options.tls_ca = leaf.root;
    must_not_open(f, SEQB_UNREACHABLE, UNVERIFIED);
}

TEST_SKIPPABLE(SECURED, server_of_another_ca_is_refused)
{
    f->options.tls_ca = other.cert;
    must_not_open(f, SEQB_UNREACHABLE, UNVERIFIED);
    f->options.tls_ca = NULL; /* libpq looks in the home of its user */
    must_not_open(f, SEQB_UNREACHABLE, "root.crt\" does not exist; set tls_ca");
}

TEST_SKIPPABLE(SECURED, server_of_another_name_is_refused)
{
    f->options.host = "localhost";
    must_not_open(f, SEQB_UNREACHABLE, "does not match host name");
    f->options.tls = SEQB_TLS_REQUIRE; /* by a CA, and any name */
    must_open(f);
}

TEST_SKIPPABLE(SECURED, server_without_tls_is_refused)
{
    postgres_alter(f->server, "ssl = off");
    must_not_open(f, SEQB_UNREACHABLE, PLAIN);
    f->options.tls = SEQB_TLS_REQUIRE;
    must_not_open(f, SEQB_UNREACHABLE, PLAIN);
}

/* The server lets that user in by its certificate alone. */
TEST_SKIPPABLE(SECURED, own_certificate_is_shown)
{
    char ca[256];

    (void)snprintf(ca, sizeof ca, "ssl_ca_file = '%s'", user.cert);
    postgres_alter(f->server, ca);
    TELL(f, "DROP ROLE IF EXISTS certified");
    TELL(f, "CREATE ROLE certified LOGIN IN ROLE seq");
    f->options.user = "certified";
    must_not_open(f, SEQB_REFUSED, "requires a valid client certificate");
    f->options.tls_cert = other.cert;
    f->options.tls_key = other.key;
    must_not_open(f, SEQB_UNREACHABLE, "unknown ca");
    f->options.tls_cert = user.cert;
    must_not_open(f, SEQB_UNREACHABLE, "could not load private key file");
    f->options.tls_key = user.key;
    must_open(f);
    must_take(f, 1, 0);
    assert_int_equal(chmod(user.key, 0644), 0);
    must_not_open(f, SEQB_UNREACHABLE, "group or world access");
    assert_int_equal(chmod(user.key, 0600), 0);
    f->options.tls_ca = other.cert; /* the server is checked as well */
    must_not_open(f, SEQB_UNREACHABLE, UNVERIFIED);
}

TEST_BEFORE_ALL(files_make);
TEST_AFTER_ALL(files_remove);
