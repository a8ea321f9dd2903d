#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# on_event of seqbrokerd: sends an alarm by e-mail, through the sendmail of the
# machine's mail server. The file mail.conf in the folder of this program holds
# lines:
#   to="ops@example.com"
#   from="seqbroker@example.com"
set -eu
# shellcheck source=/dev/null
. "${0%.sh}.conf"

# A line end within a value must not begin a header.
mail=$(jq -r --arg to "${to:?}" --arg from "${from:?}" '
    def line: tostring | gsub("[[:cntrl:]]"; " ");
    "To: \($to)\nFrom: \($from)\n" +
    "Subject: [seqbroker] \(.state | line): \(.event | line) on \(.host | line)\n" +
    "Content-Type: text/plain; charset=utf-8\n" +
    "Auto-Submitted: auto-generated\n\n" +
    "\(.event) (\(.level)) of broker \(.broker) on \(.host)\n" +
    "\(.subject)\n\n" +
    (to_entries | map(select(.key != "fields") | "\(.key): \(.value)\n") | add) +
    "\n" +
    (.fields | to_entries | map("\(.key): \(.value)\n") | add // "")')
printf '%s\n' "$mail" | sendmail -t -i
