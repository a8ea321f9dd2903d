# SPDX-License-Identifier: Apache-2.0
# Text files compiled into the library, so that each exists once:
# embed_text(config/embedded.conf embedded_conf) makes embedded_conf.h in the
# build folder with `static const char embedded_conf[]`.
set(SEQB_EMBED_DIR ${CMAKE_BINARY_DIR}/embedded)
file(MAKE_DIRECTORY ${SEQB_EMBED_DIR})

function(embed_text file name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/${file})
  file(READ ${CMAKE_SOURCE_DIR}/${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "((0x..,){16})" "\\1\n" bytes "${bytes}")
  set(text "static const char ${name}[] = {\n${bytes}0x00};\n")
  file(CONFIGURE OUTPUT ${SEQB_EMBED_DIR}/${name}.h CONTENT "${text}" @ONLY)
endfunction()

embed_text(config/embedded.conf embedded_conf)
embed_text(docs/help/seqctl.txt seqctl_txt)
embed_text(docs/help/seqbrokerd.txt seqbrokerd_txt)
embed_text(src/daemon/http/page.html page_html)
embed_text(docs/openapi.json openapi_json)
embed_text(docs/help/configuration.md configuration_md)
embed_text(docs/help/status.md status_md)
embed_text(sql/mysql.sql mysql_sql)
embed_text(sql/postgres.sql postgres_sql)
embed_text(sql/sqlite.sql sqlite_sql)
embed_text(src/backends/redis/redis.lua redis_lua)
