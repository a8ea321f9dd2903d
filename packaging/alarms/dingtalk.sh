#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# on_event of seqbrokerd: sends an alarm to a robot of a DingTalk group. The file
# dingtalk.conf in the folder of this program, readable by the daemon's user alone,
# holds a line:
#   url="https://oapi.dingtalk.com/robot/send?access_token=..."
# The robot's keyword has to be "seqbroker".
set -eu
# shellcheck source=/dev/null
. "${0%.sh}.conf"

message=$(jq -c '{
    msgtype: "text",
    text: {content: (
        "[seqbroker] \(.state): \(.event) (\(.level))\n" +
        "broker \(.broker) on \(.host)\n" +
        "\(.subject)\n" +
        (.fields.reason // "") +
        (if .left_out > 0 then "\nand \(.left_out) more" else "" end))}
}')

# The URL is a secret: it is on stdin, where no list of processes shows it.
answer=$(printf 'url = "%s"\n' "${url:?}" |
    curl --config - --silent --show-error --fail --max-time 8 \
        --header 'Content-Type: application/json' --data-binary "$message")

# A robot that refuses a message says so with HTTP status 200.
case $(printf '%s' "$answer" | jq -r .errcode) in
0) ;;
*)
    printf '%s\n' "$answer" >&2
    exit 1
    ;;
esac
