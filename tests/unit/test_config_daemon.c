/* SPDX-License-Identifier: Apache-2.0 */
/* What the section `daemon` must have to serve by TLS, and its
 * webhook. */
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

#define SOUND BACKEND POOL KEY
#define WEBHOOK_WRONG                                                          \
    "t.conf:4: 'webhook' wants a URL with a host, "                            \
    "https://HOST[:PORT]/... or http://..., without spaces"

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

TEST(paths_of_the_daemon_are_absolute)
{
    static const struct topology_wrong cases[] = {
        {SOUND "daemon={audit_file=\"/var/log/a\";on_event=\"/bin/b\";};\n",
         ""},
        {SOUND "daemon={audit_file=\"a.log\";};\n",
         "t.conf:4: 'audit_file' is \"a.log\", but must be an absolute path"},
        {SOUND "daemon={on_event=\"bin/b\";};\n",
         "t.conf:4: 'on_event' is \"bin/b\", but must be an absolute path"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

#define OPEN(name, address)                                                    \
    "t.conf:4: '" name "' has " address ", which other machines may reach: "   \
    "the daemon starts there only with users, or with open_to_all = true "     \
    "(docs/secure.md)"

TEST(addresses_at_which_the_daemon_would_not_start_are_warned_of)
{
    topology_expect_notes(
        SOUND "daemon={listen=[\"127.0.0.2:1\",\"[::1]:1\","
              "\"localhost:1\",\"10.0.0.5:1\"];"
              "http=\"[::]:2\";};\n",
        NULL, OPEN("listen", "10.0.0.5:1") "\n" OPEN("http", "[::]:2"));
    topology_expect_notes(
        SOUND "daemon={listen=\"0.0.0.0:1\";open_to_all=true;};\n", NULL, "");
    topology_expect_notes(SOUND "daemon={listen=\"0.0.0.0:1\";};\n"
                                "users=({name=\"a\";role=\"take\";"
                                "uids=[\"root\"];});\n",
                          NULL, "");
}

TEST(memory_is_in_mib)
{
    topology_expect(SOUND "daemon={max_client_memory=70000;};\n",
                    "t.conf:4: 'max_client_memory' is 70000, but must be 1 ... "
                    "65536 MiB");
    topology_expect(SOUND "daemon={max_client_memory=65536;};\n", "");
}

TEST(a_section_in_another_one_is_named)
{
    topology_expect(SOUND "daemon={users=();};\n",
                    "t.conf:4: unknown setting 'users' in daemon: it is a "
                    "section of its own");
}

/* One address needs no list. */
TEST(addresses_and_sockets_are_texts_or_lists)
{
    static const struct topology_wrong cases[] = {
        {SOUND "daemon={listen=\"127.0.0.1:1\";socket=\"/run/a.sock\";};\n",
         ""},
        {SOUND "daemon={listen=\"none\";socket=\"none\";};\n", ""},
        {SOUND "daemon={listen=\"5\";};\n",
         "t.conf:4: 'listen' is \"5\", but must be host:port"},
        {SOUND "daemon={listen=5;};\n",
         "t.conf:4: 'listen' must be an address in quotes, or a list, as "
         "[ \"127.0.0.1:9379\" ], but is an integer"},
        {SOUND "daemon={socket=5;};\n",
         "t.conf:4: 'socket' must be a path in quotes, or a list, as "
         "[ \"/run/a.sock\" ], but is an integer"},
        {SOUND "daemon={socket=\"\";};\n",
         "t.conf:4: 'socket' must not be empty"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

/* seqctl check finds it as well, which has no client of HTTP. */
TEST(webhook_without_a_host_is_refused)
{
    static const char *const wrong[] = {
        "https://",      "https:///hook",      "https://hooks example",
        "https://[::1",  "https://[::x]/hook", "https://[]/hook",
        "ftp://a/hook",  "hooks.example.com",  "https://a:70000/hook",
        "https://a:x/",  "https://:443/",      "https://user@/hook",
        "https://a/b c", "https://?a",         "https://[::1]x/hook"};
    static const char *const sound[] = {
        "https://a", "http://a:8080/b?c=d@e", "https://[::1]:1/b",
        "https://user:p%40ss@hooks.example.com/b", "https://[fe80::1%25eth0]/"};
    char text[512];

    for (size_t i = 0; i < COUNT_OF(wrong) + COUNT_OF(sound); i++) {
        const bool is_wrong = i < COUNT_OF(wrong);

        assert_true(
            text_format(text, sizeof text, SOUND "daemon={webhook=\"%s\";};\n",
                        is_wrong ? wrong[i] : sound[i - COUNT_OF(wrong)]));
        topology_expect(text, is_wrong ? WEBHOOK_WRONG : "");
    }
}
