#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What a core of the daemon, a build and the unit leave open.
# Usage: test_hardening.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1
unit=$top/packaging/systemd/seqbrokerd.service

# --- cores ---

# The kernel gives the files of a process that leaves no core to root. Whoever
# is root here starts one as somebody else, if others may read the build.
folder=$work/cores
mkdir "$folder"
as=()
if ((EUID == 0)); then
    chmod 711 "$work"
    chown 65534:65534 "$folder"
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
name="the daemon leaves no core"
if ! "${as[@]}" test -x "$build/seqbrokerd"; then
    skip_allowed "$name" "no other user can start it here"
else
    "${as[@]}" "$build/seqbrokerd" --state-dir "$folder" --listen none \
        --socket "$folder/s" >/dev/null 2>"$folder/log" &
    pid=$!
    track "$pid"
    ok "a daemon begins" wait_for grep -q event=ready "$folder/log"
    is "$name" "$(stat -c %u "/proc/$pid/environ")" 0
fi

# --- builds ---

flags='-fstack-clash-protection -fcf-protection'

# A build whose program is one of this machine's compiler, with some flags.
finds() { # NAME WHAT FLAG...
    local name=$1 what=$2 said folder=$work/build
    rm -rf "$folder"
    mkdir "$folder"
    printf '%s\n' '#include <stdio.h>' '#include <string.h>' \
        'int main(int n, char **words) { char out[9];' \
        'strcpy(out, words[n - 1]); return puts(out); }' >"$folder/main.c"
    cc -O2 -w -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE -pie \
        -Wl,-z,relro,-z,now "${@:3}" \
        -o "$folder/seqbrokerd" "$folder/main.c" || return
    cp "$folder/seqbrokerd" "$folder/seqctl"
    cp "$folder/seqbrokerd" "$folder/libseqbroker.so"
    printf '  "command": "cc %s -c x/src/main.c",\n' "$flags" \
        >"$folder/compile_commands.json"
    said=$("$top/scripts/check-hardening" "$folder" 2>&1)
    like "$name" "$said" "$what"
}

finds "a whole program is taken" ''
finds "a fixed address is found" "*seqctl: *no PIE*" -fno-pie -no-pie
finds "lazy binding is found" "*BIND_NOW*" -Wl,-z,lazy
finds "no RELRO is found" "*no RELRO*" -Wl,-z,norelro
finds "an executable stack is found" "*stack can be executed*" -Wl,-z,execstack
finds "no stack protector is found" "*no stack protector*" -fno-stack-protector
finds "no FORTIFY_SOURCE is found" "*no FORTIFY_SOURCE*" -U_FORTIFY_SOURCE
flags=-fcf-protection
finds "no probes of the stack are found" "*1 files without -fstack-clash*"

# --- the unit ---

# What systemd itself counts: 1.5 of 10.
exposure() {
    systemd-analyze security --offline=true --no-pager "$unit" |
        sed -n 's/^.*exposure level for [^:]*: \([0-9]*\)\.\([0-9]\).*/\1\2/p'
}

if command -v systemd-analyze >/dev/null; then
    level=$(exposure)
    ok "the unit's exposure is at most 2.0" test "${level:-100}" -le 20
else
    skip "the unit's exposure is at most 2.0" "there is no systemd-analyze"
fi
for line in NoNewPrivileges=yes CapabilityBoundingSet= ProtectSystem=strict \
    SystemCallFilter=@system-service LimitCORE=0; do
    ok "the unit has $line" grep -qx -- "$line" "$unit"
done
like "a reload of the unit sends the signal for it" \
    "$(sed -n 's/^ExecReload=//p' "$unit")" '/bin/kill -HUP $MAINPID'
named=$(sed -n 's/.*program (\([a-z_.]*\)).*/\1/p' "$unit")
ok "what the unit names of the topology is a setting" \
    grep -qx -- "${named:-nothing}" <("$build/seqctl" settings)
ok "the unit keeps the notes in /dev/shm" bash -c "! grep -q ^RemoveIPC= '$unit'"
tap_end
