/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of libevent and jansson, by their own hooks. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <jansson.h>

#include "support/faults.h"

#define DEPTH 16

/* The program's first byte, by the linker. */
extern const char __executable_start[];

/* Whether libevent takes it in its own loop, and not in a call of ours: then it
 * does not fail. Without memory, libevent 2.1.12 crashes when it makes a
 * connection or a request, answers 400 to headers that it cannot keep, and
 * forgets to watch sockets. */
static bool is_of_loop(void)
{
    void *frames[DEPTH];
    const int depth = backtrace(frames, DEPTH);
    bool is_in_library = false; /* beyond the frames of the hook */

    for (int i = 0; i < depth; i++) {
        Dl_info info = {.dli_fbase = NULL};

        if (dladdr(frames[i], &info) == 0)
            continue;
        is_in_library |= strstr(info.dli_fname, "libevent") != NULL ||
                         strstr(info.dli_fname, "libjansson") != NULL;
        if (is_in_library && info.dli_fbase == __executable_start)
            return false;
        if (info.dli_sname != NULL &&
            strcmp(info.dli_sname, "event_base_loop") == 0)
            return true;
    }
    return true;
}

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);

static void *take(size_t size)
{
    if (is_of_loop() || !faults_come(FAULTS_LOOP_MEMORY, "malloc"))
        return __real_malloc(size);
    errno = ENOMEM;
    return NULL;
}

static void *resize(void *old, size_t size)
{
    if (is_of_loop() || !faults_come(FAULTS_LOOP_MEMORY, "realloc"))
        return __real_realloc(old, size);
    errno = ENOMEM;
    return NULL;
}

void faults_prepare_loop(void)
{
    event_set_mem_functions(take, resize, free);
    json_set_alloc_funcs(take, free);
}
