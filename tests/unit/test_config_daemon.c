/* SPDX-License-Identifier: Apache-2.0 */
/* What the section `daemon` must have to serve by TLS. */
#include "support/test.h"
#include "unit/topology_expect.h"

#define SOUND BACKEND POOL KEY

TEST_BEFORE_ALL(topology_setup);

TEST(tls_without_its_files_is_refused_with_the_line_of_who_needs_them)
{
    static const struct topology_wrong cases[] = {
        {SOUND "daemon={tls_listen=[\"127.0.0.1:1\"];};\n",
         "t.conf:4: 'tls_listen' needs a certificate: add tls_cert_file\n"
         "t.conf:4: 'tls_listen' needs the certificate's key: add "
         "tls_key_file"},
        {SOUND "daemon={\nhttps=\"127.0.0.1:1\";\ntls_key_file=\"k\";};\n",
         "t.conf:5: 'https' needs a certificate: add tls_cert_file"},
        {SOUND "daemon={tls_cert_file=\"c\";};\n",
         "t.conf:4: 'tls_cert_file' needs the certificate's key: add "
         "tls_key_file"},
        {SOUND "daemon={tls_client_auth=\"optional\";};\n",
         "t.conf:4: 'tls_client_auth' = \"optional\" needs the CAs that sign "
         "clients' certificates: add tls_ca_file"},
        {SOUND "daemon={tls_client_auth=\"yes\";tls_min_version=\"1.1\";};\n",
         "t.conf:4: 'tls_client_auth' is \"yes\", but must be one of none, "
         "optional, required, user\n"
         "t.conf:4: 'tls_min_version' is \"1.1\", but must be one of 1.2, "
         "1.3"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

#define ASKS      "daemon={tls_client_auth=\"optional\";tls_ca_file=\"a\";};\n"
#define BYTES_16  "0123456789abcdef"
#define BYTES_64  BYTES_16 BYTES_16 BYTES_16 BYTES_16
#define BYTES_256 BYTES_64 BYTES_64 BYTES_64 BYTES_64
#define CLAIM(name, certificate)                                               \
    "{name=\"" name "\";role=\"take\";certificate=\"" certificate "\";}"

TEST(a_certificate_is_that_of_one_user_and_can_be_shown)
{
    static const struct topology_wrong cases[] = {
        {SOUND ASKS "users=(" CLAIM("a", "x") "," CLAIM("b", "DNS:x") ");\n",
         ""},
        {SOUND ASKS "users=(" CLAIM("a", "x") ",\n" CLAIM("b", "x") ");\n",
         "t.conf:6: 'certificate' \"x\" is that of the user 'a', too"},
        {SOUND ASKS "users=(" CLAIM("a", BYTES_256) ");\n",
         "t.conf:5: 'certificate' is longer than 255 bytes"},
        {SOUND "users=(" CLAIM("a", "x") ");\n",
         "t.conf:4: 'certificate' needs clients that are asked for one: set "
         "tls_client_auth in section daemon"},
        {SOUND
         "daemon={tls_client_auth=\"none\";};\nusers=(" CLAIM("a", "x") ");\n",
         "t.conf:5: 'certificate' needs clients that are asked for one: set "
         "tls_client_auth in section daemon"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(tls_with_its_files_is_sound)
{
    static const struct topology_wrong cases[] = {
        {SOUND "daemon={tls_listen=[];https=\"none\";};\n", ""},
        {SOUND "daemon={tls_listen=[\"[::1]:2\"];https=\"a:1\";"
               "tls_cert_file=\"c\";tls_key_file=\"k\";};\n",
         ""},
        {SOUND "daemon={tls_client_auth=\"none\";};\n", ""},
        {SOUND "daemon={tls_client_auth=\"required\";tls_ca_file=\"a\";};\n",
         ""},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}
