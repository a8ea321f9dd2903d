/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl password and seqctl token: hashes for the users of a topology. Neither
 * command asks a daemon. */
#include <stdio.h>
#include <string.h>

#include "credential/credential.h"
#include "ctl/commands.h"
#include "ctl/json.h"
#include "ctl/secret.h"

#define PASSWORD_MIN 8 /* bytes */

static enum ctl_exit hash_print(const struct ctl_options *options,
                                const char *hash)
{
    if (options->given & CTL_JSON)
        return json_line_print(json_pack("{ss}", "password_hash", hash))
                   ? CTL_OK
                   : CTL_FAILED;
    puts(hash);
    return CTL_OK;
}

static enum ctl_exit password_hash(const struct ctl_options *options,
                                   const struct secret *secret)
{
    char hash[CREDENTIAL_HASH_SIZE];

    if (strlen(secret->text) < PASSWORD_MIN) {
        ctl_complain("a password has %d ... %d bytes", PASSWORD_MIN,
                     CREDENTIAL_MAX);
        return CTL_USAGE;
    }
    if (!credential_hash(secret->text, strlen(secret->text), hash)) {
        ctl_complain("out of memory: a hash needs 19 MiB");
        return CTL_FAILED;
    }
    return hash_print(options, hash);
}

enum ctl_exit password_run(const struct ctl_options *options, char **argument)
{
    struct secret secret;
    enum ctl_exit result = CTL_USAGE;

    (void)argument;
    if (secret_ask("new password: ", true, &secret))
        result = password_hash(options, &secret);
    credential_wipe(&secret, sizeof secret);
    return result;
}

enum ctl_exit token_run(const struct ctl_options *options, char **argument)
{
    char token[CREDENTIAL_TOKEN_SIZE];
    char hash[CREDENTIAL_TOKEN_HASH_SIZE];
    bool is_printed = true;

    (void)argument;
    credential_token_make(token, hash);
    if (options->given & CTL_JSON)
        is_printed = json_line_print(
            json_pack("{ss ss}", "token", token, "token_hash", hash));
    else
        printf("token      %s\ntoken_hash %s\n", token, hash);
    credential_wipe(token, sizeof token);
    return is_printed ? CTL_OK : CTL_FAILED;
}
