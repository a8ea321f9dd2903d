/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces webhook_curl.c in a build without libcurl. settings.c rejects the
 * setting then, so that no webhook is opened. */
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

bool alarm_webhook_is_url(const char *url)
{
    (void)url;
    return false;
}
