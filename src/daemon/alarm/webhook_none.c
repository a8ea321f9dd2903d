/* SPDX-License-Identifier: Apache-2.0 */
/* In place of webhook_curl.c where libcurl is not: settings.c refuses the
 * setting, so that none is opened. */
#include "daemon/alarm/target.h"

struct alarm_target *alarm_webhook_open(const char *url, const char *ca_file)
{
    (void)url;
    (void)ca_file;
    return NULL;
}

bool alarm_webhook_is_built(void)
{
    return false;
}
