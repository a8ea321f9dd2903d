/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as texts over the stub's plain counters; see stub_broker.h. */
#include "support/stub_broker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AREA_MAX   3
#define DIGITS_MIN 8
#define MANY_MAX   1024 /* texts of one call */

static enum seqb_status fail(struct seqb_error *err, enum seqb_status status,
                             const char *text)
{
    if (err == NULL)
        return status;
    err->status = status;
    snprintf(err->text, sizeof err->text, "%s", text);
    return status;
}

size_t seqb_number_size(const struct seqb_sequence *sequence)
{
    return sequence == &stub.sequences[STUB_KEYS - 1] ? 0 : STUB_TEXT_SIZE;
}

/* What is wrong with them, or NULL; `*area` is "" if it is not given. */
static const char *params_check(const struct seqb_param *params, size_t n,
                                const char **area)
{
    *area = "";
    for (size_t i = 0; i < n; i++) {
        if (strcmp(params[i].name, "area") != 0)
            return "no such parameter";
        if (strlen(params[i].value) > AREA_MAX)
            return "too long an area";
        *area = params[i].value;
    }
    return NULL;
}

enum seqb_status seqb_take_texts(struct seqb_sequence *sequence,
                                 const struct seqb_take_options *options,
                                 char *out, struct seqb_taken *taken,
                                 struct seqb_error *err)
{
    const size_t size = options->text_size;
    int64_t values[MANY_MAX];
    const char *area = NULL;
    const char *wrong =
        params_check(options->params, options->param_count, &area);
    enum seqb_status status = SEQB_OK;

    taken->count = 0;
    if (size < STUB_TEXT_SIZE || options->count > MANY_MAX)
        return fail(err, SEQB_INVALID, "not the daemon's to ask");
    if (seqb_number_size(sequence) == 0)
        return fail(err, SEQB_INVALID, "no template");
    if (wrong != NULL)
        return fail(err, SEQB_INVALID, wrong);
    status = seqb_take(sequence, options, values, taken, err);
    for (size_t i = 0; i < taken->count; i++)
        snprintf(out + i * size, size, "%s%sSN-%08" PRId64, area,
                 *area != '\0' ? "-" : "", values[i]);
    return status;
}

/* Of "a" the text has all that there can be in one, of others no more than the
 * number. */
static void parsed_fill(const struct seqb_sequence *sequence,
                        struct seqb_parsed *out)
{
    if (sequence != &stub.sequences[0])
        return;
    out->stamp =
        (struct seqb_stamp){.digits = 20261121, .begins_ms = 11, .ends_ms = 22};
    out->shard = 7;
}

enum seqb_status seqb_parse(const struct seqb_sequence *sequence,
                            const char *text, struct seqb_parsed *out,
                            struct seqb_error *err)
{
    const char *mark = strstr(text, "SN-");
    const size_t area =
        mark == NULL || mark == text ? 0 : (size_t)(mark - text) - 1;

    if (seqb_number_size(sequence) == 0)
        return fail(err, SEQB_INVALID, "no template");
    if (mark == NULL || area > AREA_MAX || strlen(mark + 3) < DIGITS_MIN)
        return fail(err, SEQB_FOREIGN, "not its form");
    *out = (struct seqb_parsed){.value = strtoll(mark + 3, NULL, 10),
                                .shard = -1,
                                .stamp = {.ends_ms = INT64_MAX}};
    out->number = out->value;
    parsed_fill(sequence, out);
    if (area == 0)
        return SEQB_OK;
    out->param_count = 1;
    memcpy(out->params[0].name, "area", 5);
    memcpy(out->params[0].value, text, area);
    return SEQB_OK;
}

/* --- names --- */

const char *seqb_status_name(enum seqb_status status)
{
    static const char *const names[] = {
#define STATUS_NAME(name, blame, text) [SEQB_##name] = #name,
        SEQB_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    };

    return names[status];
}

const char *seqb_health_name(enum seqb_health health)
{
    return health == SEQB_HEALTH_SERVING ? "serving" : "not serving";
}

const char *seqb_partition_state_name(enum seqb_partition_state state)
{
    (void)state;
    return "up";
}
