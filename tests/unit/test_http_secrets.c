/* SPDX-License-Identifier: Apache-2.0 */
/* No header with a password or a token is left to libevent as it came, however
 * the request is answered. The broker is a stub. */
#include <stdio.h>
#include <string.h>

#include "credential/credential.h"
#include "daemon/server.h"
#include "support/test.h"
#include "support/web.h"
#include "support/wrap.h"
#include "unit/session_fixture.h"

#define SECRET "Bearer c2hvcDp0cjB1YjRkb3I"

static int wiped;

WRAPPED(void, credential_wipe, void *memory, size_t size)
{
    if (size == strlen(SECRET) && memcmp(memory, SECRET, size) == 0)
        wiped++;
    __real_credential_wipe(memory, size);
}

static void expect_wiped(struct web *web, const char *line, int headers)
{
    char request[512];

    snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: a\r\n%s%s\r\n",
             line, "Authorization: " SECRET "\r\n",
             headers == 2 ? "authorization: " SECRET "\r\n" : "");
    wiped = 0;
    web_connect(web);
    web_say(web, request);
    web_receive(web, 1);
    web_connect(web); /* the first request is ended by then */
    web_say(web, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    web_receive(web, 1);
    if (wiped != headers)
        fail_msg("%s: %d of %d", line, wiped, headers);
}

TEST(each_header_with_a_secret_is_overwritten)
{
    static const char *const lines[] = {
        "GET /livez", "GET /readyz",   "GET /metrics",
        "GET /none",  "DELETE /livez", "POST /v1/sequences/a/next"};
    struct web *web = NULL;

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        for (int headers = 1; headers <= 2; headers++)
            expect_wiped(web, lines[i], headers);
    web_close(web);
}
