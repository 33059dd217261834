# rest_echo_fmt and rest_echo_simdjson: the libraries as the layers link them, shared or, with REST_ECHO_STATIC, within
# the server, which then needs nothing on the machine it runs on but the kernel.

add_library(rest_echo_fmt INTERFACE)
add_library(rest_echo_simdjson INTERFACE)

set(is_static ${REST_ECHO_STATIC})
if(REST_ECHO_STATIC AND NOT TARGET simdjson::simdjson_static)
  message(WARNING "REST_ECHO_STATIC: simdjson here has no static library (Debian's has from "
    "Debian 13 on); linking shared libraries instead")
  set(is_static OFF)
endif()

if(is_static)
  # fmt as headers only, as Debian has no archive of it. Position-independent, so that addresses are still random.
  target_link_libraries(rest_echo_fmt INTERFACE fmt::fmt-header-only)
  target_link_libraries(rest_echo_simdjson INTERFACE simdjson::simdjson_static)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_link_options(rest_echo_options INTERFACE -static-pie)
else()
  target_link_libraries(rest_echo_fmt INTERFACE fmt::fmt)
  target_link_libraries(rest_echo_simdjson INTERFACE simdjson::simdjson)
endif()
