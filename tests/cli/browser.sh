# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # $work is lib.sh's
# A browser without a window, for tests of the status page: Chromium, driven by
# its DevTools protocol over two pipes. To be sourced after lib.sh, or where
# $work, track, reap and tracked are as there.

browser_program=$(command -v chromium-headless-shell || command -v chromium) ||
    browser_program=
browser_answer= # the last answer, JSON
browser_count=0 # questions so far

# browser_start: starts it with one empty page.
browser_start() {
    mkfifo "$work/browser.in" "$work/browser.out" || return 1
    "$browser_program" --no-sandbox --headless=new --disable-gpu \
        --disable-dev-shm-usage --disable-breakpad --no-first-run \
        --hide-scrollbars --disable-lcd-text --user-data-dir="$work/browser" \
        --remote-debugging-pipe 3<"$work/browser.in" 4>"$work/browser.out" \
        >"$work/browser.log" 2>&1 &
    browser_pid=$!
    track "$browser_pid"
    exec {browser_in}>"$work/browser.in" {browser_out}<"$work/browser.out"
    : >"$work/browser.events"
    browser_session=
    browser_ask Target.createTarget '{"url":"about:blank"}' &&
        browser_ask Target.attachToTarget "{\"flatten\":true,\"targetId\":\"$(
            browser_member targetId
        )\"}" || return 1
    browser_session=",\"sessionId\":\"$(browser_member sessionId)\""
    local domain
    for domain in Page Runtime Network Log; do
        browser_ask "$domain.enable" || return 1
    done
}

browser_stop() {
    browser_session=
    browser_ask Browser.close
    exec {browser_in}>&- {browser_out}<&-
    reap "$browser_pid"
}

# browser_ask METHOD [PARAMS]: sends it, and sets browser_answer. What the
# browser says meanwhile is appended to $work/browser.events.
browser_ask() {
    browser_count=$((browser_count + 1))
    printf '{"id":%d%s,"method":"%s","params":%s}\0' "$browser_count" \
        "$browser_session" "$1" "${2:-{\}}" >&"$browser_in" || return 1
    # The two minutes end a hang.
    while IFS= read -r -d '' -t 120 -u "$browser_out" browser_answer; do
        case $browser_answer in
        "{\"id\":$browser_count,\"result\":"*) return 0 ;;
        "{\"id\":$browser_count,"*) return 1 ;;
        *) printf '%s\n' "$browser_answer" >>"$work/browser.events" ;;
        esac
    done
    return 1
}

# browser_member NAME: a member of the last answer that is a plain string.
browser_member() {
    sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" <<<"$browser_answer"
}

browser_open() {
    browser_ask Page.navigate "{\"url\":\"$1\"}"
}

# browser_value EXPRESSION: prints what it is worth in the page, as a text.
browser_value() {
    local expression=${1//\\/\\\\}
    expression=${expression//\"/\\\"}
    expression="btoa(String.fromCharCode(...new TextEncoder().encode(${expression//$'\n'/ })))"
    browser_ask Runtime.evaluate "{\"expression\":\"$expression\"}" &&
        browser_member value | base64 -d
}

# browser_until EXPRESSION: until it is true in the page. The two minutes are no
# verdict but the end of a hang.
browser_until() {
    local end=$((SECONDS + 120))
    until [ "$(browser_value "$1")" = true ]; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# browser_complaints: errors of the page's script, and what it could not load. A
# browser gives up requests when a network comes or goes, as in other tests.
browser_complaints() {
    grep -E '"method":"(Runtime.exceptionThrown|Log.entryAdded)"|"method":"Runtime.consoleAPICalled".*"type":"(error|assert)"' \
        "$work/browser.events" | grep -v 'net::ERR_NETWORK_CHANGED'
}

# browser_requests: the addresses that it has asked for, each once.
browser_requests() {
    sed -n 's/.*"method":"Network.requestWillBeSent",.*"request":{[^}]*"url":"\([^"]*\)".*/\1/p' \
        "$work/browser.events" | sort -u
}

# browser_picture FILE: the window as it is.
browser_picture() {
    browser_ask Page.captureScreenshot '{"format":"png"}' &&
        browser_member data | base64 -d >"$1"
}

# browser_window WIDTH HEIGHT light|dark
browser_window() {
    browser_ask Emulation.setDeviceMetricsOverride \
        "{\"width\":$1,\"height\":$2,\"deviceScaleFactor\":1,\"mobile\":false}" &&
        browser_ask Emulation.setEmulatedMedia \
            "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"$3\"}]}"
}
