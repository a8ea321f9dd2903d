/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of OpenSSL, by its own hooks. */
#include <stdlib.h>

#include <openssl/crypto.h>

#include "support/faults.h"

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);

static void *take(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return faults_come(FAULTS_TLS_MEMORY, "malloc") ? NULL
                                                    : __real_malloc(size);
}

static void *resize(void *old, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return faults_come(FAULTS_TLS_MEMORY, "realloc")
               ? NULL
               : __real_realloc(old, size);
}

static void give_back(void *old, const char *file, int line)
{
    (void)file;
    (void)line;
    free(old);
}

bool faults_prepare_tls(void)
{
    return CRYPTO_set_mem_functions(take, resize, give_back) == 1;
}
