/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP: what a client gets while calls of the daemon fail. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "served.h"
#include "support/test.h"

/* SERVED_USER:SERVED_PASSWORD */
#define HEADERS                                                                \
    " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"                    \
    "Authorization: Basic c29tZTpyaWdodA==\r\n\r\n"

static size_t metrics; /* that were written when all went well */

/* --- what is right --- */

static const char *body_of(const struct served *served)
{
    return strstr(served->heard, "\r\n\r\n") + 4;
}

static bool is_noted(struct served *served, const char *key,
                     const json_t *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(texts, i));
        const int64_t number =
            text == NULL ? 0 : strtoll(text + (*text == 'B'), NULL, 10);

        if (number <= 0)
            return false;
        sweep_note(served->sweep, key, &number, 1);
    }
    return json_array_size(texts) == count;
}

static bool has_list(struct served *served, const char *list, const char *key)
{
    json_t *answer = json_loads(body_of(served), 0, NULL);
    const bool is_right =
        is_noted(served, key, json_object_get(answer, list), 2);

    json_decref(answer);
    return is_right;
}

static bool has_numbers(struct served *served)
{
    return has_list(served, "numbers", "order");
}

static bool has_texts(struct served *served)
{
    return has_list(served, "texts", "bill");
}

static bool has_status(struct served *served)
{
    json_t *answer = json_loads(body_of(served), 0, NULL);
    const bool is_right =
        json_array_size(json_object_get(answer, "partitions")) == 2 &&
        json_array_size(json_object_get(answer, "sequences")) == 2;

    json_decref(answer);
    return is_right;
}

static bool has_metrics(struct served *served)
{
    const size_t before = metrics;
    const char *at = body_of(served);

    for (metrics = 0; (at = strstr(at, "\n# TYPE ")) != NULL; at++)
        metrics++;
    return metrics > 0 && metrics >= before &&
           strstr(served->heard, "backend=\"a\"") != NULL &&
           strstr(served->heard, "sequence=\"bill\"") != NULL;
}

static bool has_page(struct served *served)
{
    return strstr(served->heard, "</html>") != NULL;
}

static bool has_stream(struct served *served)
{
    return strstr(served->heard, "retry: 2000\n\n") != NULL;
}

/* --- the exchange --- */

struct step {
    const char *say;
    bool (*is_right)(struct served *served);
};

/* Whether the answer is whole. A stream never ends. */
static bool is_whole(const struct served *served)
{
    const char *length = strstr(served->heard, "\r\nContent-Length: ");
    const char *body = strstr(served->heard, "\r\n\r\n");

    if (body == NULL)
        return false;
    if (length == NULL || length > body)
        return has_stream((struct served *)(uintptr_t)served);
    return strlen(body + 4) >= strtoul(length + 18, NULL, 10);
}

static bool ask(struct served *served, const char *request)
{
    if (!served_say(served, request))
        return false;
    while (!is_whole(served))
        if (!served_hear(served)) {
            served_close(served);
            return false;
        }
    return true;
}

static bool do_step(struct served *served, const struct step *step)
{
    const char *status = served->heard + strlen("HTTP/1.1 ");

    if (!ask(served, step->say)) {
        if (served->is_strict)
            sweep_fail("the connection is closed after %s", step->say);
        return true;
    }
    if (strncmp(status, "200 ", 4) == 0 && !step->is_right(served))
        sweep_fail("%s is answered: %.300s", step->say, served->heard);
    if (strncmp(status, "200 ", 4) != 0 && strncmp(status, "503 ", 4) != 0)
        sweep_fail("%s is refused: %.300s", step->say, served->heard);
    return strncmp(status, "200 ", 4) == 0;
}

static const struct step steps[] = {
    {"POST /v1/sequences/order/next?count=2" HEADERS, has_numbers},
    {"POST /v1/sequences/bill/number?count=2" HEADERS, has_texts},
    {"GET /v1/status" HEADERS, has_status},
    {"GET /metrics" HEADERS, has_metrics},
    {"GET /" HEADERS, has_page},
    {"GET /v1/events" HEADERS, has_stream},
};

static void take_step(struct served *served, const struct step *step)
{
    int tries = 0;

    while (!do_step(served, step) && served_again(served, tries++))
        served_close(served); /* as a refusal may do */
}

static void talk(struct served *served)
{
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        take_step(served, &steps[i]);
}

static void talk_of_events(struct served *served)
{
    take_step(served, &steps[COUNT_OF(steps) - 1]);
}

static void serve(struct sweep *sweep)
{
    served_run(sweep, true, talk);
}

static void serve_events(struct sweep *sweep)
{
    served_run(sweep, true, talk_of_events);
}

static const struct sweep_scene scene = {
    .before = serve, .during = serve, .after = serve, .places = 24};

/* All of the few places. */
static const struct sweep_scene streams = {.before = serve_events,
                                           .during = serve_events,
                                           .after = serve_events,
                                           .places = 64};

TEST(memory_of_http)
{
    sweep_run(&scene, FAULTS_MEMORY);
}

TEST(calls_of_http)
{
    sweep_run(&scene, FAULTS_CALLS);
}

TEST(memory_of_the_loop_with_http)
{
    sweep_run(&scene, FAULTS_LOOP_MEMORY);
}

TEST(memory_of_the_loop_with_a_stream)
{
    sweep_run(&streams, FAULTS_LOOP_MEMORY);
}
