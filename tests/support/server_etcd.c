/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and asking an etcd. */
#include "support/server_etcd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <curl/curl.h>

#include "platform/text.h"
#include "support/attempt.h"
#include "support/server_kind.h"
#include "support/test.h"

#define MORES_MAX  128
#define POST_TRIES 500

/* What a member knows of its cluster. */
struct etcd_more {
    char name[8];
    char cluster[256]; /* "m0=http://127.0.0.1:PORT,..." */
    char token[32];
    const struct tls_files *tls; /* NULL: clients speak plain */
    int32_t peer_port;
    bool is_member; /* of several */
};

static bool port_listens(const struct server *server)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)server->port),
        .sin_addr.s_addr = inet_addr(server->address),
    };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool listens;

    if (fd < 0)
        return false;
    listens =
        connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return listens;
}

static size_t answer_drop(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

static bool post_run(const struct server *server, const char *path,
                     const char *body, long *code)
{
    CURL *easy = curl_easy_init();
    char url[256];
    bool is_done;

    assert_non_null(easy);
    (void)text_format(url, sizeof url, "http://%s:%d%s", server->address,
                      (int)server->port, path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 20000L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, answer_drop);
    if (body != NULL)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    is_done = curl_easy_perform(easy) == CURLE_OK;
    *code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, code);
    curl_easy_cleanup(easy);
    return is_done;
}

/* A member of several serves nobody before there is a quorum. */
static bool etcd_answers(struct server *server)
{
    const struct etcd_more *more = server->more;
    long code;

    if (more->is_member || more->tls != NULL)
        return port_listens(server);
    return post_run(server, "/version", NULL, &code) && code == 200;
}

/* Clients need a certificate that is signed by the server's, too. */
static void tls_command(const struct tls_files *tls, struct server_words *words)
{
    server_word(words, "--cert-file=%s", tls->cert);
    server_word(words, "--key-file=%s", tls->key);
    server_word(words, "--trusted-ca-file=%s", tls->cert);
    server_word(words, "--client-cert-auth");
}

static void etcd_command(struct server *server, struct server_words *words)
{
    const struct etcd_more *more = server->more;
    const char *scheme = more->tls != NULL ? "https" : "http";

    server_word(words, "etcd");
    server_word(words, "--name=%s", more->name);
    server_word(words, "--data-dir=%s/data", server->folder);
    server_word(words, "--listen-client-urls=%s://%s:%d", scheme,
                server->address, (int)server->port);
    server_word(words, "--advertise-client-urls=%s://%s:%d", scheme,
                server->address, (int)server->port);
    if (more->tls != NULL)
        tls_command(more->tls, words);
    server_word(words, "--listen-peer-urls=http://%s:%d", server->address,
                (int)more->peer_port);
    server_word(words, "--initial-advertise-peer-urls=http://%s:%d",
                server->address, (int)more->peer_port);
    server_word(words, "--initial-cluster=%s", more->cluster);
    server_word(words, "--initial-cluster-token=%s", more->token);
    server_word(words, "--heartbeat-interval=50");
    server_word(words, "--election-timeout=250");
    server_word(words, "--logger=zap");
    server_word(words, "--log-level=error");
}

static struct etcd_more *next_more; /* of the server that is made next */
static const struct tls_files *next_tls;

static void etcd_prepare(struct server *server)
{
    server->more = next_more;
}

static const struct server_kind etcd_kind = {
    .program = "etcd",
    .prepare = etcd_prepare,
    .command = etcd_command,
    .is_up = etcd_answers,
};

/* They live as long as the test program. */
static struct etcd_more mores[MORES_MAX];
static size_t more_count;

static struct etcd_more *more_new(int member, int cluster)
{
    struct etcd_more *more = &mores[more_count];

    assert_true(more_count++ < MORES_MAX);
    (void)text_format(more->name, sizeof more->name, "m%d", member);
    (void)text_format(more->token, sizeof more->token, "t%d", cluster);
    more->peer_port = free_port();
    return more;
}

static void cluster_add(char *cluster, size_t size,
                        const struct etcd_more *more, const char *address)
{
    assert_true(text_append(cluster, size, "%s%s=http://%s:%d",
                            cluster[0] != '\0' ? "," : "", more->name, address,
                            (int)more->peer_port));
}

struct server *server_etcd(const char *const *args)
{
    server_require("etcd");
    next_more = more_new(0, (int)more_count);
    next_more->tls = next_tls;
    next_tls = NULL;
    cluster_add(next_more->cluster, sizeof next_more->cluster, next_more,
                lan_address(NULL, 0));
    return server_new(&etcd_kind, args);
}

struct server *server_etcd_tls(const struct tls_files *tls)
{
    next_tls = tls;
    return server_etcd(NULL);
}

void server_etcd_cluster_on(const struct lan *lan, const char *const *args,
                            struct server *members[static ETCD_MEMBERS])
{
    static struct attempt attempt = {.what = "an etcd cluster"};
    struct etcd_more *more[ETCD_MEMBERS];
    char cluster[256] = "";
    const int number = (int)more_count;

    server_require("etcd");
    attempt_begin(&attempt);
    for (int i = 0; i < ETCD_MEMBERS; i++) {
        more[i] = more_new(i, number);
        more[i]->is_member = true;
        cluster_add(cluster, sizeof cluster, more[i], lan_address(lan, i));
    }
    for (int i = 0; i < ETCD_MEMBERS; i++) {
        (void)text_copy(more[i]->cluster, sizeof more[i]->cluster, cluster);
        next_more = more[i];
        server_place(lan_fd(lan, i), lan_address(lan, i));
        members[i] = server_new(&etcd_kind, args);
    }
    server_place(-1, lan_address(NULL, 0));
    for (int i = 0; i < ETCD_MEMBERS; i++)
        etcd_post(members[i], "/v3/kv/range", "{\"key\":\"YQ==\"}");
    attempt_end(&attempt);
}

void server_etcd_cluster(struct server *members[static ETCD_MEMBERS])
{
    server_etcd_cluster_on(NULL, NULL, members);
}

void etcd_post(const struct server *server, const char *path, const char *body)
{
    long code = 0;

    server_expect(server);
    for (int i = 0; i < POST_TRIES; i++) {
        if (post_run(server, path, body, &code) && code == 200)
            return;
        usleep(20000);
    }
    fail_msg("etcd: %s: HTTP status %ld", path, code);
}

/* `metric` is a line of the member's metrics up to its value. */
static int64_t metric_read(const struct server *server, const char *metric)
{
    CURL *easy = curl_easy_init();
    char url[256];
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    const char *at;
    int64_t value;

    assert_true(easy != NULL && file != NULL);
    (void)text_format(url, sizeof url, "http://%s:%d/metrics", server->address,
                      (int)server->port);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, file);
    assert_int_equal(curl_easy_perform(easy), CURLE_OK);
    curl_easy_cleanup(easy);
    assert_int_equal(fclose(file), 0);
    at = strstr(text, metric);
    assert_non_null(at);
    value = (int64_t)strtod(at + strlen(metric), NULL);
    free(text);
    return value;
}

int64_t etcd_transactions(const struct server *server)
{
    return metric_read(
        server, "\ngrpc_server_handled_total{grpc_code=\"OK\",grpc_method="
                "\"Txn\",grpc_service=\"etcdserverpb.KV\","
                "grpc_type=\"unary\"} ");
}

int etcd_leader(struct server *const members[static ETCD_MEMBERS])
{
    int leader = 0;

    while (!port_listens(members[leader]) ||
           metric_read(members[leader], "\netcd_server_is_leader ") != 1) {
        leader = (leader + 1) % ETCD_MEMBERS;
        usleep(20000);
    }
    return leader;
}

static size_t ctl_tls(const struct tls_files *tls, const char **argv, size_t n)
{
    argv[n++] = "--cacert";
    argv[n++] = tls->cert;
    argv[n++] = "--cert";
    argv[n++] = tls->cert;
    argv[n++] = "--key";
    argv[n++] = tls->key;
    return n;
}

static void ctl_run(struct server *server, const char *const *words)
{
    const struct etcd_more *more = server->more;
    const char *argv[16] = {"etcdctl", "--endpoints"};
    char endpoint[64];
    size_t n = 2;

    (void)text_format(endpoint, sizeof endpoint, "%s:%d", server->address,
                      (int)server->port);
    argv[n++] = endpoint;
    if (more->tls != NULL)
        n = ctl_tls(more->tls, argv, n);
    for (; *words != NULL; words++) {
        assert_true(n < 15);
        argv[n++] = *words;
    }
    server_run(server, argv);
}

void etcd_put(struct server *server, const char *key, const char *value)
{
    ctl_run(server, (const char *[]){"put", key, value, NULL});
}

void etcd_demand_logins(struct server *server)
{
    ctl_run(server, (const char *[]){"role", "add", "root", NULL});
    ctl_run(server, (const char *[]){"user", "add", "root:root", NULL});
    ctl_run(server,
            (const char *[]){"user", "grant-role", "root", "root", NULL});
    ctl_run(server, (const char *[]){"auth", "enable", NULL});
}

void etcd_forget(struct server *server, const char *prefix)
{
    ctl_run(server, (const char *[]){"del", "--prefix", prefix, NULL});
}

void etcd_copy_out(struct server *server)
{
    server_run(server, (const char *[]){"rm", "-rf", "copy", NULL});
    server_run(server, (const char *[]){"cp", "-a", "data", "copy", NULL});
}

void etcd_copy_back(struct server *server)
{
    server_run(server, (const char *[]){"rm", "-rf", "data", NULL});
    server_run(server, (const char *[]){"cp", "-a", "copy", "data", NULL});
}

void etcd_snapshot_save(struct server *server)
{
    server_run(server, (const char *[]){"rm", "-f", "snapshot", NULL});
    ctl_run(server, (const char *[]){"snapshot", "save", "snapshot", NULL});
}

void etcd_snapshot_copy(const struct server *from, struct server *to)
{
    char path[256];

    assert_true(
        text_format(path, sizeof path, "%s/snapshot", server_folder(from)));
    server_run(to, (const char *[]){"cp", path, "snapshot", NULL});
}

void etcd_snapshot_restore(struct server *server, const char *token)
{
    struct etcd_more *more = server->more;
    char peer[64];

    if (token != NULL)
        (void)text_copy(more->token, sizeof more->token, token);
    (void)text_format(peer, sizeof peer,
                      "--initial-advertise-peer-urls=http://%s:%d",
                      server->address, (int)more->peer_port);
    server_run(server, (const char *[]){"rm", "-rf", "data", NULL});
    server_run(server, (const char *[]){
                           "etcdctl", "snapshot", "restore", "snapshot",
                           "--data-dir", "data", "--name", more->name,
                           "--initial-cluster", more->cluster,
                           "--initial-cluster-token", more->token, peer, NULL});
}
