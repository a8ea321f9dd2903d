/* SPDX-License-Identifier: Apache-2.0 */
/* A message posted to a URL by libcurl. Certificates are always checked, and a
 * redirect is a failure. */
#include "daemon/alarm/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include <seqbroker/seqbroker.h>

#define CONNECT_MS 5000

struct webhook {
    struct alarm_target base;
    const char *url;
    const char *ca_file; /* or NULL */
    struct curl_slist *headers;
};

/* One HTTP request. */
struct post {
    CURLM *multi;
    CURL *easy;
    char error[CURL_ERROR_SIZE];
};

static size_t answer_drop(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

static bool is_encrypted(const char *url)
{
    return strncmp(url, "https:", strlen("https:")) == 0;
}

static bool secure(CURL *easy, const struct webhook *webhook)
{
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR,
                            is_encrypted(webhook->url) ? "https" : "http") ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSLVERSION,
                            (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
           (webhook->ca_file == NULL ||
            curl_easy_setopt(easy, CURLOPT_CAINFO, webhook->ca_file) ==
                CURLE_OK);
}

/* QUICK_EXIT: libcurl does not wait for a resolver thread that hangs. */
static bool bound(CURL *easy, const struct alarm_wait *wait)
{
    return curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                            (long)alarm_wait_left(wait)) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                            (long)CONNECT_MS) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
}

static bool post_prepare(struct post *post, const struct webhook *webhook,
                         const char *body, const struct alarm_wait *wait)
{
    post->multi = curl_multi_init();
    post->easy = curl_easy_init();
    return post->multi != NULL && post->easy != NULL &&
           curl_easy_setopt(post->easy, CURLOPT_URL, webhook->url) ==
               CURLE_OK &&
           curl_easy_setopt(post->easy, CURLOPT_POSTFIELDS, body) == CURLE_OK &&
           curl_easy_setopt(post->easy, CURLOPT_HTTPHEADER, webhook->headers) ==
               CURLE_OK &&
           curl_easy_setopt(post->easy, CURLOPT_USERAGENT,
                            "seqbroker/" SEQB_VERSION) == CURLE_OK &&
           curl_easy_setopt(post->easy, CURLOPT_WRITEFUNCTION, answer_drop) ==
               CURLE_OK &&
           curl_easy_setopt(post->easy, CURLOPT_ERRORBUFFER, post->error) ==
               CURLE_OK &&
           secure(post->easy, webhook) && bound(post->easy, wait) &&
           curl_multi_add_handle(post->multi, post->easy) == CURLM_OK;
}

static void post_fini(const struct post *post)
{
    if (post->multi != NULL && post->easy != NULL)
        curl_multi_remove_handle(post->multi, post->easy);
    curl_easy_cleanup(post->easy);
    curl_multi_cleanup(post->multi);
}

/* False if the time is over, or the daemon stops. */
static bool post_run(struct post *post, struct alarm_wait *wait)
{
    int running = 1;

    while (curl_multi_perform(post->multi, &running) == CURLM_OK &&
           running > 0) {
        struct curl_waitfd stop = {.fd = wait->stop_fd,
                                   .events = CURL_WAIT_POLLIN};
        const int left_ms = alarm_wait_left(wait);

        if (left_ms == 0 ||
            curl_multi_poll(post->multi, &stop, wait->is_stopping ? 0 : 1,
                            left_ms, NULL) != CURLM_OK)
            return false;
        if (stop.revents != 0)
            alarm_wait_stop(wait);
    }
    return true;
}

static enum alarm_outcome answer_evaluate(long code, struct seqb_error *why)
{
    if (code >= 200 && code < 300)
        return ALARM_DELIVERED;
    snprintf(why->text, sizeof why->text, "HTTP status %ld", code);
    return code >= 500 || code == 408 || code == 429 ? ALARM_FAILED
                                                     : ALARM_REFUSED;
}

/* Errors that another try would meet again. */
static bool is_hopeless(CURLcode code)
{
    return code == CURLE_PEER_FAILED_VERIFICATION ||
           code == CURLE_SSL_CACERT_BADFILE || code == CURLE_URL_MALFORMAT;
}

static enum alarm_outcome post_evaluate(struct post *post,
                                        struct seqb_error *why)
{
    int left = 0;
    const CURLMsg *message = curl_multi_info_read(post->multi, &left);
    const CURLcode result = message != NULL && message->msg == CURLMSG_DONE
                                ? message->data.result
                                : CURLE_FAILED_INIT;
    long code = 0;

    if (result != CURLE_OK) {
        snprintf(why->text, sizeof why->text, "%s",
                 post->error[0] != '\0' ? post->error
                                        : curl_easy_strerror(result));
        return is_hopeless(result) ? ALARM_REFUSED : ALARM_FAILED;
    }
    curl_easy_getinfo(post->easy, CURLINFO_RESPONSE_CODE, &code);
    return answer_evaluate(code, why);
}

static enum alarm_outcome webhook_send(struct alarm_target *target,
                                       const char *body,
                                       struct alarm_wait *wait,
                                       struct seqb_error *why)
{
    const struct webhook *webhook = (const struct webhook *)target;
    struct post post = {.multi = NULL};
    enum alarm_outcome outcome = ALARM_FAILED;

    snprintf(why->text, sizeof why->text, "no memory for a request");
    if (post_prepare(&post, webhook, body, wait)) {
        if (post_run(&post, wait))
            outcome = post_evaluate(&post, why);
        else
            snprintf(why->text, sizeof why->text,
                     wait->is_stopping ? "given up, since the daemon stops"
                                       : "no answer in time");
    }
    post_fini(&post);
    return outcome;
}

static void webhook_close(struct alarm_target *target)
{
    struct webhook *webhook = (struct webhook *)target;

    curl_slist_free_all(webhook->headers);
    free(webhook);
    curl_global_cleanup();
}

struct alarm_target *alarm_webhook_open(const char *url, const char *ca_file)
{
    struct webhook *webhook;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return NULL;
    webhook = calloc(1, sizeof *webhook);
    if (webhook != NULL)
        webhook->headers =
            curl_slist_append(NULL, "Content-Type: application/json");
    if (webhook == NULL || webhook->headers == NULL) {
        free(webhook);
        curl_global_cleanup();
        return NULL;
    }
    webhook->base = (struct alarm_target){
        .name = "webhook", .send = webhook_send, .close = webhook_close};
    webhook->url = url;
    webhook->ca_file = ca_file;
    return &webhook->base;
}

bool alarm_webhook_is_built(void)
{
    return true;
}

/* Parses the URL as the request does, which would fail for good. */
bool alarm_webhook_is_url(const char *url)
{
    CURLU *parsed = curl_url();
    char *host = NULL;
    const bool is_url =
        parsed != NULL &&
        (is_encrypted(url) || strncmp(url, "http:", strlen("http:")) == 0) &&
        curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        host[0] != '\0';

    curl_free(host);
    curl_url_cleanup(parsed);
    return is_url;
}
