/* SPDX-License-Identifier: Apache-2.0 */
/* etcd asked for one number at a time: each put has a revision of its own. */
#include "bench/direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

struct direct {
    CURL *easy;
    char answer[1024];
    size_t length;
};

static size_t answer_add(char *data, size_t size, size_t count, void *context)
{
    struct direct *direct = context;
    const size_t length = size * count;

    if (length >= sizeof direct->answer - direct->length)
        return 0;
    memcpy(direct->answer + direct->length, data, length);
    direct->length += length;
    direct->answer[direct->length] = '\0';
    return length;
}

static struct direct *etcd_open(const char *path, int32_t port)
{
    struct direct *direct = calloc(1, sizeof *direct);
    char url[64];

    (void)path;
    if (direct == NULL)
        abort();
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/v3/kv/put", (int)port);
    direct->easy = curl_easy_init();
    curl_easy_setopt(direct->easy, CURLOPT_URL, url);
    curl_easy_setopt(direct->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(direct->easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(direct->easy, CURLOPT_POSTFIELDS,
                     "{\"key\":\"ZGlyZWN0\",\"value\":\"\"}");
    curl_easy_setopt(direct->easy, CURLOPT_WRITEFUNCTION, answer_add);
    curl_easy_setopt(direct->easy, CURLOPT_WRITEDATA, direct);
    return direct;
}

static bool etcd_next(struct direct *direct)
{
    direct->length = 0;
    return curl_easy_perform(direct->easy) == CURLE_OK &&
           strstr(direct->answer, "\"revision\":\"") != NULL;
}

static void etcd_close(struct direct *direct)
{
    curl_easy_cleanup(direct->easy);
    free(direct);
}

const struct direct_kind direct_etcd = {"put, revision", etcd_open, etcd_next,
                                        etcd_close};
