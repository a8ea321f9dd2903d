#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints, as a list in markdown, what the benches ran on: the machine, its
# system, and the version of each program and library beside them.
set -euo pipefail

first_line() { # COMMAND...
    "$@" 2>/dev/null | head -n 1 || true
}

package() { # NAME: its version without the packaging's
    dpkg-query -W -f '${Version}' "$1" 2>/dev/null |
        sed 's/^[0-9]*://; s/[-+~].*//' || true
}

processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
memory=$(awk '/^MemTotal/ { printf "%.1f", $2 / 1048576 }' /proc/meminfo)
system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)
kernel=$(uname -r)
kind='a machine of its own'
if grep -q '^flags.* hypervisor' /proc/cpuinfo; then
    kind='a virtual machine, whose cores others may use as well'
fi

printf -- '- machine: %s, %s cores, %s GiB of memory; %s\n' \
    "${processor:-unknown}" "$(nproc)" "$memory" "$kind"
printf -- '- system: %s, %s %s; files on %s\n' "$system" "$(uname -s)" \
    "${kernel%%-*}" "$(df --output=fstype /tmp | tail -n 1)"
printf -- '- compiler: %s, RelWithDebInfo\n' "$(first_line gcc --version)"
printf -- '- stores: redis-server %s, MariaDB %s, PostgreSQL %s, %s' \
    "$(package redis-server)" "$(package mariadb-server-core)" \
    "$(package postgresql-15)" "memcached $(package memcached), "
printf 'SQLite %s\n' "$(package libsqlite3-0)"
printf -- '- clients: hiredis %s, Connector/C %s, libpq %s\n' \
    "$(package libhiredis0.14)" "$(package libmariadb3)" "$(package libpq5)"
