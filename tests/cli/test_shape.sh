#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Each rule of scripts/check-shape can fail: a small bad tree for each, and
# good ones that come near. Usage: test_shape.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

tree=$work/tree

# A tree with one file, whose lines are the arguments.
plant() { # FILE LINE...
    rm -rf "$tree"
    mkdir -p "$tree/$(dirname "$1")" "$tree/src/platform"
    printf '/* a file without a fault */\n' >"$tree/src/platform/good.c"
    printf '%s\n' "${@:2}" >"$tree/$1"
}

shape() {
    "$(dirname "$0")/../../scripts/check-shape" "$tree" 2>&1
}

finds() { # NAME WHAT FILE LINE...: the last line of the file is the fault
    local name=$1 what=$2 file=$3 lines=$(($# - 3)) said
    plant "${@:3}"
    if said=$(shape); then
        fail "$name" "check-shape found nothing"
    elif [[ $said == "$file:$lines: "*"$what"* && $said != *$'\n'* ]]; then
        pass "$name"
    else
        fail "$name" "$said"
    fi
}

accepts() { # NAME FILE LINE...
    local said
    plant "${@:2}"
    if said=$(shape); then
        pass "$1"
    else
        fail "$1" "$said"
    fi
}

mapfile -t long < <(seq -f 'int a%.0f;' 501)
finds "a file of 501 lines is too long" "500 lines" src/ha/a.c "${long[@]}"
accepts "a file of 500 lines is not" src/ha/a.c "${long[@]:1}"

# A folder with so many .c files, the last one of the name that is given.
crowd() { # NUMBER FOLDER
    local i
    plant "$2/a0.c" 'int a;'
    for ((i = 1; i < $1; i++)); do
        cp "$tree/$2/a0.c" "$tree/$2/a$i.c"
    done
}
crowd 15 src/store
is "a folder may have 15 files" "$(shape)" ""
crowd 16 src/store
like "one of 16 is to be divided" "$(shape)" \
    "src/store/*.c:1: src/store has more than 15 .c files*"
crowd 16 src/backends/mysql
like "and so is a sub-folder" "$(shape)" "src/backends/mysql/*sub-folder*"

finds "no include reaches up" "may not include" \
    src/ha/a.c '#include "queue/queue.h"'
finds "no include reaches past a front header" "only its front header" \
    src/queue/a.c 'int a;' '#include "ha/pool.h"'
accepts "the front header below may be included" \
    src/queue/a.c '#include "ha/ha.h"' '#include "period/period.h"'
accepts "a store stands on backends" \
    src/store/a.c '#include "backends/backends.h"'
finds "what stands on stores does not reach past them" "may not include" \
    src/ha/a.c '#include "backends/backends.h"'
finds "what runs without a broker knows no pool" "may not include" \
    src/offline/a.c '#include "ha/ha.h"'
accepts "a folder within a folder includes what encloses it" \
    src/backends/mysql/autoinc/a.c '#include "backends/mysql/autoinc/ids.h"' \
    '#include "backends/mysql/link.h"' '#include "backends/requests.h"'
accepts "of a folder beside its own a file includes the front header" \
    src/backends/mysql/a.c '#include "backends/sql/sql.h"'
finds "and nothing else of it" "only its front header" \
    src/backends/mysql/a.c '#include "backends/sql/row.h"'
finds "a folder includes only the front header of one within it" \
    "only its front header" \
    src/backends/mysql/a.c '#include "backends/mysql/autoinc/ids.h"'
accepts "any header of platform and of its own folder may be included" \
    src/queue/a.c '#include "platform/text.h"' '#include "queue/ring.h"'
finds "platform includes nothing above it" "may not include" \
    src/platform/a.c '#include "ha/ha.h"'
finds "the daemon has the public API only" "may not include" \
    src/daemon/a.c '#include "platform/text.h"'
accepts "but the fields of the status, which seqctl has too" \
    src/daemon/a.c '#include "status/status.h"'
finds "the library does not know them" "may not include" \
    src/api/a.c '#include "status/status.h"'
finds "seqctl has the public API only" "may not include" \
    src/ctl/a.c '#include "config/config.h"'
accepts "the public headers may be included everywhere" \
    src/platform/a.h '#include <seqbroker/status.h>'
finds "only public headers are in angle brackets" "no public header" \
    src/ha/a.c '#include <seqbroker/ring.h>'
finds "no include climbs" "climbs" src/ha/a.c '#include "../queue/queue.h"'
finds "an include names its folder" "names no folder" \
    src/ha/a.c '#include "pool.h"'
finds "a public header includes public headers" "public header" \
    include/seqbroker/a.h '#include "ha/ha.h"'
finds "a folder of src is a layer" "none of the layers" \
    src/helpers/a.c 'int a;'

while read -r header bad good; do
    finds "$header stays in its place" "outside its place" \
        "$bad" "#include <$header>"
    accepts "$header is at home in $good" "$good" "#include <$header>"
done <<'END'
libconfig.h src/api/a.c src/config/a.c
hiredis/hiredis.h src/ha/a.c src/backends/redis/link.h
hiredis/hiredis.h src/backends/sqlite/sqlite.c src/ctl/client.c
mysql.h src/backends/sql/a.c src/backends/mysql/autoinc/a.c
libpq-fe.h src/backends/sql/a.c src/backends/postgres/a.c
sqlite3.h src/backends/redis/redis.c src/backends/sqlite/sqlite.c
sodium.h src/number/template.c src/number/shuffle.c
event2/event.h src/ctl/a.c src/daemon/a.c
libsmartcols/libsmartcols.h src/daemon/a.c src/ctl/a.c
jansson.h src/daemon/a.c src/ctl/a.c
END

while read -r name call; do
    finds "only clock.c calls $name" "reads a clock" src/ha/a.c "$call"
    accepts "clock.c calls $name" src/platform/clock.c "$call"
done <<'END'
clock_gettime clock_gettime(CLOCK_REALTIME, &now);
gettimeofday gettimeofday(&now, 0);
time now = time(NULL);
END
accepts "a name that ends in time is not time()" \
    src/ha/a.c 'strftime(a); poll_time(a); worker->time(a);'

for call in 'strcpy(a, b)' 'strcat(a, b)' 'sprintf(a, b)' 'vsprintf(a, b)' \
    'alloca(9)'; do
    finds "${call%%(*} is refused" "unbounded" src/ha/a.c "    $call;"
done
accepts "snprintf is not sprintf" src/ha/a.c 'snprintf(a, 2, b);'
accepts "comments and literals are not code" src/ha/a.c \
    '/* strcpy(a, b);' '   sprintf(a); */' 'x = "time(0) \" alloca(9)";' \
    '// strcat(a, b)'
finds "code after a comment is code" "unbounded" \
    src/ha/a.c '/* a' ' b */ strcpy(a, b);'

finds "conditions stay in registry.c" "conditional" \
    src/ha/a.c '#ifdef SEQB_WITH_REDIS'
accepts "registry.c has conditions" src/backends/registry.c '#ifdef X' '#endif'
accepts "platform has conditions" src/platform/thread.c '#if defined(X)' \
    '#endif'
accepts "a public header asks for C++" include/seqbroker/a.h \
    '#ifdef __cplusplus' '#endif'
finds "a public header asks for nothing else" "conditional" \
    include/seqbroker/a.h '#ifdef SEQB_WITH_REDIS'

finds "sources are not globbed" "globbed" src/CMakeLists.txt \
    'file(GLOB sources "*.c")'
for word in "TO""DO" "FIX""ME" "X""XX"; do
    finds "nothing is left with a $word" "unfinished" src/ha/a.c "/* $word */"
done
accepts "mktemp's letters are no mark" scripts/a 'mktemp a.X''XXXXX'

rm -rf "$tree"
mkdir -p "$tree"
like "a tree without code is no success" "$(shape; echo $?)" "*no C file*1"
tap_end
