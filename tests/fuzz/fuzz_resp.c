/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as requests. What must hold: arguments lie inside the request;
 * the result is the same for every cut of the input; no partial request is
 * larger than the limit; what repeats a request is parsed as one like it.
 */
#include "daemon/wire/wire.h"
#include "fuzz/fuzz.h"

static void check_arguments(const struct resp_request *request,
                            const char *data)
{
    const char *end = data + request->size;
    const char *at = data;

    require(request->argc <= RESP_ARGUMENTS_MAX);
    for (size_t i = 0; i < request->argc; i++) {
        require(request->argv[i].data >= at);
        require(request->argv[i].length <= RESP_BULK_MAX);
        at = request->argv[i].data + request->argv[i].length;
        require(at <= end);
    }
}

static void check_same(const struct resp_request *a,
                       const struct resp_request *b)
{
    require(a->size == b->size && a->argc == b->argc);
    for (size_t i = 0; i < a->argc; i++)
        require(a->argv[i].length == b->argv[i].length &&
                memcmp(a->argv[i].data, b->argv[i].data, a->argv[i].length) ==
                    0);
}

/* Parses a part, as it might arrive, in memory of just its size. */
static void check_part(const char *data, size_t length, enum resp_result whole,
                       const struct resp_request *expected)
{
    struct resp_request request;
    char *part = malloc(length + (length == 0));
    enum resp_result result = RESP_PARTIAL;

    require(part != NULL);
    memcpy(part, data, length);
    result = resp_parse(part, length, &request);
    if (result == RESP_COMPLETE) {
        require(whole == RESP_COMPLETE && request.size <= length);
        check_same(&request, expected);
    } else if (result == RESP_BROKEN) {
        require(whole == RESP_BROKEN && request.error == expected->error);
    } else {
        require(length < RESP_REQUEST_MAX);
        require(whole != RESP_COMPLETE || length < expected->size);
    }
    free(part);
}

/* Every cut of a short request, a few of a long one. */
static void check_cuts(const char *data, size_t length, enum resp_result whole,
                       const struct resp_request *request)
{
    size_t step = 1 + length / 64;

    for (size_t cut = 0; cut <= length; cut += step)
        check_part(data, cut, whole, request);
}

/* All that repeat it are the same request, and the one behind them is not. */
static void check_repeats(const char *data, size_t length,
                          const struct resp_request *expected)
{
    const size_t size = expected->size;
    const size_t repeats = resp_repeats(data, length, size);
    const size_t reach = (repeats + 1) * size;

    require(reach <= length);
    for (size_t at = size; at < reach; at += size) {
        struct resp_request request;

        require(resp_parse(data + at, length - at, &request) == RESP_COMPLETE);
        check_same(&request, expected);
    }
    require(length - reach < size || memcmp(data, data + reach, size) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *data = (const char *)bytes;

    for (;;) {
        struct resp_request request;
        enum resp_result result = resp_parse(data, size, &request);

        if (result == RESP_COMPLETE) {
            require(request.size >= 1 && request.size <= size);
            require(request.size <= RESP_REQUEST_MAX);
            check_arguments(&request, data);
            check_repeats(data, size, &request);
        }
        check_cuts(data, size, result, &request);
        if (result != RESP_COMPLETE)
            return 0;
        data += request.size;
        size -= request.size;
    }
}
