/* SPDX-License-Identifier: Apache-2.0 */
/* Which mutant is on. Included first in every file of the mutated build. */
#pragma once
extern int mutant_on;
extern char *mutant_reached; /* NULL unless reached mutants are recorded */

/* The record may be written by several threads: they all write the same. */
static inline _Bool mutant(int number)
{
    if (mutant_reached)
        mutant_reached[number] = '1';
    return number == mutant_on;
}
