#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# on_event of seqbrokerd: sends an alarm by e-mail. The file mail.conf in the
# folder of this program, readable by the daemon's user alone, holds lines:
#   to="ops@example.com, night@example.com"
#   from="seqbroker@example.com"
#   smtp="smtp://mail.example.com"   # or smtps://..., or smtp://localhost
#   login="name:password"            # if the server wants one; by TLS only
# Without smtp, the sendmail of this machine's mail server sends it. That does
# not work under packaging/systemd/seqbrokerd.service, which lets no program get
# the privileges of sendmail: see docs/alarms.md.
set -euf
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
if [ -z "${smtp:-}" ]; then
    printf '%s\n' "$mail" | sendmail -t -i
    exit
fi

set --
for address in $(printf '%s' "$to" | tr ',' ' '); do
    set -- "$@" --mail-rcpt "$address"
done
# The login is a secret: no list of processes shows what is in a file.
printf '%s\n' "$mail" |
    curl --config /dev/fd/3 --silent --show-error --max-time 8 --crlf \
        --mail-from "$from" "$@" --upload-file - 3<<END
url = "$smtp"
${login:+user = "$login"}
${login:+ssl-reqd}
END
