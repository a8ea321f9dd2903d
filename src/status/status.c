/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of fields, and how a field is read from its struct. Rows are in
 * the order of JSON, for its human readers. In RESP a map has no order, and has
 * the same one. */
#include "status/status.h"

#include <string.h>

#include "status/rows.h"

/* --- the daemon --- */

#define BROKER(kind_of, member)                                                \
    .name = #member, .kind = (kind_of), MEMBER(status_broker, member)

static const struct status_field broker_fields[] = {
    {BROKER(STATUS_STRING, broker),
     .help = "the broker's name in the topology"},
    {BROKER(STATUS_STRING, version), .help = "the version of seqbroker"},
    {BROKER(STATUS_INTEGER, uptime_ms), .metric = "seqbroker_uptime_seconds",
     .unit = "ms", .help = "time since the broker started"},
    {BROKER(STATUS_INTEGER, pid), .help = "the process id"},
    {BROKER(STATUS_STRING, state_dir), .help = "the state directory"},
    {.name = NULL},
};

/* --- the clock --- */

#define CLOCK(kind_of, member)                                                 \
    .name = #member, .kind = (kind_of), MEMBER(seqb_clock_status, member)

static const struct status_field clock_fields[] = {
    {CLOCK(STATUS_INTEGER, wall_ms), .unit = "ms since 1970",
     .help = "the machine's clock"},
    {CLOCK(STATUS_INTEGER, guarded_ms), .unit = "ms since 1970",
     .help = "the clock that stamps are made of; it never goes back"},
    {CLOCK(STATUS_INTEGER, behind_ms),
     .metric = "seqbroker_clock_behind_seconds", .unit = "ms",
     .help = "how far the machine's clock is behind the begin of the last "
             "stamp; 0: it is not behind"},
    {CLOCK(STATUS_INTEGER, ahead_ms), .metric = "seqbroker_clock_ahead_seconds",
     .unit = "ms",
     .help = "how far the machine's clock is ahead of what is believed; 0: "
             "it is not ahead"},
    {CLOCK(STATUS_INTEGER, issued_ms), .unit = "ms since 1970",
     .help = "no stamp that begins after this was issued; it is kept for the "
             "next start"},
    {CLOCK(STATUS_INTEGER, steps_back),
     .metric = "seqbroker_clock_steps_back_total",
     .help = "how often the clock was seen to go back since the start"},
    {CLOCK(STATUS_TEXT, reason),
     .help = "why the clock gives no stamps, or \"\""},
    {CLOCK(STATUS_TEXT, effect),
     .help = "who has no numbers for that reason, or \"\""},
    {.name = NULL},
};

/* --- partitions --- */

#define PARTITION(kind_of, member)                                             \
    .name = #member, .kind = (kind_of), MEMBER(status_partition, known.member)

static const char *class_of(const void *status)
{
    const struct status_partition *partition = status;

    return partition->known.is_windowed ? "windowed" : "direct";
}

static const char *partition_state_of(const void *status)
{
    const struct status_partition *partition = status;

    return seqb_partition_state_name(partition->known.state);
}

static bool has_clock(const void *status)
{
    const struct status_partition *partition = status;

    return partition->known.clock_ms != INT64_MIN;
}

static const struct status_field partition_fields[] = {
    {PARTITION(STATUS_TEXT, pool), .help = "the pool of the partition"},
    {PARTITION(STATUS_INTEGER, partition), .title = "PARTITION",
     .show = SHOW_PARTITION,
     .help = "its index in the pool; -1: it is the pool's authority, in no "
             "partition"},
    {PARTITION(STATUS_TEXT, backend), .title = "BACKEND",
     .help = "its backend's name in the topology"},
    {PARTITION(STATUS_TEXT, engine), .title = "ENGINE",
     .help = "the backend's engine"},
    {PARTITION(STATUS_TEXT, server),
     .help = "the server with its version, as last seen; \"\": it was not "
             "connected yet"},
    {PARTITION(STATUS_TEXT, domain),
     .help = "the server or disk that it fails with, as last seen"},
    {PARTITION(STATUS_TEXT, loss),
     .help = "what its settings lose, allowed by `accept_loss`, as last "
             "seen; \"\": nothing"},
    {.name = "class",
     .kind = STATUS_NAME,
     .text_of = class_of,
     .title = "CLASS",
     .is_wide = true,
     .help = "the class of its guarantees: direct or windowed"},
    {.name = "authority",
     .kind = STATUS_BOOLEAN,
     MEMBER(status_partition, known.is_authority),
     .help = "whether it leases the pool's windows"},
    {.name = "state",
     .kind = STATUS_NAME,
     .text_of = partition_state_of,
     .title = "STATE",
     .show = SHOW_STATE,
     .help = "starting, up, suspect, quarantined, probing, ramping, drained, "
             "refused or poisoned"},
    {.name = "reason",
     .kind = STATUS_TEXT,
     MEMBER(status_partition, reason),
     .title = "WHY",
     .show = SHOW_WHY,
     .help = "why it is not up; if it is up, which counter it refuses and "
             "why, in the backend's words; or \"\""},
    {PARTITION(STATUS_INTEGER, since_ms),
     .metric = "seqbroker_partition_state_age_seconds", .unit = "ms",
     .title = "SINCE", .show = SHOW_AGE,
     .help = "how long it has been in this state"},
    {PARTITION(STATUS_SPAN, next_probe_ms),
     .metric = "seqbroker_partition_next_probe_seconds", .unit = "ms",
     .help = "time until its next probe; -1: none is due"},
    {PARTITION(STATUS_INTEGER, latency_us),
     .metric = "seqbroker_partition_latency_seconds", .unit = "us",
     .title = "LATENCY", .show = SHOW_LATENCY,
     .help = "moving average of the time of a reservation; 0: none yet"},
    {PARTITION(STATUS_BIG, granted),
     .metric = "seqbroker_partition_granted_total", .title = "GRANTED",
     .show = SHOW_INTEGER,
     .help = "counter values that it granted since the start"},
    {PARTITION(STATUS_INTEGER, errors),
     .metric = "seqbroker_partition_errors_total", .title = "ERRORS",
     .show = SHOW_INTEGER,
     .help = "failed calls and refused counters since the start"},
    {PARTITION(STATUS_INTEGER, slow),
     .metric = "seqbroker_partition_slow_total",
     .help = "calls longer than the pool's `timeout` since the start"},
    {PARTITION(STATUS_INTEGER, ejections),
     .metric = "seqbroker_partition_ejections_total", .title = "EJECTED",
     .is_wide = true, .show = SHOW_INTEGER,
     .help = "how often it was taken out since the start"},
    {PARTITION(STATUS_INTEGER, refused),
     .metric = "seqbroker_partition_refused_counters", .title = "REFUSES",
     .is_wide = true, .show = SHOW_SOME,
     .help = "counters that it refuses now, although the partition itself is "
             "well"},
    {PARTITION(STATUS_INTEGER, clock_ms),
     .metric = "seqbroker_partition_clock_offset_seconds", .unit = "ms",
     .is_present = has_clock, .title = "CLOCK", .is_wide = true,
     .show = SHOW_OFFSET,
     .help = "the clock of the store's machine minus ours, as last seen; "
             "null: not seen, or the store has no clock of its own"},
    {PARTITION(STATUS_SPAN, last_ok_ms),
     .metric = "seqbroker_partition_last_ok_age_seconds", .unit = "ms",
     .title = "LAST OK", .show = SHOW_AGE,
     .help = "time since its store last answered well, to a call or a look; "
             "-1: not yet"},
    {PARTITION(STATUS_INTEGER, raises),
     .metric = "seqbroker_partition_raises_total",
     .help = "how often a counter of it was raised since the start, because "
             "its store had changed or gone back"},
    {.name = NULL},
};

/* --- lessors --- */

#define LESSOR(kind_of, member)                                                \
    .name = #member, .kind = (kind_of), MEMBER(seqb_lessor, member)

static bool waits(const void *status)
{
    const struct seqb_lessor *lessor = status;

    return lessor->waits_for[0] != '\0';
}

static const struct status_field lessor_fields[] = {
    {LESSOR(STATUS_TEXT, pool), .help = "the pool of the lessor"},
    {LESSOR(STATUS_INTEGER, partition), .title = "LESSOR",
     .show = SHOW_PARTITION, .help = "its index in the pool"},
    {LESSOR(STATUS_TEXT, backend), .title = "BACKEND",
     .help = "its backend's name in the topology"},
    {LESSOR(STATUS_STRING, state), .title = "STATE", .show = SHOW_STATE,
     .help = "level: it may lease; syncing, waiting: not yet; unknown: it "
             "was not looked at, or cannot be asked"},
    {LESSOR(STATUS_TEXT, waits_for), .is_present = waits, .title = "WAITS FOR",
     .show = SHOW_MAYBE, .help = "the backend that it waits for; null: none"},
    {LESSOR(STATUS_INTEGER, since_ms),
     .metric = "seqbroker_lessor_state_age_seconds", .unit = "ms",
     .title = "SINCE", .show = SHOW_AGE,
     .help = "how long it has been in this state"},
    {LESSOR(STATUS_INTEGER, leases_per_minute),
     .metric = "seqbroker_lessor_leases_per_second", .unit = "leases/min",
     .title = "LEASES/MIN", .show = SHOW_INTEGER,
     .help = "recent leases of this broker"},
    {.name = NULL},
};

/* --- sequences --- */

#define SEQUENCE(kind_of, member)                                              \
    .name = #member, .kind = (kind_of), MEMBER(seqb_sequence_status, member)

static bool has_period(const void *status)
{
    const struct seqb_sequence_status *sequence = status;

    return strcmp(sequence->period, "none") != 0;
}

static bool has_stamp(const void *status)
{
    const struct seqb_sequence_status *sequence = status;

    return has_period(status) && sequence->stamp.digits != 0;
}

static bool has_width(const void *status)
{
    const struct seqb_sequence_status *sequence = status;

    return sequence->width_numbers != INT64_MAX;
}

/* Columns begin with the sequence's name, and end with the longest text. */
enum { RANK_NUMBERS = 1, RANK_END, RANK_WHY };

static const struct status_field sequence_fields[] = {
    {SEQUENCE(STATUS_TEXT, key), .title = "SEQUENCE", .help = "its key"},
    {SEQUENCE(STATUS_TEXT, pool), .title = "POOL",
     .help = "the pool of its numbers"},
    {SEQUENCE(STATUS_INTEGER, memory_bits), .unit = "bits", .title = "BITS",
     .is_wide = true, .show = SHOW_INTEGER, .rank = RANK_NUMBERS,
     .help = "one counter value is 2^this numbers"},
    {SEQUENCE(STATUS_INTEGER, window_bits), .unit = "bits",
     .help = "the bits of its windows, the pool's or its own; 0: no "
             "partition counts in windows"},
    {SEQUENCE(STATUS_INTEGER, stock),
     .metric = "seqbroker_sequence_stock_numbers", .unit = "numbers",
     .title = "STOCK", .show = SHOW_INTEGER, .rank = RANK_NUMBERS,
     .help = "numbers at hand"},
    {SEQUENCE(STATUS_INTEGER, in_flight),
     .metric = "seqbroker_sequence_in_flight_numbers", .unit = "numbers",
     .title = "IN FLIGHT", .is_wide = true, .show = SHOW_INTEGER,
     .rank = RANK_NUMBERS,
     .help = "numbers asked of backends that have not arrived yet"},
    {SEQUENCE(STATUS_BIG, taken), .metric = "seqbroker_sequence_taken_total",
     .unit = "numbers", .title = "TAKEN", .show = SHOW_INTEGER,
     .rank = RANK_NUMBERS, .help = "numbers handed out since the start"},
    {SEQUENCE(STATUS_INTEGER, rate),
     .metric = "seqbroker_sequence_numbers_per_second", .unit = "numbers/s",
     .title = "RATE/S", .show = SHOW_INTEGER, .rank = RANK_NUMBERS,
     .help = "recent average"},
    {SEQUENCE(STATUS_SPAN, runway_ms),
     .metric = "seqbroker_sequence_runway_seconds", .unit = "ms",
     .title = "RUNWAY", .show = SHOW_AGE, .rank = RANK_NUMBERS,
     .help = "how long the stock lasts at this rate; -1: it is not used"},
    {SEQUENCE(STATUS_INTEGER, waits),
     .metric = "seqbroker_sequence_waits_total", .title = "WAITS",
     .show = SHOW_INTEGER, .rank = RANK_NUMBERS,
     .help = "calls that found no number at hand"},
    {SEQUENCE(STATUS_INTEGER, low_water),
     .metric = "seqbroker_sequence_low_water_numbers", .unit = "numbers",
     .help = "the stock at which a refill is asked"},
    {SEQUENCE(STATUS_INTEGER, target),
     .metric = "seqbroker_sequence_target_numbers", .unit = "numbers",
     .help = "the stock that a refill aims at, at this rate"},
    {SEQUENCE(STATUS_INTEGER, asked), .unit = "numbers",
     .help = "numbers that the last refill asked for; 0: there was none"},
    {SEQUENCE(STATUS_TEXT, why), .title = "LAST REFILL", .is_wide = true,
     .show = SHOW_REFILL, .rank = RANK_WHY,
     .help = "the reason for that number; the column shows both"},
    {SEQUENCE(STATUS_SPAN, runs_out_ms),
     .metric = "seqbroker_sequence_runs_out_seconds", .unit = "ms",
     .title = "RUNS OUT", .show = SHOW_DATE, .rank = RANK_END,
     .help = "time until its bits, or the numbers that its template can "
             "write, are used up, at the usual rate of all brokers; 0: until "
             "the next stamp, if it has a period; -1: not within 1000 years, "
             "not in this stamp, or not known yet"},
    {SEQUENCE(STATUS_TEXT, period), .is_present = has_period, .title = "PERIOD",
     .is_wide = true, .show = SHOW_MAYBE,
     .help = "`day`, ...; null: it has none"},
    {.name = "stamp",
     .kind = STATUS_INTEGER,
     MEMBER(seqb_sequence_status, stamp.digits),
     .is_present = has_stamp,
     .title = "STAMP",
     .is_wide = true,
     .show = SHOW_MAYBE,
     .help = "the current stamp, or the last one; null: none yet"},
    {SEQUENCE(STATUS_INTEGER, dropped),
     .metric = "seqbroker_sequence_dropped_total", .unit = "numbers",
     .is_present = has_period, .title = "DROPPED", .is_wide = true,
     .show = SHOW_MAYBE, .rank = RANK_NUMBERS,
     .help = "unused numbers of stamps that are over; null: it has no period"},
    {SEQUENCE(STATUS_BIG, width_numbers), .unit = "numbers",
     .is_present = has_width,
     .help = "numbers that fit its template's width, within each stamp if it "
             "has a period; null: all"},
    {SEQUENCE(STATUS_BIG, pool_numbers), .unit = "numbers",
     .is_present = has_width, .title = "POOL GIVES", .is_wide = true,
     .show = SHOW_ROOM, .rank = RANK_NUMBERS,
     .help = "how many of these the pool can give; null: all"},
    {.name = NULL},
};

/* --- worker ids --- */

#define WORKER(kind_of, member)                                                \
    .name = #member, .kind = (kind_of), MEMBER(seqb_worker, member)

static const char *worker_state_of(const void *status)
{
    const struct seqb_worker *worker = status;

    if (worker->is_ours)
        return "ours";
    return worker->is_free ? "free" : "held";
}

static const struct status_field worker_fields[] = {
    {WORKER(STATUS_TEXT, pool), .title = "POOL",
     .help = "the pool with the snowflakes"},
    {WORKER(STATUS_INTEGER, worker), .title = "WORKER", .show = SHOW_INTEGER,
     .help = "the worker id"},
    {.name = "state",
     .kind = STATUS_NAME,
     .text_of = worker_state_of,
     .title = "STATE",
     .show = SHOW_STATE,
     .help = "ours: this broker has it; held: another broker has or had it; "
             "free: it was given back"},
    {WORKER(STATUS_TEXT, holder), .title = "HOLDER",
     .help = "the broker that has or had it, `broker@host:pid`"},
    {WORKER(STATUS_INTEGER, renewed_ms), .unit = "ms since 1970",
     .title = "RENEWED", .show = SHOW_SINCE,
     .help = "when it was renewed, by the holder's clock; the column shows how "
             "long ago"},
    {WORKER(STATUS_INTEGER, used_upto_ms), .unit = "ms since 1970",
     .title = "USED UP TO", .show = SHOW_MOMENT,
     .help = "no id with this worker id has a later time"},
    {.name = NULL},
};

const struct status_table status_tables[STATUS_TABLES] = {
    [STATUS_OF_BROKER] = {"broker", broker_fields},
    [STATUS_OF_CLOCK] = {"clock", clock_fields},
    [STATUS_OF_PARTITIONS] = {"partitions", partition_fields},
    [STATUS_OF_LESSORS] = {"lessors", lessor_fields},
    [STATUS_OF_SEQUENCES] = {"sequences", sequence_fields},
    [STATUS_OF_WORKERS] = {"workers", worker_fields},
    [STATUS_OF_EVENTS] = {"events", event_fields},
    [STATUS_OF_CLIENTS] = {"clients", client_fields},
    [STATUS_OF_STATS] = {"stats", stats_fields},
    [STATUS_OF_CONFIG] = {"config", config_fields},
    [STATUS_OF_SETTINGS] = {"settings", setting_fields},
    [STATUS_OF_ERRORS] = {"errors", errors_fields},
    [STATUS_OF_LIMITS] = {"limits", limit_fields},
};

/* --- reading a field --- */

bool status_is_present(const struct status_field *field, const void *status)
{
    return field->is_present == NULL || field->is_present(status);
}

size_t status_count(const struct status_field *fields, const void *status)
{
    size_t count = 0;

    for (; fields->name != NULL; fields++)
        count += status_is_present(fields, status);
    return count;
}

bool status_is_text(const struct status_field *field)
{
    return field->kind <= STATUS_NAME;
}

const char *status_text(const struct status_field *field, const void *status)
{
    const char *at = (const char *)status + field->offset;

    if (field->kind == STATUS_NAME)
        return field->text_of(status);
    return field->kind == STATUS_STRING ? *(const char *const *)at : at;
}

int64_t status_integer(const struct status_field *field, const void *status)
{
    const void *at = (const char *)status + field->offset;

    if (field->kind == STATUS_BOOLEAN)
        return *(const bool *)at;
    if (field->size == sizeof(int32_t))
        return *(const int32_t *)at;
    if (field->kind == STATUS_SPAN && *(const int64_t *)at == INT64_MAX)
        return -1;
    return *(const int64_t *)at;
}
