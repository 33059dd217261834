#pragma once

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "rest_echo/bytes/padding.hpp"

namespace rest_echo::json {

/// A text and the padding it needs.
class PaddedText {
 public:
  explicit PaddedText(std::string text) : octets_(std::move(text)), size_(octets_.size()) {
    octets_.resize(size_ + kPaddingSize);
  }
  [[nodiscard]] std::string_view view() const { return {octets_.data(), size_}; }

 private:
  std::string octets_;
  std::size_t size_;
};

/// The body that post.lua sends.
inline std::string reference_text() {
  std::ifstream file(REST_ECHO_SOURCE_DIR "/post.lua");
  const std::string script{std::istreambuf_iterator<char>(file), {}};
  const std::size_t start = script.find("[[\n");
  const std::size_t end = script.rfind("]]");
  if (start == std::string::npos || end == std::string::npos) {
    std::cerr << "no body in " REST_ECHO_SOURCE_DIR "/post.lua\n";
    std::exit(1);
  }
  return script.substr(start + 3, end - start - 3);
}

/// A body of about `size` octets, made of the colours of the reference body over and over.
inline std::string text_of_size(std::size_t size) {
  const std::string reference = reference_text();
  const std::size_t first = reference.find('{', 1);
  const std::size_t last = reference.rfind("}\n  ]");
  const std::string_view colors = std::string_view(reference).substr(first, last + 1 - first);
  std::string text = "{\n  \"colors\": [\n    ";
  const std::size_t one = colors.find("},\n    {") + 1;
  if (size < colors.size()) {
    text += colors.substr(0, one);
    while (text.size() + one < size) text.append(",\n    ").append(colors.substr(0, one));
  } else {
    text += colors;
    while (text.size() + colors.size() < size) text.append(",\n    ").append(colors);
  }
  return text + "\n  ]\n}";
}

}  // namespace rest_echo::json
