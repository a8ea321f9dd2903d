/* SPDX-License-Identifier: Apache-2.0 */
/* How seqctl comes to know a password: from a file, the environment, or a
 * person. */
#pragma once

#include <stdbool.h>

#include "credential/credential.h"
#include "ctl/ctl.h"

/* A secret and its end; who has one overwrites it. */
struct secret {
    char text[CREDENTIAL_MAX + 1];
};

/* Asks on the terminal, without showing what is typed, `twice` for one that is
 * new; where stdin is no terminal it is its first line. False after having said
 * why. */
bool secret_ask(const char *prompt, bool twice, struct secret *out);

/* The password of the user that the options name; "" if they name none. False
 * after having said why. */
bool secret_of_user(const struct ctl_options *options, struct secret *out);
