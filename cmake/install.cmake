# SPDX-License-Identifier: Apache-2.0
# What is installed, and how others find it: pkg-config and a CMake package.
include(CMakePackageConfigHelpers)

set(SEQB_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/seqbroker)
set(SEQB_DATA_DIR ${CMAKE_INSTALL_DATADIR}/seqbroker)

install(TARGETS seqbroker seqbrokerd seqctl EXPORT seqbroker
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/seqbroker DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY config sql DESTINATION ${SEQB_DATA_DIR})
install(DIRECTORY packaging/prometheus packaging/grafana packaging/systemd
  packaging/haproxy DESTINATION ${SEQB_DATA_DIR})
install(DIRECTORY packaging/alarms DESTINATION ${SEQB_DATA_DIR}
  USE_SOURCE_PERMISSIONS)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Both find the prefix from where they are, so that it may be moved.
file(RELATIVE_PATH SEQB_PREFIX_FROM_PC
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" SEQB_PREFIX_FROM_PC ${SEQB_PREFIX_FROM_PC})
configure_file(cmake/seqbroker.pc.in seqbroker.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/seqbroker.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(EXPORT seqbroker NAMESPACE seqbroker::
  FILE seqbrokerConfig.cmake DESTINATION ${SEQB_CMAKE_DIR})
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/seqbrokerConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/seqbrokerConfigVersion.cmake
  DESTINATION ${SEQB_CMAKE_DIR})
