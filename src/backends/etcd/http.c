/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Posts with libcurl. libcurl may by itself repeat a post, if a connection that
 * it kept open was closed without an answer. So every write to etcd compares
 * what was read before: the second of two equal posts changes nothing.
 */
#include "backends/etcd/http.h"

#include <curl/curl.h>

#include "platform/clock.h"
#include "platform/text.h"

const char *etcd_http_library(void)
{
    return "libcurl " LIBCURL_VERSION;
}

static size_t answer_add(char *data, size_t size, size_t count, void *context)
{
    struct etcd_http *http = context;

    etcd_text_add(&http->answer, data, size * count);
    return http->answer.has_failed ? 0 : size * count;
}

static bool option_text(CURL *easy, CURLoption option, const char *text)
{
    return text == NULL || curl_easy_setopt(easy, option, text) == CURLE_OK;
}

static bool secure(CURL *easy, const struct seqb_backend_options *options)
{
    const bool verifies = options->tls == SEQB_TLS_VERIFY;

    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR,
                            options->tls == SEQB_TLS_OFF ? "http" : "https") ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, verifies ? 1L : 0L) ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, verifies ? 2L : 0L) ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSLVERSION,
                            (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
           option_text(easy, CURLOPT_CAINFO, options->tls_ca) &&
           option_text(easy, CURLOPT_SSLCERT, options->tls_cert) &&
           option_text(easy, CURLOPT_SSLKEY, options->tls_key);
}

bool etcd_http_open(struct etcd_http *http,
                    const struct seqb_backend_options *options)
{
    CURL *easy = curl_easy_init();

    http->easy = easy;
    http->multi = curl_multi_init();
    return easy != NULL && http->multi != NULL && secure(easy, options) &&
           curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, answer_add) ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, http) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, http->error) == CURLE_OK;
}

/* The headers of a post; NULL when out of memory. */
static struct curl_slist *headers_make(const char *token)
{
    struct curl_slist *headers =
        curl_slist_append(NULL, "Content-Type: application/json");
    struct curl_slist *more = headers;
    char line[1100];

    if (headers == NULL || token[0] == '\0')
        return headers;
    if (text_format(line, sizeof line, "Authorization: %s", token))
        more = curl_slist_append(headers, line);
    if (more == NULL)
        curl_slist_free_all(headers);
    return more;
}

/* Runs the transfer to its end; the handle stays in the multi handle. */
static CURLcode transfer_run(struct etcd_http *http, int64_t deadline_ms)
{
    int running = 1;
    int left = 0;
    const CURLMsg *message;

    while (running > 0) {
        const int64_t rest_ms = deadline_ms - clock_now_ms();

        if (curl_multi_perform(http->multi, &running) != CURLM_OK)
            return CURLE_OUT_OF_MEMORY;
        if (running > 0 && rest_ms <= 0)
            return CURLE_OPERATION_TIMEDOUT;
        if (running > 0 && curl_multi_poll(http->multi, NULL, 0, (int)rest_ms,
                                           NULL) != CURLM_OK)
            return CURLE_OUT_OF_MEMORY;
    }
    message = curl_multi_info_read(http->multi, &left);
    return message != NULL && message->msg == CURLMSG_DONE
               ? message->data.result
               : CURLE_FAILED_INIT;
}

/* The outcome of a failed post. It counts as not sent only if no byte of it was
 * sent: libcurl may fail to connect when it repeats a post. */
static enum etcd_outcome failure_evaluate(struct etcd_http *http, CURLcode code)
{
    long sent = 1;

    if (http->error[0] == '\0')
        (void)text_copy(http->error, sizeof http->error,
                        code == CURLE_OPERATION_TIMEDOUT
                            ? "no answer in time"
                            : curl_easy_strerror(code));
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_URL_MALFORMAT:
    case CURLE_OPERATION_TIMEDOUT:
        break;
    default:
        return ETCD_LOST;
    }
    return curl_easy_getinfo(http->easy, CURLINFO_REQUEST_SIZE, &sent) ==
                       CURLE_OK &&
                   sent == 0
               ? ETCD_NOT_SENT
               : ETCD_LOST;
}

static bool post_prepare(struct etcd_http *http, const char *url,
                         const char *body, const struct curl_slist *headers)
{
    CURL *easy = http->easy;

    return curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
}

enum etcd_outcome etcd_http_post(struct etcd_http *http, const char *url,
                                 const char *token, const char *body,
                                 int64_t budget_ms)
{
    struct curl_slist *headers = headers_make(token);
    enum etcd_outcome outcome = ETCD_ANSWERED;
    CURLcode code;

    etcd_text_clear(&http->answer);
    http->error[0] = '\0';
    http->code = 0;
    if (headers == NULL || !post_prepare(http, url, body, headers) ||
        curl_multi_add_handle(http->multi, http->easy) != CURLM_OK) {
        curl_slist_free_all(headers);
        return ETCD_NO_MEMORY;
    }
    code = transfer_run(http, clock_now_ms() + budget_ms);
    if (code == CURLE_OK)
        (void)curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE,
                                &http->code);
    else
        outcome = failure_evaluate(http, code);
    curl_multi_remove_handle(http->multi, http->easy);
    (void)curl_easy_setopt(http->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    return outcome;
}

void etcd_http_close(struct etcd_http *http)
{
    curl_easy_cleanup(http->easy);
    if (http->multi != NULL)
        curl_multi_cleanup(http->multi);
    etcd_text_fini(&http->answer);
    *http = (struct etcd_http){.easy = NULL};
}
