#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The status page in a real browser, while a store is taken away and comes back.
# Usage: test_page.sh BUILD_FOLDER
# shellcheck disable=SC2317 # ok() calls functions
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/browser.sh
. "$(dirname "$0")/browser.sh"

if [ -z "$browser_program" ] && [ -z "${CI:-}" ]; then
    skip "the page in a browser" "there is no chromium-headless-shell"
    tap_end
fi

# The state directory's name is a part of WHY, and must stay a text.
state='st<b>ate'
store=$work/$state/partition-0.db
daemon_start "$state" --http 127.0.0.1:0 || exit 1
cli INCR order >>"$work/trash"
browser_start || {
    fail "the browser starts" "$(cat "$work/browser.log")"
    tap_end
}
browser_window 1100 900 light

# Expressions of the page, to be asked for.
partition='document.querySelector("[data-name=\"main/0\"]")'
state_of="$partition.querySelector(\"[data-title=State]\").innerText"
why_of="$partition.querySelector(\"[data-title=Why]\").innerText"
sequence='document.querySelector("[data-name=order]")'
plots="[...$sequence.querySelectorAll(\"[data-title=\\\"Last minute\\\"]\")]"
health='document.getElementById("health").innerText'
width='document.documentElement.scrollWidth'
back='getComputedStyle(document.body).backgroundColor'

# event NAME TEXT: whether the page has one of main/0 with this in its line.
event() {
    echo "[...document.querySelectorAll(\"#events tbody tr\")].some((line) =>
        line.querySelector(\"[data-title=Event]\").innerText === \"$1\" &&
        line.innerText.includes(\"main/0 (sqlite-0)\") &&
        line.innerText.includes(\"$2\"))"
}

# readies COUNT: whether the page has that many events `ready`.
readies() {
    echo "[...document.querySelectorAll(\"#events [data-title=Event]\")].filter(
        (cell) => cell.innerText === \"ready\").length === $1"
}

fits() {
    browser_window "$1" 812 "$2"
    is "$3" "$(browser_value "$width <= $1")" true
    browser_window 1100 900 light
}

# --- all is well ---

browser_open "http://$daemon_http/"
ok "it says that all is well" browser_until \
    "$health === \"Serving: all 4 partitions are up.\""
ok "it has what was logged before" browser_until "$(event up 'was starting')"
ok "it has the sequence" browser_until \
    'document.querySelector("[data-name=order]") !== null'
ok "a store's latency is a line" browser_until \
    'document.querySelector("#partitions polyline") !== null'
# It plots a rate above 0 only if somebody takes numbers.
redis-cli -p "$daemon_port" -r -1 -i 0.02 INCR order >>"$work/trash" 2>&1 &
asking=$!
track "$asking"
ok "a sequence's rate and runway are plotted" browser_until \
    "$plots.filter((cell) => cell.querySelector(\"polyline\")).length === 2"
ok "by values that are there" browser_until \
    "/ to [1-9][0-9,]*.s in/.test($plots[0].querySelector(\"title\")?.textContent)"
kill "$asking"
reap "$asking"
ok "there is no list of lessors" test \
    "$(browser_value 'document.getElementById("lessors-part").hidden')" = true
fits 375 light "a phone need not scroll sideways"

# --- a store goes away ---

mv "$store" "$work/away"
ok "the partition is shown as down" browser_until \
    "[\"quarantined\", \"probing\"].includes($state_of)"
ok "it says why" browser_until "$why_of.includes(\"$store is not there\")"
like "in the store's own words" "$(browser_value "$why_of")" "sqlite sqlite-0: *"
ok "the event is there" browser_until "$(event quarantined "$store")"
ok "one sentence says how the broker is" browser_until \
    "/^Degraded: 3 of 4 partitions are up; main.0 .sqlite-0. is [a-z]+\\.$/.test($health)"
is "a text of the store is no HTML" \
    "$(browser_value 'document.querySelectorAll("b").length')" 0
fits 375 light "a phone need not scroll sideways for it"
fits 375 dark "nor in the dark"

# --- it comes back ---

mv "$work/away" "$store"
ok "the partition is up again" browser_until "$state_of === \"up\""
ok "the event is there, too" browser_until "$(event up 'was ramping')"
ok "all is well again" browser_until \
    "$health === \"Serving: all 4 partitions are up.\""

# --- manners ---

light=$(browser_value "$back")
browser_window 1100 900 dark
ok "it is dark where that is wanted" test "$(browser_value "$back")" != "$light"
is "its script has no complaint" "$(browser_complaints)" ""
is "it asks nobody but the daemon" \
    "$(browser_requests | grep -vc "^http://$daemon_http/")" 0
like "and that one for events" "$(browser_requests)" "*/v1/events*"

# --- a restart in place, which keeps the pid and numbers its lines from 1 ---

ok "the page has one start" browser_until "$(readies 1)"
kill -USR2 "$daemon_pid"
ok "it has the events of the next one, too" browser_until "$(readies 2)"
ok "all is well again after it" browser_until \
    "$health === \"Serving: all 4 partitions are up.\""

# --- it hangs ---

kill -STOP "$daemon_pid"
ok "it says that a daemon which hangs does not answer" browser_until \
    "$health === \"The daemon does not answer.\""
kill -CONT "$daemon_pid"
ok "all is well again when it goes on" browser_until \
    "$health === \"Serving: all 4 partitions are up.\""
stops=$(grep -c 'event=stopping' "$daemon_log")

# --- a stop ---

daemon_stop
is "an open page does not keep a stop waiting" "$(
    grep -c 'event=stopping' "$daemon_log"
) $daemon_code" "$((stops + 1)) 0"
ok "it says when nobody answers" browser_until \
    "$health === \"The daemon does not answer.\""

# --- whoever reads it loses the right to ---

# everybody_may ROLE: and somebody else gives orders.
everybody_may() {
    cat "$work/patient.conf"
    printf 'users = ( %s{ name = "operator"; role = "admin"; token_hash = "%s"; } );\n' \
        "${1:+{ name = \"default\"; role = \"$1\"; \}, }" "$token_hash"
}
token_hash=$("$build/seqctl" token | sed -n 's/^token_hash *//p')
everybody_may read >"$work/read.conf"
daemon_start read -c "$work/read.conf" --http 127.0.0.1:0 || exit 1
browser_open "http://$daemon_http/"
ok "a page is read" browser_until \
    "$health === \"Serving: all 4 partitions are up.\""
everybody_may '' >"$work/read.conf"
kill -HUP "$daemon_pid"
ok "it says what the daemon says of a refused request" browser_until \
    "/^The status is refused: 401 Unauthorized: ./.test($health)"
daemon_stop

# --- a server dies, and a pool leases from its neighbours ---

if ! command -v redis-server >>"$work/trash" && [ -z "${CI:-}" ]; then
    skip "a server that dies" "there is no redis-server"
    browser_stop
    tap_end
fi

cat >"$work/near.conf" <<END
backends = ( { name = "e"; engine = "sqlite"; path = "e.db"; },
             { name = "f"; engine = "sqlite"; path = "f.db"; },
             { name = "r"; engine = "redis"; socket = "$work/redis.sock";
               accept_loss = true; } );
pools = ( { name = "near"; partitions = [ "e", "f" ];
            authority = "neighbours"; },
          { name = "far"; partitions = [ "r" ]; authority = "e";
            check_interval = "500ms"; } );
sequences = ( { key = "near"; pool = "near"; },
              { key = "far"; pool = "far"; } );
END
redis_start --appendonly yes --appendfsync always
daemon_start near -c "$work/near.conf" --http 127.0.0.1:0 || exit 1
cli INCR far >>"$work/trash"
browser_open "http://$daemon_http/"
lessor() { # NAME STATE
    echo "[...document.querySelectorAll(\"#lessors tbody tr\")].some((line) =>
        line.innerText.includes(\"$1\") && line.innerText.includes(\"$2\"))"
}
ok "its list of lessors is there" browser_until \
    "document.getElementById(\"lessors-part\").hidden === false"
ok "with one of them" browser_until "$(lessor near/0 level)"
ok "and the other" browser_until "$(lessor near/1 level)"
far='document.querySelector("[data-name=\"far/0\"]")'
far_state="$far.querySelector(\"[data-title=State]\").innerText"
ok "the server is up" browser_until "$far_state === \"up\""
kill -KILL "$redis"
reap "$redis"
ok "a server that was killed is down" browser_until \
    "[\"quarantined\", \"probing\"].includes($far_state)"
ok "and its pool cannot serve" browser_until "/^Not serving: /.test($health)"
redis_start --appendonly yes --appendfsync always
ok "and up when it was started again" browser_until \
    "[\"ramping\", \"up\"].includes($far_state)"
daemon_stop
browser_stop
tap_end
