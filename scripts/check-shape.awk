# SPDX-License-Identifier: Apache-2.0
#
# The rules of scripts/check-shape. Plain POSIX awk: a bare Debian has mawk.

function finding(what)
{
    printf "%s:%d: %s\n", FILENAME, FNR, what
    found = 1
}

# The line without comments and the contents of literals; in_comment is
# carried from line to line.
function code_of(line,    out, c, two, quote)
{
    if (in_comment ? !index(line, "*/") : line !~ /["'\/]/)
        return in_comment ? "" : line
    out = ""
    while (line != "") {
        two = substr(line, 1, 2)
        c = substr(line, 1, 1)
        if (in_comment) {
            if (two == "*/")
                in_comment = 0
            line = substr(line, two == "*/" ? 3 : 2)
        } else if (quote != "") {
            if (c == quote)
                quote = ""
            line = substr(line, c == "\\" ? 3 : 2)
        } else if (two == "/*") {
            in_comment = 1
            line = substr(line, 3)
        } else if (two == "//") {
            return out
        } else {
            if (c == "\"" || c == "'")
                quote = c
            out = out c
            line = substr(line, 2)
        }
    }
    return out
}

# Which folders' front headers a folder may include; platform goes anywhere.
function layer_may(from, to)
{
    return index(" " below[from] " ", " " to " ") > 0
}

# Whether that folder is the file's own, or one that encloses it.
function encloses(from)
{
    return index(place "/", from "/") == 1
}

function check_own_include(header,    to, from, file)
{
    if (header ~ /\.\./) {
        finding("include \"" header "\" climbs: name folder and file")
        return
    }
    if (index(header, "/") == 0) {
        if (index(" " generated " ", " " header " ") == 0)
            finding("include \"" header "\" names no folder")
        return
    }
    to = header
    sub(/\/.*/, "", to)
    from = header
    sub(/\/[^\/]*$/, "", from)
    file = from
    sub(/.*\//, "", file)
    if (area != "src" || encloses(from))
        return
    if (to == "platform" && layer_may(folder, to))
        return
    if (to != folder && !layer_may(folder, to))
        finding("src/" folder " may not include \"" header "\"")
    else if (header != from "/" file ".h")
        finding("of src/" from " only its front header \"" from "/" file \
                ".h\" may be included here, not \"" header "\"")
}

function library_is_at_home(header)
{
    if (header ~ /^libconfig/)
        return FILENAME ~ /^src\/config\//
    if (header ~ /^hiredis/)
        return FILENAME ~ \
            /^(src\/(resp|ctl|backends\/redis)\/|tests\/)/
    if (header ~ /^(mysql|errmsg|mysqld_error)(\/|\.h)/)
        return FILENAME ~ /^(src\/backends\/mysql\/|tests\/)/
    if (header == "libpq-fe.h")
        return FILENAME ~ /^(src\/backends\/postgres\/|tests\/)/
    if (header == "sqlite3.h")
        return FILENAME ~ /^(src\/backends\/sqlite\/|tests\/)/
    if (header ~ /^sodium/)
        return FILENAME == "src/number/shuffle.c" || \
            FILENAME == "src/credential/credential.c"
    if (header ~ /^(event2\/|ev[a-z]*\.h)/)
        return FILENAME ~ /^(src\/daemon\/|tests\/)/
    if (header ~ /^openssl\//)
        return FILENAME ~ \
            /^(src\/(tls|net|daemon\/(transport|handshakes))\/|tests\/)/
    if (header ~ /^libsmartcols/)
        return FILENAME ~ /^src\/ctl\//
    if (header ~ /^curl\//)
        return FILENAME == "src/daemon/alarm/webhook_curl.c" || \
            FILENAME == "src/backends/etcd/http.c" || \
            FILENAME == "tests/bench/direct_etcd.c" || \
            FILENAME == "tests/support/server_etcd.c"
    if (header == "jansson.h")
        return FILENAME ~ \
            /^(src\/(ctl|status\/json|backends\/etcd|daemon\/(alarm|http|log))\/|tests\/)/
    return 1
}

function check_include(line,    header)
{
    header = line
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", header)
    if (header ~ /^</) {
        sub(/^</, "", header)
        sub(/>.*/, "", header)
        if (!library_is_at_home(header))
            finding("include <" header "> outside its place")
        if (header ~ /^seqbroker\// && \
            header !~ /^seqbroker\/(status|backend|settings|counts|events|reload|admin|seqbroker)\.h$/)
            finding("<" header "> is no public header")
        return
    }
    sub(/^"/, "", header)
    sub(/".*/, "", header)
    if (area == "include")
        finding("a public header may not include \"" header "\"")
    else if (area == "src" || header ~ /\.\./)
        check_own_include(header)
}

# The first .c file of a folder, sub-folders aside, that is one too many.
function check_crowd(    most)
{
    most = place in crowded ? crowded[place] : folder_max
    if (++file_count[place] == most + 1)
        finding("src/" place " has more than " most " .c files: give those " \
                "that belong together a sub-folder with one front header")
}

function check_condition(text)
{
    if (area == "src" && folder != "platform" && \
        FILENAME != "src/backends/registry.c" && \
        FILENAME != "src/resp/reader.h")
        finding("conditional compilation outside registry.c and platform")
    if (area == "include" && text !~ /__cplusplus|__GNUC__/)
        finding("conditional compilation in a public header")
}

function check_code(text)
{
    if (area != "src" || !index(text, "("))
        return
    if (!reads_clocks && text ~ \
        /(^|[^A-Za-z0-9_>.])(clock_gettime|gettimeofday|time)[ \t]*\(/)
        finding("only platform/clock.c reads a clock")
    if (text ~ \
        /(^|[^A-Za-z0-9_>.])(strcpy|strcat|v?sprintf|alloca)[ \t]*\(/)
        finding("unbounded: use platform/text.h, or the heap")
}

BEGIN {
    below["platform"] = ""
    below["period"] = "platform"
    below["net"] = "tls platform"
    below["resp"] = "net platform"
    below["backends"] = "resp net tls period platform"
    below["store"] = "backends platform"
    below["ha"] = "store period platform"
    below["offline"] = "store backends platform"
    below["lease"] = "ha period platform"
    below["queue"] = "lease ha period platform"
    below["number"] = "queue period platform"
    below["config"] = \
        "number queue lease ha offline store backends period platform"
    below["api"] = below["config"] " config"
    below["guess"] = ""
    below["streams"] = ""
    below["status"] = ""
    below["setting"] = ""
    below["tls"] = "setting"
    below["credential"] = ""
    below["daemon"] = "streams status guess tls credential setting"
    below["ctl"] = "streams resp net status guess tls credential"
    folder_max = 15
    # Folders that are still to be divided, and how many they have.
    crowded["ha"] = 35
    crowded["queue"] = 30
    unfinished = "(^|[^A-Za-z0-9_])(TO" "DO|FIX" "ME|X" "XX)([^A-Za-z0-9_]|$)"
}

FNR == 1 {
    in_comment = 0
    is_code = FILENAME ~ /\.[ch]$/
    is_cmake = FILENAME ~ /(CMakeLists\.txt|\.cmake)$/
    split(FILENAME, part, "/")
    area = part[1]
    folder = area == "src" ? part[2] : ""
    place = FILENAME
    sub(/^src\//, "", place)
    sub(/\/[^\/]*$/, "", place)
    # The programs have the public API only, so they have their own readers.
    reads_clocks = FILENAME == "src/platform/clock.c" || \
        FILENAME == "src/ctl/table/cells.c" || \
        FILENAME == "src/ctl/terminal/progress.c" || \
        FILENAME ~ /^src\/daemon\/(log\/log|daemon)\.c$/
    if (area == "src" && is_code && !(folder in below))
        finding("src/" folder " is none of the layers")
    if (area == "src" && FILENAME ~ /\.c$/)
        check_crowd()
}

FNR == 501 {
    finding("longer than 500 lines")
}

$0 ~ unfinished {
    finding("unfinished: do it, or open an issue")
}

is_cmake && toupper($0) ~ /FILE[ \t]*\([ \t]*GLOB/ {
    finding("sources are listed, never globbed")
}

is_code {
    was_comment = in_comment
    text = code_of($0)
    if (!was_comment && text ~ /^[ \t]*#[ \t]*include/)
        check_include($0)
    else if (text ~ /^[ \t]*#[ \t]*if/)
        check_condition(text)
    else
        check_code(text)
}

END {
    exit found
}
