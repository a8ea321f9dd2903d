# SPDX-License-Identifier: Apache-2.0
# How everything is compiled: one interface target, nothing set elsewhere.
set(SEQB_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")

add_library(seqb_flags INTERFACE)
target_compile_definitions(seqb_flags INTERFACE _GNU_SOURCE)
target_compile_options(seqb_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wold-style-definition -Wformat=2 -Wundef -Wvla -Wpointer-arith
  -Wwrite-strings -Wimplicit-fallthrough -fno-common -fvisibility=hidden
  -fno-strict-aliasing -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
target_include_directories(seqb_flags INTERFACE
  ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
if(SEQB_SANITIZE)
  target_compile_options(seqb_flags INTERFACE
    -fsanitize=${SEQB_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(seqb_flags INTERFACE -fsanitize=${SEQB_SANITIZE})
endif()
if(SEQB_FUZZERS) # the library too is watched for coverage
  target_compile_options(seqb_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
# What makes a bug harder to use, as Debian's hardening=+all does; for builds
# that optimize. scripts/check-hardening reads the programs for it.
option(SEQB_HARDEN "Build hardened programs" OFF)
add_library(seqb_hardening INTERFACE)
if(SEQB_HARDEN)
  include(CheckCCompilerFlag)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES C)
  target_compile_options(seqb_hardening INTERFACE
    -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  foreach(flag stack-clash-protection cf-protection)
    check_c_compiler_flag(-f${flag} SEQB_HAS_${flag})
    if(SEQB_HAS_${flag})
      target_compile_options(seqb_hardening INTERFACE -f${flag})
    endif()
  endforeach()
  target_link_options(seqb_hardening INTERFACE
    LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
target_link_libraries(seqb_flags INTERFACE seqb_hardening)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
