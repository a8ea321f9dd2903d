/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a client says to the daemon, over a stub of the library,
 * three times: all at once, in pieces, and a request at a time, so that
 * nothing is read behind one. The answers must be the same bytes. The first
 * two bytes of an input say how scarce numbers are and how large the pieces.
 */
#include <strings.h>

#include "daemon/server.h"
#include "daemon/wire/wire.h"
#include "fuzz/fuzz.h"
#include "support/dialogue.h"
#include "support/stub_broker.h"

#define INPUT_MAX 4096 /* of a script */
#define REFILLS   8    /* small pieces may fill a socket: some come later */
#define MINUTE_MS 60000

/* What answers the time, or acts between two turns of the loop. A reload needs
 * the topology's file as well, which this server has not. */
static int is_told_by_time(const char *data, size_t length)
{
    static const char *const words[] = {"INFO",    "STATUS",  "DRAIN",
                                        "ADVANCE", "WORKERS", "RELOAD"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (size_t at = 0; at + strlen(words[i]) <= length; at++)
            if (strncasecmp(data + at, words[i], strlen(words[i])) == 0)
                return 1;
    return 0;
}

/* The size of the piece that begins with `data`; 0 is a request. */
static size_t piece_size(const char *data, size_t length, size_t piece)
{
    struct resp_request request;

    if (piece > 0)
        return piece;
    if (resp_parse(data, length, &request) == RESP_COMPLETE)
        return request.size;
    return length;
}

static size_t say(struct server *server, struct talker *talker,
                  const char *data, size_t length, size_t piece)
{
    size_t said = 0;
    size_t more = 1;

    while (more > 0 && said < length) {
        size_t wanted = piece_size(data + said, length - said, piece);

        if (wanted > length - said)
            wanted = length - said;
        more = dialogue_say(server, talker, data + said, wanted, wanted);
        said += more;
    }
    return said;
}

static void run(const char *data, size_t length, size_t piece, int64_t stock,
                struct talker *out)
{
    struct server *server = NULL;
    size_t said = 0;

    stub_reset(stock, stock % 2 ? SEQB_AGAIN : SEQB_UNAVAILABLE, MINUTE_MS);
    server = dialogue_server();
    talker_init(out, server);
    said = say(server, out, data, length, piece);
    for (int i = 0; i < REFILLS; i++) {
        stub_refill(stock);
        dialogue_finish(server, out);
        said += say(server, out, data + said, length - said, piece);
    }
    server_close(server);
}

static void check_same(const char *data, size_t length, size_t piece,
                       int64_t stock, const struct talker *expected)
{
    struct talker talker;

    run(data, length, piece, stock, &talker);
    require(talker.length == expected->length);
    require(talker.length == 0 ||
            memcmp(talker.heard, expected->heard, talker.length) == 0);
    talker_fini(&talker);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *data = (const char *)bytes + 2;
    struct talker plain;

    if (size < 3 || size - 2 > INPUT_MAX || is_told_by_time(data, size - 2))
        return 0;
    run(data, size - 2, 0, bytes[0], &plain);
    check_same(data, size - 2, INPUT_MAX, bytes[0], &plain);
    check_same(data, size - 2, bytes[1] + 1U, bytes[0], &plain);
    talker_fini(&plain);
    return 0;
}
