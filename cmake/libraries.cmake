# SPDX-License-Identifier: Apache-2.0
# The client libraries; an engine that is off needs none of them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

pkg_check_modules(LIBCONFIG REQUIRED IMPORTED_TARGET libconfig>=1.5)
# Codes that hide the volume: src/number/shuffle.c.
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.18)
pkg_check_modules(LIBEVENT REQUIRED IMPORTED_TARGET libevent_core>=2.1
  libevent_extra>=2.1 libevent_openssl>=2.1)
# TLS of both programs: src/tls.
pkg_check_modules(OPENSSL REQUIRED IMPORTED_TARGET libssl>=3.0 libcrypto>=3.0)
pkg_check_modules(SMARTCOLS REQUIRED IMPORTED_TARGET smartcols>=2.38)
# The JSON that the programs write; tests and benchmarks read JSON, too.
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.13)
# seqctl speaks to the daemon through hiredis, the redis engine to Redis.
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis>=0.14)
if(SEQB_WITH_MYSQL)
  pkg_check_modules(MYSQL REQUIRED IMPORTED_TARGET mysqlclient)
  # Either of two libraries goes by that name.
  include(CheckSymbolExists)
  set(CMAKE_REQUIRED_INCLUDES ${MYSQL_INCLUDE_DIRS})
  check_symbol_exists(MARIADB_PACKAGE_VERSION mysql.h SEQB_MYSQL_IS_MARIADB)
  unset(CMAKE_REQUIRED_INCLUDES)
  if(SEQB_MYSQL_IS_MARIADB)
    set(SEQB_MYSQL_CLIENT mariadb)
  else()
    set(SEQB_MYSQL_CLIENT mysql)
  endif()
endif()
if(SEQB_WITH_POSTGRES)
  pkg_check_modules(POSTGRES REQUIRED IMPORTED_TARGET libpq>=14)
endif()
if(SEQB_WITH_SQLITE)
  pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.35)
endif()
if(SEQB_WITH_ETCD)
  # etcd is asked by gRPC, which is HTTP/2 and protobuf.
  pkg_check_modules(NGHTTP2 REQUIRED IMPORTED_TARGET libnghttp2>=1.41)
  pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c>=1.3)
  find_program(PROTOC_C protoc-c REQUIRED)
endif()
if(SEQB_WITH_WEBHOOK OR (SEQB_WITH_ETCD AND SEQB_TESTS))
  # Alarms are posted by it, and tests ask etcd; 7.87 has CURLOPT_QUICK_EXIT.
  pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.87)
endif()
