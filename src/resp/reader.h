/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the arrays that hiredis allocates for an answer. A malicious server
 * may announce an array of 2^31 elements; that takes 16 GB of address space,
 * and seconds to free. hiredis before 1.0 has no limit. (Source:
 * createArrayObject and processMultiBulkItem of hiredis 0.14.1.)
 */
#pragma once

#include <stdbool.h>

#include <hiredis/hiredis.h>

#if HIREDIS_MAJOR >= 1
typedef size_t reader_count;
#else
typedef int reader_count;
#endif

/* It must live as long as the redisReader. */
struct reader {
    redisReplyObjectFunctions functions;
    void *(*array)(const redisReadTask *task, reader_count count);
    reader_count most; /* the limit of elements in an array */
    bool has_refused;  /* an array had more */
};

static inline void *reader_array(const redisReadTask *task, reader_count count)
{
    struct reader *reader = task->privdata;

    reader->has_refused = count > reader->most;
    return reader->has_refused ? NULL : reader->array(task, count);
}

/* Sets the limit, before anything is read. A longer array fails like an
 * allocation: with REDIS_ERR_OOM, and the connection is then of no use. */
static inline void reader_bound(struct reader *reader, redisReader *bounded,
                                reader_count most)
{
    reader->functions = *bounded->fn;
    reader->array = reader->functions.createArray;
    reader->functions.createArray = reader_array;
    reader->most = most;
    reader->has_refused = false;
    bounded->fn = &reader->functions;
    bounded->privdata = reader;
}
