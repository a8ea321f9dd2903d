/* SPDX-License-Identifier: Apache-2.0 */
/* Problem details; see problem.h. */
#include "daemon/http/problem.h"

#include <stdlib.h>

#include <jansson.h>

#include "daemon/http/exchange.h"
#include "status/json/json.h"

static const char *title_of(int status)
{
    static const struct {
        int status;
        const char *title;
    } titles[] = {
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
    };

    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

void problem_answer(struct exchange *exchange, int status, const char *code,
                    const char *detail)
{
    json_t *problem = json_pack("{ss ss si ss so*}", "type", "about:blank",
                                "title", title_of(status), "status", status,
                                "code", code, "detail", json_of_text(detail));
    char *text = json_to_text(problem, 0);

    json_decref(problem);
    if (status == HTTP_SERVUNAVAIL)
        exchange_retry_after(exchange, 0);
    exchange_answer_text(exchange, status, "application/problem+json",
                         text != NULL ? text : "{}");
    free(text);
}

void problem_answer_short(struct exchange *exchange)
{
    problem_answer(exchange, HTTP_SERVUNAVAIL, "NOMEMORY", "out of memory");
}
