/* SPDX-License-Identifier: Apache-2.0 */
/* Where seqctl gets a password: from a file, the environment, or the user. */
#pragma once

#include <stdbool.h>

#include "credential/credential.h"
#include "ctl/ctl.h"

/* A secret, terminated by a 0. Its owner has to overwrite it. */
struct secret {
    char text[CREDENTIAL_MAX + 1];
};

/* Asks on the terminal without echo; `twice` for a new secret. If stdin is no
 * terminal, the secret is its first line. False, with the reason reported. */
bool secret_ask(const char *prompt, bool twice, struct secret *out);

/* The password of the user in the options; "" if there is no user. False, with
 * the reason reported. */
bool secret_of_user(const struct ctl_options *options, struct secret *out);
