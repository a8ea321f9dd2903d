/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for claims of many names in one call, of engines that
 * have one. */
#include "contract/contract_suite.h"

#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "support/race.h"

#define MANY    ((size_t)300)
#define RACED   100
#define RACERS  3
#define ODD     150 /* of the many, which differs in a test */
#define TEXT_OF "memory_bits=%zu"

struct many {
    struct seqb_claim claims[MANY];
    char names[MANY][SEQB_COUNTER_SIZE];
    char texts[MANY][32];
};

static struct many *many_new(void)
{
    struct many *many = calloc(1, sizeof *many);

    assert_non_null(many);
    for (size_t i = 0; i < MANY; i++) {
        (void)text_format(many->names[i], sizeof many->names[i],
                          "sequence/main/key-%zu", MANY - i);
        (void)text_format(many->texts[i], sizeof many->texts[i], TEXT_OF, i);
        many->claims[i].name = many->names[i];
        many->claims[i].text = many->texts[i];
        memset(many->claims[i].standing, 0x5a, sizeof many->claims[i].standing);
    }
    return many;
}

static bool has_many(const struct contract *contract)
{
    return contract->subject->ops->claim_many != NULL;
}

/* As a caller does: asks again for the rest. */
static void claim_all(struct seqb_backend *backend, struct seqb_claim *claims,
                      size_t n)
{
    size_t at = 0;

    while (at < n) {
        size_t done = 0;

        assert_ok(backend->ops->claim_many(backend, &claims[at], n - at, &done,
                                           NULL));
        assert_in_range(done, 1, n - at);
        at += done;
    }
}

static void assert_claimed(struct seqb_backend *backend, const char *name,
                           const char *text)
{
    char standing[SEQB_CLAIM_SIZE];

    assert_ok(backend->ops->claim(backend, name, NULL, standing,
                                  sizeof standing, NULL));
    assert_string_equal(standing, text);
}

/* Reads one in five by a call of its own, of each kind some. */
static void assert_stands(struct seqb_backend *backend, const struct many *many,
                          size_t i, const char *text)
{
    if (i % 5 == (ODD + 1) % 5)
        assert_claimed(backend, many->names[i], text);
}

CONTRACT_TEST(many_claims_are_stored_and_answered, ONCE)
{
    struct many *many;

    if (!has_many(contract))
        return;
    many = many_new();
    claim_all(contract->backend, many->claims, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_string_equal(many->claims[i].standing, many->texts[i]);
    contract_reopen(contract);
    for (size_t i = 0; i < MANY; i++)
        assert_stands(contract->backend, many, i, many->texts[i]);
    claim_all(contract->backend, many->claims, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_string_equal(many->claims[i].standing, many->texts[i]);
    free(many);
}

CONTRACT_TEST(many_claims_change_none_that_stands, ONCE)
{
    char standing[SEQB_CLAIM_SIZE];
    struct many *many;

    if (!has_many(contract))
        return;
    many = many_new();
    assert_ok(contract->backend->ops->claim(contract->backend, many->names[ODD],
                                            "memory_bits=other", standing,
                                            sizeof standing, NULL));
    claim_all(contract->backend, many->claims, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_string_equal(many->claims[i].standing,
                            i == ODD ? "memory_bits=other" : many->texts[i]);
    contract_reopen(contract);
    assert_claimed(contract->backend, many->names[ODD], "memory_bits=other");
    assert_claimed(contract->backend, many->names[ODD + 1],
                   many->texts[ODD + 1]);
    free(many);
}

CONTRACT_TEST(many_claims_are_only_looked_at_without_a_text, ONCE)
{
    char standing[SEQB_CLAIM_SIZE];
    struct many *many;

    if (!has_many(contract))
        return;
    many = many_new();
    for (size_t i = 0; i < MANY; i++)
        many->claims[i].text = i % 3 == 0 ? many->texts[i] : NULL;
    assert_ok(contract->backend->ops->claim(contract->backend,
                                            many->names[ODD + 1], "there",
                                            standing, sizeof standing, NULL));
    claim_all(contract->backend, many->claims, MANY);
    for (size_t i = 0; i < MANY; i++) {
        const char *stands = i == ODD + 1 ? "there"
                             : i % 3 == 0 ? many->texts[i]
                                          : "";

        assert_string_equal(many->claims[i].standing, stands);
        assert_stands(contract->backend, many, i, stands);
    }
    free(many);
}

/* Sequences are mostly listed in the order of their keys. Of two claims of the
 * call that are next to each other, others stand in between, or one of them
 * does not stand. */
CONTRACT_TEST(many_claims_in_order_are_told_from_those_between, ONCE)
{
    struct many *many;
    size_t asked = 0;

    if (!has_many(contract))
        return;
    many = many_new();
    claim_all(contract->backend, &many->claims[MANY / 3], MANY / 3);
    for (size_t i = MANY; i-- > 0;) {
        if (i % 7 < 3)
            many->claims[asked++] = (struct seqb_claim){.name = many->names[i]};
    }
    claim_all(contract->backend, many->claims, asked);
    asked = 0;
    for (size_t i = MANY; i-- > 0;) {
        const bool stands = i >= MANY / 3 && i < MANY / 3 * 2;

        if (i % 7 < 3)
            assert_string_equal(many->claims[asked++].standing,
                                stands ? many->texts[i] : "");
    }
    free(many);
}

/* It must not look like one that fits. */
CONTRACT_TEST(claim_among_many_that_is_too_long_is_cut, ONCE)
{
    char text[SEQB_CLAIM_SIZE / 2];
    char standing[SEQB_CLAIM_SIZE];
    struct many *many;

    if (!has_many(contract))
        return;
    many = many_new();
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_ok(contract->backend->ops->claim(contract->backend, many->names[ODD],
                                            text, standing, sizeof standing,
                                            NULL));
    claim_all(contract->backend, many->claims, MANY);
    assert_int_equal(strlen(many->claims[ODD].standing), SEQB_GUARD_SIZE - 1);
    assert_int_equal(strspn(many->claims[ODD].standing, "a"),
                     SEQB_GUARD_SIZE - 1);
    assert_string_equal(many->claims[ODD + 1].standing, many->texts[ODD + 1]);
    free(many);
}

/* A name that is cut would be that of another claim. */
CONTRACT_TEST(too_long_name_among_many_claims_is_invalid_or_stands, ONCE)
{
    char name[1000];
    enum seqb_status status;
    struct many *many;
    size_t done;

    if (!has_many(contract))
        return;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    many = many_new();
    many->claims[1].name = name;
    status = contract->backend->ops->claim_many(contract->backend, many->claims,
                                                2, &done, NULL);
    if (status == SEQB_OK)
        assert_claimed(contract->backend, name, many->texts[1]);
    else
        assert_status(status, SEQB_INVALID);
    many->claims[1].name = many->names[1];
    claim_all(contract->backend, many->claims, 2);
    assert_claimed(contract->backend, many->names[1], many->texts[1]);
    free(many);
}

struct racer {
    struct seqb_backend *backend;
    struct many *many;
    size_t number;
};

/* Each goes through the names in another order. */
static void racer_run(void *argument)
{
    struct racer *racer = argument;

    for (size_t i = 0; i < RACED; i++) {
        const size_t other =
            racer->number % 2 == 0 ? i : RACED - 1 - i; /* backwards */

        (void)text_format(racer->many->names[i], sizeof racer->many->names[i],
                          "sequence/main/raced-%zu", other);
        (void)text_format(racer->many->texts[i], sizeof racer->many->texts[i],
                          "of=%zu", racer->number);
    }
    claim_all(racer->backend, racer->many->claims, RACED);
}

static const char *racer_found(const struct racer *racer, size_t name)
{
    const size_t i = racer->number % 2 == 0 ? name : RACED - 1 - name;

    return racer->many->claims[i].standing;
}

CONTRACT_TEST(many_claimers_of_one_name_all_see_one_text, ONCE)
{
    struct racer racers[RACERS];

    if (!has_many(contract))
        return;
    for (size_t i = 0; i < RACERS; i++) {
        racers[i] =
            (struct racer){.backend = contract_open(contract), .number = i};
        racers[i].many = many_new();
    }
    RACE(racers, racer_run);
    for (size_t name = 0; name < RACED; name++) {
        char text[64];

        (void)text_format(text, sizeof text, "sequence/main/raced-%zu", name);
        for (size_t i = 1; i < RACERS; i++)
            assert_string_equal(racer_found(&racers[i], name),
                                racer_found(&racers[0], name));
        assert_claimed(contract->backend, text, racer_found(&racers[0], name));
    }
    for (size_t i = 0; i < RACERS; i++) {
        racers[i].backend->ops->close(racers[i].backend);
        free(racers[i].many);
    }
}

CONTRACT_TEST(many_claims_on_a_lost_connection_are_not_answered,
              NEEDS_RESTART | ONCE)
{
    struct seqb_error err;
    struct many *many;
    size_t done;

    if (!has_many(contract))
        return;
    many = many_new();
    contract->subject->restart(contract->store);
    assert_true(contract->subject->ops->claim_many(contract->backend,
                                                   many->claims, MANY, &done,
                                                   &err) != SEQB_OK);
    assert_true(strlen(err.text) > 0);
    contract_reopen(contract);
    claim_all(contract->backend, many->claims, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_string_equal(many->claims[i].standing, many->texts[i]);
    free(many);
}

CONTRACT_TEST(many_claims_in_another_incarnation_change_nothing,
              NEEDS_INCARNATION | NEEDS_RENEW)
{
    enum seqb_status status;
    struct seqb_error err;
    struct many *many;
    size_t done;

    if (!has_many(contract))
        return;
    many = many_new();
    contract->store->options.needs_incarnation = true;
    contract_reopen(contract);
    claim_all(contract->backend, many->claims, MANY / 2);
    contract->subject->renew(contract->store);
    status = contract->subject->ops->claim_many(
        contract->backend, &many->claims[MANY / 2], MANY / 2, &done, &err);
    /* The connection may be lost, and then it is not known what came of it. */
    assert_true(status == SEQB_UNREACHABLE || status == SEQB_UNCERTAIN);
    contract_reopen(contract);
    for (size_t i = MANY / 2; i < MANY; i++)
        assert_stands(contract->backend, many, i, "");
    free(many);
}
