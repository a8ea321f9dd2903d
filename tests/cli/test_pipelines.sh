#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several clients take numbers in pipelines of all commands that hand them out:
# all are distinct. Usage: test_pipelines.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$work/pipelines.conf" <<'END'
broker = { name = "pipelines"; open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; } );
pools = ( { name = "main"; partitions = [ "a", "b" ]; timeout = "20s"; } );
sequences = (
    { key = "plain"; pool = "main"; deadline = "60s"; },
    { key = "single"; pool = "main"; memory_bits = 0; deadline = "60s"; },
    { key = "daily"; pool = "main"; period = "day"; deadline = "60s"; },
    { key = "text"; pool = "main"; deadline = "60s";
      template = "T@{seq, width=12}"; },
    { key = "flake"; pool = "main"; deadline = "60s";
      snowflake = { epoch = "2020-01-01"; worker_bits = 10; counter_bits = 12;
                    lease = "1h"; }; }
);
END
daemon_start main -c "$work/pipelines.conf" || exit 1

for seed in 1 1001 2001; do
    told=$("$build/tests/pipelines" "$daemon_socket" "$seed" 4 12 2>&1)
    like "no number comes twice, seed $seed" "$told" \
        $'numbers ???*\nrepeats 0\nwrong 0'
    echo "# ${told%%$'\n'*}"
done
daemon_stop
tap_end
