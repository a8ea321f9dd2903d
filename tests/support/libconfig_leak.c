/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libconfig 1.5 leaks the text that stands where a syntax error is, as in
 * `host "x"`: a few bytes a topology refused, and nothing that can be freed
 * from outside. The leak checker is told, for the programs that link this.
 */
__attribute__((visibility("default"))) const char *
__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:strbuf_append\nleak:libconfig_yylex\n";
}
