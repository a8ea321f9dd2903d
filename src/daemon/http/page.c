/* SPDX-License-Identifier: Apache-2.0 */
/* The page at "/", whose script reads the status, and the description of all
 * paths. */
#include "daemon/http/exchange.h"
#include "daemon/http/route.h"
#include "openapi_json.h"
#include "page_html.h"

void page_route(struct exchange *exchange, const struct target *target)
{
    (void)target;
    exchange_header(exchange, "Content-Security-Policy",
                    "default-src 'none'; script-src 'unsafe-inline'; "
                    "style-src 'unsafe-inline'; img-src data:; "
                    "connect-src 'self'; frame-ancestors 'none'");
    exchange_answer_text(exchange, HTTP_OK, "text/html; charset=utf-8",
                         page_html);
}

void openapi_route(struct exchange *exchange, const struct target *target)
{
    (void)target;
    exchange_answer_text(exchange, HTTP_OK, "application/json", openapi_json);
}
