/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check digits, computed over a text that comes in parts. Pure. The caller
 * chooses what is covered. Characters that the algorithm does not read are
 * skipped here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check_algorithm {
    CHECK_LUHN,     /* ISO/IEC 7812-1, mod 10 */
    CHECK_LUHN_36,  /* the same with base 36: 0-9 A-Z */
    CHECK_DAMM,     /* quasigroup of order 10 of Damm's thesis, 2004 */
    CHECK_VERHOEFF, /* dihedral group D5, Verhoeff 1969 */
    CHECK_MOD97,    /* ISO/IEC 7064 MOD 97-10, letters as in IBANs: 2 digits */
    CHECK_MOD37,    /* ISO/IEC 7064 MOD 37,36: 0-9 A-Z, 1 character */
    CHECK_GS1,      /* GS1 General Specifications 7.9: EAN, UPC, SSCC */
    CHECK_JD        /* v * 9 % 31 % 10, for compatibility */
};

#define CHECK_LENGTH_MAX 2

/* "luhn", "luhn-36", "damm", "verhoeff", "iso7064-mod97", "iso7064-mod37",
 * "gs1", "jd". */
const char *check_name(enum check_algorithm algorithm);
bool check_parse(const char *name, size_t length, enum check_algorithm *out);

/* How many characters the check has: 1 or 2. */
size_t check_length(enum check_algorithm algorithm);

/* Whether the algorithm reads the letters A-Z besides digits; and whether its
 * check may contain a letter. */
bool check_reads_letters(enum check_algorithm algorithm);
bool check_makes_letters(enum check_algorithm algorithm);

/* A computation in progress. */
struct check {
    enum check_algorithm algorithm;
    uint64_t a; /* the state; its meaning depends on the algorithm */
    uint64_t b;
};

void check_begin(struct check *check, enum check_algorithm algorithm);

/* Adds the next part of the text, from left to right. Lower-case letters are
 * skipped, as is everything else that the algorithm does not read. */
void check_feed(struct check *check, const char *text, size_t length);

/* Writes check_length characters, without a final 0. */
void check_end(const struct check *check, char *out);
