# What is installed and packaged besides the server itself: man page, completions, systemd units, licence. cpack makes a
# .deb for the Debian it runs on, and a .tar.gz.

set(REST_ECHO_MAINTAINER "The rest-echo authors <maintainers@rest-echo.example>" CACHE STRING
  "Who packages it, with an address")

set(can_run_server ON)
if(CMAKE_CROSSCOMPILING OR REST_ECHO_SANITIZE OR REST_ECHO_FUZZ)
  set(can_run_server OFF)
endif()
option(REST_ECHO_GENERATE_DOCS "Let the built server write its man page and completions" ${can_run_server})

set(docs ${PROJECT_BINARY_DIR}/docs)
file(MAKE_DIRECTORY ${docs})

if(REST_ECHO_GENERATE_DOCS)
  add_custom_command(OUTPUT ${docs}/rest-echo.1.gz
    COMMAND rest-echo --print-manpage > ${docs}/rest-echo.1
    COMMAND gzip -9nf ${docs}/rest-echo.1
    DEPENDS rest-echo VERBATIM)
  set(generated ${docs}/rest-echo.1.gz)
  foreach(shell bash zsh fish)
    add_custom_command(OUTPUT ${docs}/rest-echo.${shell}
      COMMAND rest-echo --print-completions ${shell} > ${docs}/rest-echo.${shell}
      DEPENDS rest-echo VERBATIM)
    list(APPEND generated ${docs}/rest-echo.${shell})
  endforeach()
  add_custom_target(docs ALL DEPENDS ${generated})
  install(FILES ${docs}/rest-echo.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${docs}/rest-echo.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME rest-echo)
  install(FILES ${docs}/rest-echo.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(FILES src/app/systemd/rest-echo.service src/app/systemd/rest-echo.socket DESTINATION lib/systemd/system)

# Debian's places where its packages go, the usual ones elsewhere; only at installation is the prefix known.
configure_file(src/app/debian/changelog.in ${docs}/changelog @ONLY)
install(CODE "set(source ${PROJECT_SOURCE_DIR})\nset(docs ${docs})\nset(has_docs ${REST_ECHO_GENERATE_DOCS})")
install(CODE [[
  set(share "${CMAKE_INSTALL_PREFIX}/share")
  set(zsh "${share}/zsh/site-functions")
  if(CMAKE_INSTALL_PREFIX MATCHES "/usr$" AND EXISTS /etc/debian_version)
    set(zsh "${share}/zsh/vendor-completions")
    execute_process(COMMAND gzip -9nc "${docs}/changelog" OUTPUT_FILE "${docs}/changelog.gz" COMMAND_ERROR_IS_FATAL ANY)
    file(INSTALL "${source}/src/app/debian/copyright" "${docs}/changelog.gz" DESTINATION "${share}/doc/rest-echo")
  else()
    file(INSTALL "${source}/LICENSE" DESTINATION "${share}/doc/rest-echo")
  endif()
  if(has_docs)
    file(INSTALL "${docs}/rest-echo.zsh" DESTINATION "${zsh}" RENAME _rest-echo)
  endif()
]])

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} CPACK_SYSTEM_NAME)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_CONTACT ${REST_ECHO_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "fast, strict JSON echo server")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "rest-echo is an HTTP/1.1 server that parses the JSON body of a request
into typed structs, or into any document, and sends it back. It is meant
for measuring HTTP clients, balancers and other servers, and runs without
configuration.")
set(CPACK_DEBIAN_PACKAGE_SECTION httpd)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(script postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/src/app/debian/${script})
endforeach()
include(CPack)
