#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace rest_echo::e2e {

inline constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";
inline constexpr std::string_view kHealthCheck = "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";
inline constexpr std::string_view kHello = "Hello World";

/// A request with content. `more_field_lines` end with CRLF.
[[nodiscard]] inline std::string post(std::string_view content, std::string_view more_field_lines = "") {
  std::string request = "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: ";
  request += std::to_string(content.size());
  request += "\r\n";
  request += more_field_lines;
  request += "\r\n";
  request += content;
  return request;
}

/// The same in chunks of this size.
[[nodiscard]] inline std::string post_chunked(std::string_view content, std::size_t chunk_size) {
  std::string request = "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t offset = 0; offset < content.size(); offset += chunk_size) {
    const std::string_view chunk = content.substr(offset, chunk_size);
    std::array<char, 16> size{};
    request.append(size.data(), std::to_chars(size.data(), size.data() + size.size(), chunk.size(), 16).ptr);
    request += "\r\n";
    request += chunk;
    request += "\r\n";
  }
  return request + "0\r\n\r\n";
}

/// A document of about this size, marked with a number, written as the server writes it.
[[nodiscard]] inline std::string numbered_document(std::size_t number, std::size_t size = 4096) {
  std::string document = R"({"colors":[{"color":")" + std::to_string(number) + R"(","category":")";
  document.append(size > document.size() + 14 ? size - document.size() - 14 : 1, 'x');
  return document + R"(","code":{}}]})";
}

/// A body of about this size, nothing but empty colors: its answer is more than four times as large.
[[nodiscard]] inline std::string empty_colors(std::size_t size) {
  std::string document = R"({"colors":[{})";
  while (document.size() + 5 <= size) document += ",{}";
  return document + "]}";
}
[[nodiscard]] inline std::size_t empty_colors_answer_size(std::size_t size) {
  constexpr std::string_view kAround = R"({"colors":[]})";
  const std::size_t count = (empty_colors(size).size() - kAround.size() + 1) / std::string_view("{},").size();
  return kAround.size() + count * std::string_view(R"({"code":{}},)").size() - 1;
}

}  // namespace rest_echo::e2e
