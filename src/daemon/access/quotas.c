/* SPDX-License-Identifier: Apache-2.0 */
/* Charges a request to both of its quotas, or to neither; see quotas.h. */
#include "daemon/access/quotas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/access/users.h"
#include "daemon/log/log.h"

/* ms between two log lines about one quota. */
#define LOG_EVERY_MS 10000

void quotas_init(struct quotas *quotas)
{
    *quotas = (struct quotas){.refused = 0};
    TAILQ_INIT(&quotas->list);
}

void quotas_fini(struct quotas *quotas)
{
    struct quota *quota = TAILQ_FIRST(&quotas->list);

    while (quota != NULL) {
        struct quota *next = TAILQ_NEXT(quota, entry);

        free(quota);
        quota = next;
    }
    TAILQ_INIT(&quotas->list);
    quotas->first_key = NULL;
}

/* --- keys --- */

/* Makes it the first of the keys. */
static void key_move_up(struct quotas *quotas, struct quota *key)
{
    if (quotas->first_key != NULL && quotas->first_key != key) {
        TAILQ_REMOVE(&quotas->list, key, entry);
        TAILQ_INSERT_BEFORE(quotas->first_key, key, entry);
    }
    quotas->first_key = key;
}

static struct quota *quota_of_key(struct quotas *quotas, const char *key)
{
    struct quota *quota = calloc(1, sizeof *quota);

    if (quota == NULL)
        return NULL;
    snprintf(quota->name, sizeof quota->name, "%s", key);
    quota->is_key = true;
    TAILQ_INSERT_TAIL(&quotas->list, quota, entry);
    if (quotas->first_key == NULL)
        quotas->first_key = quota;
    return quota;
}

bool key_quota_update(struct key_quota *key_quota, struct quotas *quotas,
                      const struct users *users, const char *key)
{
    const struct key_limit *limit = NULL;

    if (key_quota->version == quotas->version)
        return true;
    limit = users_key_limit(users, key, strlen(key));
    if (key_quota->quota == NULL && limit != NULL) {
        key_quota->quota = quota_of_key(quotas, key);
        if (key_quota->quota == NULL)
            return false;
    }
    if (key_quota->quota != NULL)
        key_quota->quota->limits =
            limit != NULL ? limit->limits : (struct quota_limits){.rate = 0};
    key_quota->version = quotas->version;
    return true;
}

/* --- why not --- */

static void refusal_write(struct charge_refusal *refusal,
                          const struct quota *quota, enum quota_verdict verdict,
                          int64_t count)
{
    const struct quota_limits *limits = &quota->limits;
    const char *kind = quota->is_key ? "key" : "user";
    const long long tenths = (refusal->wait_ms + 99) / 100;

    refusal->code = verdict == QUOTA_COUNT ? "ERR" : "LIMIT";
    if (verdict == QUOTA_COUNT)
        snprintf(refusal->text, sizeof refusal->text,
                 "%lld numbers at once are too many for %s '%s', which may "
                 "have %lld: ask for less",
                 (long long)count, kind, quota->name,
                 (long long)quota_max_count(quota));
    else if (verdict == QUOTA_RATE)
        snprintf(refusal->text, sizeof refusal->text,
                 "%s '%s' may have %lld numbers a second: try again in "
                 "%lld.%lld s",
                 kind, quota->name, (long long)limits->rate, tenths / 10,
                 tenths % 10);
    else
        snprintf(refusal->text, sizeof refusal->text,
                 "%s '%s' may have %lld numbers a day, and %lld are left: try "
                 "again in %lld s, after 0:00 UTC",
                 kind, quota->name, (long long)limits->daily_limit,
                 (long long)(limits->daily_limit - quota->today),
                 (tenths + 9) / 10);
}

/* `limit` is the setting that refused. */
static void quota_log(struct quota *quota, const char *limit, int64_t now_ms)
{
    long long count;

    quota->refused++;
    if (now_ms < quota->next_log_ms)
        return;
    quota->next_log_ms = now_ms + LOG_EVERY_MS;
    count = (long long)(quota->refused - quota->refused_logged);
    if (quota->is_key)
        log_event(SEQB_LOG_WARN,
                  "event=limit_reached key=%s limit=%s count=%lld", quota->name,
                  limit, count);
    else
        log_event(SEQB_LOG_WARN,
                  "event=limit_reached user=%s limit=%s count=%lld",
                  quota->name, limit, count);
    quota->refused_logged = quota->refused;
}

void quota_refuse_connection(struct quota *quota, int64_t now_ms)
{
    quota_log(quota, "max_connections", now_ms);
}

/* --- a request --- */

static bool charge_refuse(struct quotas *quotas, struct quota *quota,
                          enum quota_verdict verdict, int64_t count,
                          int64_t now_ms, struct charge_refusal *refusal)
{
    static const char *const words[] = {[QUOTA_COUNT] = "max_count",
                                        [QUOTA_RATE] = "rate",
                                        [QUOTA_DAY] = "daily_limit"};

    refusal_write(refusal, quota, verdict, count);
    quota_log(quota, words[verdict], now_ms);
    quotas->refused++;
    if (quota->is_key)
        key_move_up(quotas, quota);
    return false;
}

/* What is charged beside `count` numbers. */
static int64_t beside_of(const struct charge *charge, int64_t count)
{
    struct quota *const both[] = {charge->user, charge->key};
    int64_t beside = charge->beside;

    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        const int64_t room =
            both[i] != NULL ? quota_capacity(both[i]) - count : beside;

        beside = room < beside ? room : beside;
    }
    return beside > 0 ? beside : 0;
}

bool charge_take(struct charge *charge, struct quotas *quotas, int64_t count,
                 struct quota_time time, struct charge_refusal *refusal)
{
    struct quota *const both[] = {charge->user, charge->key};
    const int64_t beside = beside_of(charge, count);

    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        enum quota_verdict verdict = QUOTA_OK;

        if (both[i] != NULL)
            verdict =
                quota_take(both[i], count, beside, time, &refusal->wait_ms);
        if (verdict == QUOTA_OK)
            continue;
        if (i > 0 && both[0] != NULL)
            quota_give_back(both[0], count + beside);
        return charge_refuse(quotas, both[i], verdict, count, time.now_ms,
                             refusal);
    }
    charge->beside = beside;
    charge->left += count + beside;
    charge->charged += count + beside;
    return true;
}

int64_t charge_most(const struct charge *charge, int64_t most,
                    struct quota_time time)
{
    struct quota *const both[] = {charge->user, charge->key};

    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        const int64_t left = both[i] != NULL ? quota_left(both[i], time) : most;

        most = left < most ? left : most;
    }
    return most;
}

static void quota_settle(struct quota *quota, const struct charge *charge)
{
    if (quota == NULL)
        return;
    quota->taken += charge->charged - charge->left;
    if (charge->left > 0)
        quota_give_back(quota, charge->left);
}

void charge_end(struct charge *charge)
{
    quota_settle(charge->user, charge);
    quota_settle(charge->key, charge);
    charge->left = 0;
    charge->charged = 0;
}
