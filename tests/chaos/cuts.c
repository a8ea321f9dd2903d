/* SPDX-License-Identifier: Apache-2.0 */
/* See cuts.h. */
#include "cuts.h"

#include "support/netns.h"
#include "support/test.h"

/* More than a broker holds, and what is in its pipe. */
#define GRANTED 20000

static struct lan *lan;

struct lan *cuts_begin(struct chaos *chaos)
{
    netns_require();
    if (lan == NULL)
        lan = lan_new();
    for (int i = 0; i < CROWD_SIZE; i++)
        chaos->crowd.netns[i] = lan_fd(lan, i % LAN_HOSTS);
    return lan;
}

void cuts_end(void)
{
    lan_free(lan);
    lan = NULL;
}

void cuts_host(struct chaos *chaos, int host)
{
    lan_cut(lan, host);
    crowd_await_outside(&chaos->crowd, lan_fd(lan, host), GRANTED);
    lan_heal(lan);
}
