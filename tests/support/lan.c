/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces around a bridge, which has a namespace of its own. */
#include "support/lan.h"

#include <stdlib.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/netns.h"
#include "support/test.h"

#define COMMAND_SIZE 1024

/* The upper half of 198.18.0.0/15: eight addresses for each program, by its
 * process id. netns.c has the lower half. */
#define NETWORKS 8192

struct lan {
    int bridge;
    char interface[16]; /* the test program's */
    int hosts[LAN_HOSTS];
    char addresses[LAN_HOSTS][LAN_ADDRESS_SIZE];
};

/* A host drops what comes from these addresses, and what it sends to them. */
static const char rules[] = "table inet seqb {\n"
                            "  set away { type ipv4_addr; }\n"
                            "  chain incoming {\n"
                            "    type filter hook input priority 0;\n"
                            "    ip saddr @away drop\n"
                            "  }\n"
                            "  chain outgoing {\n"
                            "    type filter hook output priority 0;\n"
                            "    ip daddr @away drop\n"
                            "  }\n"
                            "}";

static void address_format(char out[static LAN_ADDRESS_SIZE], unsigned i)
{
    const unsigned at = (unsigned)getpid() % NETWORKS * 8 + i;

    (void)text_format(out, LAN_ADDRESS_SIZE, "198.19.%u.%u", at >> 8 & 255,
                      at & 255);
}

/* A host's interface, at a port of the bridge; host -1: the test program's. */
static void host_attach(const struct lan *lan, int host, const char *interface,
                        const char *address)
{
    char command[COMMAND_SIZE];
    char port[16];

    (void)text_format(port, sizeof port, "port%d", host + 1);
    assert_true(text_format(command, sizeof command,
                            "ip link add %s type veth peer name %s netns "
                            "/proc/%d/fd/%d\n"
                            "ip address add %s/29 dev %s\n"
                            "ip link set %s up\n",
                            interface, port, (int)getpid(), lan->bridge,
                            address, interface, interface));
    netns_run(lan_fd(lan, host), command);
    (void)text_format(command, sizeof command,
                      "ip link set %s master bridge; ip link set %s up", port,
                      port);
    netns_run(lan->bridge, command);
}

static void host_make(struct lan *lan, int host)
{
    char command[COMMAND_SIZE];

    lan->hosts[host] = netns_make();
    address_format(lan->addresses[host], (unsigned)host + 2);
    host_attach(lan, host, "eth0", lan->addresses[host]);
    (void)text_format(command, sizeof command, "ip link set lo up; nft '%s'",
                      rules);
    netns_run(lan->hosts[host], command);
}

struct lan *lan_new(void)
{
    struct lan *lan = calloc(1, sizeof *lan);
    char address[LAN_ADDRESS_SIZE];

    assert_non_null(lan);
    lan->bridge = netns_make();
    netns_run(lan->bridge,
              "ip link add bridge type bridge; ip link set bridge up");
    (void)text_format(lan->interface, sizeof lan->interface, "seql%d",
                      (int)getpid());
    address_format(address, 1);
    host_attach(lan, -1, lan->interface, address);
    for (int i = 0; i < LAN_HOSTS; i++)
        host_make(lan, i);
    return lan;
}

void lan_free(struct lan *lan)
{
    char command[COMMAND_SIZE];

    if (lan == NULL)
        return;
    (void)text_format(command, sizeof command, "ip link delete %s",
                      lan->interface);
    netns_run(-1, command);
    for (int i = 0; i < LAN_HOSTS; i++)
        close(lan->hosts[i]);
    close(lan->bridge);
    free(lan);
}

const char *lan_address(const struct lan *lan, int host)
{
    return lan != NULL ? lan->addresses[host] : "127.0.0.1";
}

int lan_fd(const struct lan *lan, int host)
{
    return lan != NULL && host >= 0 ? lan->hosts[host] : -1;
}

/* It is enough that one of the two drops what passes between them. */
void lan_cut(struct lan *lan, int host)
{
    char command[COMMAND_SIZE] = "nft 'add element inet seqb away {";

    for (int i = 0; i < LAN_HOSTS; i++) {
        if (i != host)
            (void)text_append(command, sizeof command, " %s,",
                              lan->addresses[i]);
    }
    assert_true(text_append(command, sizeof command, " }'"));
    netns_run(lan->hosts[host], command);
}

void lan_heal(struct lan *lan)
{
    for (int i = 0; i < LAN_HOSTS; i++)
        netns_run(lan->hosts[i], "nft flush set inet seqb away");
}
