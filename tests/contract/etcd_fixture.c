/* SPDX-License-Identifier: Apache-2.0 */
/* An etcd, and takes from one counter of it. */
#include "contract/etcd_fixture.h"

#include <stdlib.h>

#include "backends/backends.h"
#include "support/server_etcd.h"

struct seqb_backend_options etcd_options(const struct server *server)
{
    return (struct seqb_backend_options){.name = "etcd-a",
                                         .host = "127.0.0.1",
                                         .port = server_port(server),
                                         .timeout_ms = 20000,
                                         .connect_timeout_ms = 20000,
                                         .create = true};
}

struct seqb_backend *etcd_open(const struct seqb_backend_options *options)
{
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    assert_done(backend_etcd.open(options, &backend, &err), err);
    return backend;
}

enum seqb_status etcd_take_many(struct seqb_backend *backend, int64_t want,
                                int64_t *first)
{
    struct seqb_request request = {.counter = ETCD_TEST_COUNTER,
                                   .want = want,
                                   .limit = ETCD_TEST_LIMIT,
                                   .window = SEQB_NO_WINDOW};
    struct seqb_error err;
    const enum seqb_status status =
        backend_etcd.reserve(backend, &request, 1, &err);

    *first = request.block.first;
    if (status != SEQB_OK)
        return status;
    return request.status;
}

enum seqb_status etcd_take(struct seqb_backend *backend, int64_t *first)
{
    return etcd_take_many(backend, 1, first);
}

struct seqb_backend *etcd_open_known(const struct seqb_backend_options *options,
                                     int64_t *last)
{
    struct seqb_backend *backend = etcd_open(options);

    for (int i = 0; i < ETCD_TAKES_UNTIL_KNOWN; i++)
        assert_ok(etcd_take(backend, last));
    return backend;
}

struct fixture *fixture_start(void **state)
{
    struct server *server = server_etcd(NULL);
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    *state = f;
    f->server = server;
    f->options = etcd_options(server);
    must_open(f);
    return f;
}

struct fixture *fixture_start_known(void **state)
{
    struct fixture *f = fixture_start(state);

    fixture_close(f);
    f->backend = etcd_open_known(&f->options, &f->last);
    return f;
}

void must_open(struct fixture *f)
{
    fixture_close(f);
    f->backend = etcd_open(&f->options);
}

void fixture_close(struct fixture *f)
{
    backend_etcd.close(f->backend);
    f->backend = NULL;
}

int fixture_stop(void **state)
{
    struct fixture *f = *state;

    if (f == NULL)
        return 0;
    fixture_close(f);
    server_free(f->server);
    free(f);
    return 0;
}
