/* SPDX-License-Identifier: Apache-2.0 */
/* The files of TLS are read again: when they change, and when they could not be
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <openssl/ssl.h>

#include "daemon/log/log.h"
#include "daemon/server.h"
#include "daemon/transport/transport.h"
#include "support/test.h"
#include "support/tls_pair.h"
#include "unit/session_fixture.h"

/* A daemon with TLS, and the certificate that comes next. */
struct scene {
    struct tls_files files, next;
    struct server *server;
    struct tls_server *tls;
    struct rlimit files_before;
    uint64_t read; /* the last line of the log that was looked at */
    int64_t now_ms;
};

static int scene_setup(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct tls_settings settings = {.cert_file = NULL};
    struct seqb_error err;

    assert_non_null(scene);
    scene->server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    tls_files_make(&scene->files, "a", "DNS:a.example");
    tls_files_make(&scene->next, "b", "DNS:b.example");
    settings.cert_file = scene->files.cert;
    settings.key_file = scene->files.key;
    assert_done(tls_server_open(&settings, scene->server->base,
                                &scene->server->daemon, &scene->tls, &err),
                err);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &scene->files_before), 0);
    scene->read = log_line_count();
    scene->now_ms = daemon_now_ms();
    *state = scene;
    return 0;
}

static void descriptors_free(const struct scene *scene)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &scene->files_before), 0);
}

static int scene_teardown(void **state)
{
    struct scene *scene = *state;

    descriptors_free(scene);
    tls_server_close(scene->tls);
    server_close(scene->server);
    tls_files_remove(&scene->files);
    tls_files_remove(&scene->next);
    free(scene);
    return 0;
}

#define SCENE FIXTURE(struct scene *scene, scene_setup, scene_teardown)

/* From now on no file can be opened. */
static void descriptors_take(const struct scene *scene)
{
    const struct rlimit none = {0, scene->files_before.rlim_max};

    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

/* As a program that renews certificates does. */
static void replace(const char *to, const char *from)
{
    assert_int_equal(rename(from, to), 0);
}

static void append(const char *to, const char *text)
{
    FILE *file = fopen(to, "a");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Looks at the files as often as the daemon does within that time. */
static void pass(struct scene *scene, int64_t seconds)
{
    for (int64_t i = 0; i < seconds; i += 2) {
        scene->now_ms += 2000;
        tls_server_poll(scene->tls, scene->now_ms);
    }
}

static bool serves(const struct scene *scene, const char *common_name)
{
    SSL *ssl = tls_server_accept(scene->tls);
    bool is_named = false;

    assert_non_null(ssl);
    is_named = tls_is_named(ssl, common_name);
    SSL_free(ssl);
    return is_named;
}

/* Lines of that event since the last call. */
static size_t lines_of(struct scene *scene, const char *event)
{
    struct log_entry entry;
    size_t lines = 0;

    while (log_read(&scene->read, SEQB_LOG_INFO, &entry)) {
        lines += strstr(entry.line, event) != NULL;
        free(entry.line);
    }
    return lines;
}

TEST_WITH(SCENE, a_reload_that_failed_is_tried_again)
{
    replace(scene->files.cert, scene->next.cert);
    replace(scene->files.key, scene->next.key);
    descriptors_take(scene);
    pass(scene, 10);
    assert_true(serves(scene, "a"));
    descriptors_free(scene);
    pass(scene, 62);
    assert_true(serves(scene, "b"));
    assert_int_equal(lines_of(scene, "event=tls_reloaded"), 1);
}

TEST_WITH(SCENE, a_reload_that_goes_on_failing_is_logged_once_for_each_reason)
{
    replace(scene->files.cert, scene->next.cert); /* without its key */
    pass(scene, 600);
    assert_int_equal(lines_of(scene, "event=tls_reload_failed"), 1);
    descriptors_take(scene);
    pass(scene, 600);
    assert_int_equal(lines_of(scene, "event=tls_reload_failed"), 1);
    descriptors_free(scene);
    pass(scene, 600);
    assert_int_equal(lines_of(scene, "event=tls_reload_failed"), 1);
}

TEST_WITH(SCENE, a_new_file_that_fails_as_the_last_one_is_logged)
{
    replace(scene->files.cert, scene->next.cert);
    pass(scene, 10);
    append(scene->files.cert, "\n");
    pass(scene, 10);
    assert_int_equal(lines_of(scene, "event=tls_reload_failed"), 2);
}

TEST_WITH(SCENE, files_that_were_read_are_not_read_again)
{
    replace(scene->files.cert, scene->next.cert);
    replace(scene->files.key, scene->next.key);
    pass(scene, 600);
    assert_int_equal(lines_of(scene, "event=tls_reloaded"), 1);
}
