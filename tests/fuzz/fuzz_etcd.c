/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what an etcd answers: the frames of HTTP/2, or a message in
 * frames that are in order. The first byte says which, and what is asked. What
 * must hold: texts of rows end, what is granted is what was asked for, and each
 * failure has a text.
 */
#include <stdlib.h>

#include <seqbroker/backend.h>

#include "backends/backends.h"
#include "backends/etcd/etcd.h"
#include "fuzz/false_server.h"
#include "fuzz/fuzz.h"
#include "platform/text.h"

#define TIMEOUT_MS  5000
#define WANT        100
#define LIMIT       1000
#define MESSAGE_MAX 16000
#define FRAMES_FLAG 128

int LLVMFuzzerInitialize(int *argc, char ***argv);

static const struct false_server *server;

static void check(enum seqb_status status, const struct seqb_error *err)
{
    if (status == SEQB_OK)
        return;
    require(err->status == status);
    require(memchr(err->text, '\0', sizeof err->text) != NULL);
    require(err->text[0] != '\0');
}

/* --- what is asked --- */

static void reserve(struct etcd *etcd)
{
    struct seqb_error err = {.status = SEQB_OK};
    struct seqb_request requests[2] = {
        {.counter = "a", .want = WANT, .limit = LIMIT},
        {.counter = "b", .want = WANT, .limit = LIMIT}};

    check(etcd_reserve(&etcd->sql.base, requests, 2, &err), &err);
    for (size_t i = 0; i < 2; i++) {
        if (requests[i].status != SEQB_OK)
            continue;
        require(requests[i].block.count >= 1);
        require(requests[i].block.count <= WANT);
        require(requests[i].block.first >= 0);
        require(requests[i].block.first + requests[i].block.count <= LIMIT);
    }
}

static void claim(struct etcd *etcd)
{
    struct seqb_error err = {.status = SEQB_OK};
    char standing[64];

    memset(standing, 'x', sizeof standing);
    check(etcd_claim(&etcd->sql.base, "layout", "n=2", standing,
                     sizeof standing, &err),
          &err);
    if (err.status == SEQB_OK)
        require(memchr(standing, '\0', sizeof standing) != NULL);
}

static void describe(struct etcd *etcd)
{
    struct seqb_details details = {.node = ""};
    struct seqb_error err = {.status = SEQB_OK};

    check(etcd_describe(&etcd->sql.base, &details, &err), &err);
    require(memchr(details.role, '\0', sizeof details.role) != NULL);
}

static void range_read(struct etcd *etcd)
{
    struct etcd_range range = {
        .kind = ETCD_COUNTER, .from = "", .to = NULL, .limit = 100};
    struct seqb_error err = {.status = SEQB_OK};

    check(etcd_range_read(etcd, &range, &err), &err);
    for (size_t i = 0; i < range.count; i++) {
        char name[SEQB_COUNTER_SIZE];
        char text[ETCD_VALUE_SIZE];

        if (etcd_range_row(etcd, &range, i, name, text)) {
            require(strlen(name) < sizeof name);
            require(strlen(text) < sizeof text);
        }
    }
    etcd_range_free(&range);
}

static void open_session(struct etcd *etcd)
{
    const struct seqb_backend_options options = {.name = "a", .create = true};
    struct seqb_error err = {.status = SEQB_OK};

    check(etcd_session_open(etcd, &options, &err), &err);
}

static void ask(unsigned what)
{
    static void (*const calls[])(struct etcd *) = {reserve, claim, describe,
                                                   range_read, open_session};
    const char *const endpoints[] = {server->address, NULL};
    const struct seqb_backend_options options = {.name = "a",
                                                 .endpoints = endpoints};
    struct etcd *etcd = calloc(1, sizeof *etcd);
    struct seqb_error err = {.status = SEQB_OK};

    require(etcd != NULL);
    etcd->sql.dialect = &etcd_dialect;
    etcd->sql.where = etcd->link.where;
    etcd->timeout_ms = TIMEOUT_MS;
    (void)text_copy(etcd->prefix, sizeof etcd->prefix, "p");
    (void)text_copy(etcd->run, sizeof etcd->run, "2.64.61.r");
    (void)text_copy(etcd->sql.base.origin, sizeof etcd->sql.base.origin, "e");
    require(etcd_link_open(&etcd->link, &options, &err) == SEQB_OK);
    etcd_link_begin(&etcd->link, TIMEOUT_MS);
    for (unsigned i = 0; i < 2; i++)
        calls[(what + i) % (sizeof calls / sizeof calls[0])](etcd);
    etcd_link_close(&etcd->link);
    etcd_known_fini(&etcd->known);
    free(etcd->texts);
    free(etcd);
}

/* --- what is answered --- */

/* The message as the answer to the first call of a connection. */
static void say_message(const uint8_t *message, size_t length)
{
    static const uint8_t settings_and_status[] = {
        0, 0, 0, 4, 0, 0, 0, 0, 0,       /* SETTINGS */
        0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88, /* HEADERS: ":status: 200" */
    };
    static const uint8_t grpc_status[] = {
        0,   0,   15,  1,   5,   0,   0,   0,   1,   0,   11, 'g',
        'r', 'p', 'c', '-', 's', 't', 'a', 't', 'u', 's', 1,  '0'};
    uint8_t said[FALSE_SERVER_MAX];
    size_t size = sizeof settings_and_status;
    const size_t framed = length + 5;

    memcpy(said, settings_and_status, size);
    said[size++] = 0;
    said[size++] = (uint8_t)(framed >> 8);
    said[size++] = (uint8_t)framed;
    memcpy(said + size, (const uint8_t[]){0, 0, 0, 0, 0, 1, 0, 0, 0}, 9);
    size += 9;
    said[size++] = (uint8_t)(length >> 8);
    said[size++] = (uint8_t)length;
    memcpy(said + size, message, length);
    size += length;
    memcpy(said + size, grpc_status, sizeof grpc_status);
    false_server_say(said, size + sizeof grpc_status);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    server = false_server_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > MESSAGE_MAX)
        return 0;
    if (data[0] & FRAMES_FLAG)
        false_server_say(data + 1, size - 1);
    else
        say_message(data + 1, size - 1);
    ask(data[0] & ~(unsigned)FRAMES_FLAG);
    return 0;
}
