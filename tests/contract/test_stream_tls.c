/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS between the broker and its stores, for the engines whose connections are
 * streams: each test runs on a redis-server and on a memcached.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/backends.h"
#include "contract/windowed_fixture.h"
#include "net/net.h"
#include "platform/text.h"
#include "support/proxy.h"
#include "support/server_memcached.h"
#include "support/server_sentinel.h"
#include "support/tls_pair.h"

#define WORD_SIZE 320

/* A store that listens twice: in the clear, and by TLS. */
struct secured {
    struct fixture *f;
    struct tls_files files; /* the server's, and a client's */
    int32_t tls_port;
    char words[2][WORD_SIZE];
    const char *args[12];
};

static struct secured secured;

/* "localhost" has the address 127.0.0.2 first. */
static bool has_two_addresses;

const char *__real_lookup_host(const char *host, int port, int64_t deadline_ms,
                               struct addrinfo **out);
const char *__wrap_lookup_host(const char *host, int port, int64_t deadline_ms,
                               struct addrinfo **out);

/* glibc frees each item of a list for itself, so two lists may be joined. */
const char *__wrap_lookup_host(const char *host, int port, int64_t deadline_ms,
                               struct addrinfo **out)
{
    const char *why;

    if (!has_two_addresses || strcmp(host, "localhost") != 0)
        return __real_lookup_host(host, port, deadline_ms, out);
    why = __real_lookup_host("127.0.0.2", port, deadline_ms, out);
    return why != NULL ? why
                       : __real_lookup_host("127.0.0.1", port, deadline_ms,
                                            &(*out)->ai_next);
}

/* Words of a command line, up to NULL. */
static void args_set(const char *const *args)
{
    size_t i = 0;

    for (; args[i] != NULL; i++)
        secured.args[i] = args[i];
    secured.args[i] = NULL;
}

/* Of a redis-server, or a sentinel; `word` holds the port as long as it lives.
 */
static void redis_args(const struct tls_files *files, int32_t port,
                       const char *auth, char *word)
{
    (void)text_format(word, WORD_SIZE, "%d", (int)port);
    args_set((const char *[]){"--tls-port", word, "--tls-cert-file",
                              files->cert, "--tls-key-file", files->key,
                              "--tls-ca-cert-file", files->cert,
                              "--tls-auth-clients", auth, NULL});
}

static struct server *redis_start(const char *auth)
{
    redis_args(&secured.files, secured.tls_port, auth, secured.words[0]);
    return server_redis(secured.args);
}

static struct server *memcached_start(const char *auth)
{
    (void)text_format(secured.words[0], WORD_SIZE,
                      "ssl_chain_cert=%s,ssl_key=%s,ssl_ca_cert=%s,"
                      "ssl_verify_mode=%d",
                      secured.files.cert, secured.files.key, secured.files.cert,
                      strcmp(auth, "yes") == 0 ? 2 : 0);
    (void)text_format(secured.words[1], WORD_SIZE, "127.0.0.1:%d",
                      (int)secured.tls_port);
    args_set((const char *[]){"-Z", "-o", secured.words[0], "-l",
                              secured.words[1], NULL});
    return server_memcached(secured.args);
}

static struct secured *begin(void **state, const struct seqb_backend_ops *ops,
                             const char *auth)
{
    const bool is_redis = ops == &backend_redis;

    if (secured.files.folder[0] == '\0')
        tls_files_make(&secured.files, "store", "IP:127.0.0.1,DNS:localhost");
    tls_files_share(&secured.files);
    secured.tls_port = free_port();
    secured.f =
        fixture_prepare(state, is_redis ? "redis-a" : "mc-a", ops,
                        is_redis ? redis_start(auth) : memcached_start(auth));
    secured.f->options.port = secured.tls_port;
    secured.f->options.tls = SEQB_TLS_VERIFY;
    secured.f->options.tls_ca = secured.files.cert;
    return &secured;
}

static int end(void **state)
{
    const int result = fixture_stop(state);

    if (secured.files.folder[0] != '\0')
        tls_files_remove(&secured.files);
    secured = (struct secured){.f = NULL};
    return result;
}

static void must_not_open(struct fixture *f, enum seqb_status status,
                          const char *words)
{
    assert_status(fixture_open(f), status);
    if (strstr(f->err.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", f->err.text, words);
}

static void must_open(struct fixture *f)
{
    assert_done(fixture_open(f), f->err);
}

/* memcached may grant less than it is asked for. */
static void must_grant(struct fixture *f, int64_t first, int64_t count)
{
    while (count > 0) {
        const int64_t taken = must_take(f, 3, first, count);

        first += taken;
        count -= taken;
    }
}

/* Takes connections, and says nothing. */
static int silent_listen(int32_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void numbers_come(void **state, const struct seqb_backend_ops *ops)
{
    struct fixture *f = begin(state, ops, "no")->f;
    struct seqb_details details = {.node = ""};

    must_open(f);
    assert_ok(f->ops->describe(f->backend, &details, &f->err));
    assert_string_equal(details.tls, "TLSv1.3");
    must_install(f, 3);
    must_grant(f, 0, 10);
    (void)must_take_many(f);
    f->options.host = "localhost"; /* a name of the certificate */
    must_open(f);
    must_grant(f, 10, 10);
}

static void server_proves_who_it_is(void **state,
                                    const struct seqb_backend_ops *ops)
{
    struct fixture *f = begin(state, ops, "no")->f;
    struct tls_files other;

    f->options.tls_ca = NULL; /* the system's */
    must_not_open(f, SEQB_UNREACHABLE, "self-signed certificate");
    f->options.tls = SEQB_TLS_REQUIRE;
    must_open(f);
    f->options.tls = SEQB_TLS_VERIFY;
    tls_files_make(&other, "other", "DNS:other.example");
    f->options.tls_ca = other.cert;
    must_not_open(f, SEQB_UNREACHABLE, "certificate verify failed");
    tls_files_remove(&other);
}

/* A server that takes connections, and ends them before the handshake. */
static void
next_address_of_the_name_is_tried(void **state,
                                  const struct seqb_backend_ops *ops)
{
    struct fixture *f = begin(state, ops, "no")->f;
    const struct proxy_options way = {
        .from = {.address = "127.0.0.2", .port = secured.tls_port},
        .to.port = secured.tls_port};
    struct proxy *proxy = proxy_new(&way);

    proxy_set(proxy, PROXY_RESET, 0);
    f->options.host = "localhost";
    has_two_addresses = true;
    must_open(f);
    f->options.tls_ca = NULL;
    must_not_open(f, SEQB_UNREACHABLE, "self-signed certificate");
    has_two_addresses = false;
    proxy_free(proxy);
}

static void
certificate_of_another_is_refused(void **state,
                                  const struct seqb_backend_ops *ops)
{
    struct fixture *f;

    tls_files_make(&secured.files, "store", "DNS:other.example");
    f = begin(state, ops, "no")->f;
    must_not_open(f, SEQB_UNREACHABLE, "IP address mismatch");
    f->options.host = "localhost";
    must_not_open(f, SEQB_UNREACHABLE, "hostname mismatch");
    f->options.tls = SEQB_TLS_REQUIRE;
    must_open(f);
}

static void expired_certificate_is_refused(void **state,
                                           const struct seqb_backend_ops *ops)
{
    struct fixture *f;

    tls_files_make_expired(&secured.files, "store", "IP:127.0.0.1");
    f = begin(state, ops, "no")->f;
    must_not_open(f, SEQB_UNREACHABLE, "certificate has expired");
}

/* Of a root, which is trusted, and an intermediate one. */
static void chain_is_verified_by_its_root(void **state,
                                          const struct seqb_backend_ops *ops)
{
    struct fixture *f;

    tls_files_make_chain(&secured.files, "store", "IP:127.0.0.1", false);
    f = begin(state, ops, "no")->f;
    f->options.tls_ca = secured.files.root;
    must_open(f);
    must_install(f, 3);
    must_grant(f, 0, 10);
}

static void
chain_without_its_middle_is_refused(void **state,
                                    const struct seqb_backend_ops *ops)
{
    struct fixture *f;

    tls_files_make_chain(&secured.files, "store", "IP:127.0.0.1", true);
    f = begin(state, ops, "no")->f;
    f->options.tls_ca = secured.files.root;
    must_not_open(f, SEQB_UNREACHABLE,
                  "unable to get local issuer certificate");
}

static void client_shows_its_certificate(void **state,
                                         const struct seqb_backend_ops *ops)
{
    struct fixture *f = begin(state, ops, "yes")->f;

    /* The alert that says why may be lost in the reset behind it. */
    must_not_open(f, SEQB_UNREACHABLE, "127.0.0.1");
    f->options.tls_cert = secured.files.cert;
    f->options.tls_key = secured.files.key;
    must_open(f);
    must_install(f, 3);
    must_grant(f, 0, 10);
}

static void files_that_are_absent_are_named(void **state,
                                            const struct seqb_backend_ops *ops)
{
    struct fixture *f = begin(state, ops, "no")->f;

    f->options.tls_ca = "/nowhere/ca.pem";
    must_not_open(f, SEQB_INVALID, "tls_ca /nowhere/ca.pem: No such file");
    f->options.tls_ca = secured.files.cert;
    f->options.tls_cert = "/nowhere/crt.pem";
    f->options.tls_key = secured.files.key;
    must_not_open(f, SEQB_INVALID, "tls_cert /nowhere/crt.pem: No such file");
}

static void
server_without_tls_is_not_spoken_to(void **state,
                                    const struct seqb_backend_ops *ops)
{
    struct fixture *f = begin(state, ops, "no")->f;

    f->options.port = server_port(f->server);
    f->options.connect_timeout_ms = 3000; /* memcached waits for more */
    must_not_open(f, SEQB_UNREACHABLE, "TLS: ");
}

static void silent_server_is_given_up(void **state,
                                      const struct seqb_backend_ops *ops)
{
    struct fixture *f = begin(state, ops, "no")->f;
    const int fd = silent_listen(&f->options.port);

    f->options.connect_timeout_ms = 200;
    must_not_open(f, SEQB_UNREACHABLE, "did not answer the handshake in time");
    close(fd);
}

static void lost_connection_leaves_it_open(void **state,
                                           const struct seqb_backend_ops *ops)
{
    struct fixture *f = begin(state, ops, "no")->f;

    must_open(f);
    must_install(f, 3);
    server_kill(f->server);
    must_fail(f, SEQB_UNCERTAIN);
    must_fail(f, SEQB_UNREACHABLE);
}

#define WITH_TLS FIXTURE(void **state, NULL, end)
#define ON_BOTH(name)                                                          \
    TEST_STATE(WITH_TLS, redis_##name)                                         \
    {                                                                          \
        name(state, &backend_redis);                                           \
    }                                                                          \
    TEST_STATE(WITH_TLS, memcached_##name)                                     \
    {                                                                          \
        name(state, &backend_memcached);                                       \
    }                                                                          \
    _Static_assert(1, "a semicolon may follow")

ON_BOTH(numbers_come);
ON_BOTH(server_proves_who_it_is);
ON_BOTH(next_address_of_the_name_is_tried);
ON_BOTH(certificate_of_another_is_refused);
ON_BOTH(expired_certificate_is_refused);
ON_BOTH(chain_is_verified_by_its_root);
ON_BOTH(chain_without_its_middle_is_refused);
ON_BOTH(client_shows_its_certificate);
ON_BOTH(files_that_are_absent_are_named);
ON_BOTH(server_without_tls_is_not_spoken_to);
ON_BOTH(silent_server_is_given_up);
ON_BOTH(lost_connection_leaves_it_open);

/* A sentinel of the store, whose certificate may be another one. */
struct watcher {
    struct server *sentinel;
    char address[64]; /* where it speaks TLS */
    const char *list[2];
};

/* `out` must stay where it is as long as the fixture's options name it. */
static void watcher_start(struct watcher *out, struct fixture *f,
                          const struct tls_files *files)
{
    const int32_t port = free_port();

    redis_args(files, port, "no", secured.words[1]);
    out->sentinel = server_sentinel_with(secured.args);
    redis_execute(out->sentinel, "SENTINEL MONITOR main 127.0.0.1 %d 1",
                  (int)secured.tls_port);
    (void)text_format(out->address, sizeof out->address, "127.0.0.1:%d",
                      (int)port);
    out->list[0] = out->address;
    out->list[1] = NULL;
    f->options.host = NULL;
    f->options.sentinels = out->list;
    f->options.master_name = "main";
}

/* The error must name the backend, the sentinel and what is wrong with it. */
static void watcher_is_refused(const struct watcher *watcher, struct fixture *f,
                               const char *why)
{
    char sentinel[80];

    (void)text_format(sentinel, sizeof sentinel, "sentinel %s",
                      watcher->address);
    must_not_open(f, SEQB_UNREACHABLE, f->options.name);
    must_not_open(f, SEQB_UNREACHABLE, sentinel);
    must_not_open(f, SEQB_UNREACHABLE, why);
}

/* The sentinel's answer leads to the port that speaks TLS. */
TEST_STATE(WITH_TLS, sentinels_are_asked_by_tls)
{
    struct fixture *f = begin(state, &backend_redis, "no")->f;
    struct watcher watcher;

    watcher_start(&watcher, f, &secured.files);
    must_open(f);
    must_install(f, 3);
    must_grant(f, 0, 10);
    f->options.tls_ca = NULL;
    watcher_is_refused(&watcher, f, "self-signed certificate");
    server_free(watcher.sentinel);
}

TEST_STATE(WITH_TLS, sentinel_of_another_name_is_refused)
{
    struct fixture *f = begin(state, &backend_redis, "no")->f;
    struct tls_files files;
    struct watcher watcher;

    tls_files_make(&files, "sentinel", "DNS:other.example");
    watcher_start(&watcher, f, &files);
    f->options.tls_ca = files.cert;
    watcher_is_refused(&watcher, f, "IP address mismatch");
    f->options.tls = SEQB_TLS_REQUIRE;
    must_open(f);
    server_free(watcher.sentinel);
    tls_files_remove(&files);
}

TEST_STATE(WITH_TLS, sentinel_whose_certificate_expired_is_refused)
{
    struct fixture *f = begin(state, &backend_redis, "no")->f;
    struct tls_files files;
    struct watcher watcher;

    tls_files_make_expired(&files, "sentinel", "IP:127.0.0.1");
    watcher_start(&watcher, f, &files);
    f->options.tls_ca = files.cert;
    watcher_is_refused(&watcher, f, "certificate has expired");
    server_free(watcher.sentinel);
    tls_files_remove(&files);
}

TEST_STATE(WITH_TLS, sentinel_of_another_ca_is_refused)
{
    struct fixture *f = begin(state, &backend_redis, "no")->f;
    struct tls_files files;
    struct watcher watcher;

    tls_files_make(&files, "sentinel", "IP:127.0.0.1");
    watcher_start(&watcher, f, &files); /* trusted is the store's alone */
    watcher_is_refused(&watcher, f, "certificate verify failed");
    server_free(watcher.sentinel);
    tls_files_remove(&files);
}

TEST_STATE(WITH_TLS, sentinel_without_tls_is_not_spoken_to)
{
    struct fixture *f = begin(state, &backend_redis, "no")->f;
    struct watcher watcher;

    watcher_start(&watcher, f, &secured.files);
    (void)text_format(watcher.address, sizeof watcher.address, "127.0.0.1:%d",
                      (int)server_port(watcher.sentinel));
    watcher_is_refused(&watcher, f, "TLS: ");
    server_free(watcher.sentinel);
}
