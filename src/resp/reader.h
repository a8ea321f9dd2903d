/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bound of what hiredis makes of an answer. An array of 2^31 elements that a
 * false server announces takes 16 GB of address space, and seconds to be freed;
 * hiredis before 1.0 has no bound of its own. (Source: createArrayObject and
 * processMultiBulkItem of hiredis 0.14.1.)
 */
#pragma once

#include <stdbool.h>

#include <hiredis/hiredis.h>

#if HIREDIS_MAJOR >= 1
typedef size_t reader_count;
#else
typedef int reader_count;
#endif

/* Lives as long as the redisReader. */
struct reader {
    redisReplyObjectFunctions functions;
    void *(*array)(const redisReadTask *task, reader_count count);
    reader_count most; /* elements of an array */
    bool has_refused;  /* one had more */
};

static inline void *reader_array(const redisReadTask *task, reader_count count)
{
    struct reader *reader = task->privdata;

    reader->has_refused = count > reader->most;
    return reader->has_refused ? NULL : reader->array(task, count);
}

/* Before anything is read. A longer array ends as if memory were short: with
 * REDIS_ERR_OOM, and a connection that is of no use any more. */
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
