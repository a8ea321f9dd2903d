/* SPDX-License-Identifier: Apache-2.0 */
/* Watches that the programs of tests/unit/single_threaded.txt start no thread.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Sanitizers have a pthread_create of their own. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
int pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *argument)
{
    int (*start)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                 void *);

    if (getenv("SEQB_TEST_THREADS") != NULL) {
        fprintf(stderr, "it starts a thread: remove it from "
                        "tests/unit/single_threaded.txt\n");
        abort();
    }
    *(void **)&start = dlsym(RTLD_NEXT, "pthread_create");
    return start(out, attributes, run, argument);
}
#endif
