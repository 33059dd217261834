#include "rest_echo/http/request_target.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "rest_echo/bytes/ascii.hpp"

namespace rest_echo::http {
namespace {

// reg-name = *( unreserved / pct-encoded / sub-delims ) (RFC 3986 §3.2.2)
constexpr OctetSet kRegNameOctet = kLetters.with_range('0', '9').with("-._~!$&'()*+,;=%");

constexpr std::string_view kHttpScheme = "http://";

bool is_port(std::string_view text) {
  return std::ranges::all_of(text, [](char octet) { return kDigits[octet]; });
}

bool is_ipv6_address(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) return false;
  std::ranges::copy(text, terminated.begin());
  in6_addr address{};
  return ::inet_pton(AF_INET6, terminated.data(), &address) == 1;
}

bool is_path_and_query(std::string_view text) {
  const std::size_t query = text.find('?');
  const std::string_view path = text.substr(0, query);
  if (!path.empty() && path.front() != '/') return false;
  if (!std::ranges::all_of(path, [](char octet) { return kPathOctet[octet]; })) return false;
  if (query != std::string_view::npos &&
      !std::ranges::all_of(text.substr(query), [](char octet) { return kQueryOctet[octet]; })) {
    return false;
  }
  return has_sound_percent_encoding(text);
}

}  // namespace

bool has_sound_percent_encoding(std::string_view text) noexcept {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 3)) {
    if (text.size() - at < 3 || !kHexDigits[text[at + 1]] || !kHexDigits[text[at + 2]]) return false;
  }
  return true;
}

bool is_authority(std::string_view text) noexcept {
  if (text.empty()) return false;
  if (text.front() == '[') {
    const std::size_t closing = text.find(']');
    if (closing == std::string_view::npos || !is_ipv6_address(text.substr(1, closing - 1))) return false;
    const std::string_view rest = text.substr(closing + 1);
    return rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
  }
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (name.empty() || !std::ranges::all_of(name, [](char octet) { return kRegNameOctet[octet]; }))
    return false;
  if (!has_sound_percent_encoding(name)) return false;
  return colon == std::string_view::npos || is_port(text.substr(colon + 1));
}

RequestTarget read_request_target(std::string_view target) noexcept {
  using enum RequestTarget::Form;
  if (target == "*") return {asterisk, {}};
  if (target.size() > kHttpScheme.size() &&
      equals_ignoring_ascii_case(target.substr(0, kHttpScheme.size()), kHttpScheme)) {
    const std::string_view rest = target.substr(kHttpScheme.size());
    const std::size_t authority_size = std::min(rest.find_first_of("/?"), rest.size());
    const std::string_view path = rest.substr(authority_size);
    if (!is_authority(rest.substr(0, authority_size)) || !is_path_and_query(path)) return {};
    return {absolute, path.substr(0, path.find('?'))};
  }
  // authority-form = uri-host ":" port: the port is not optional here.
  if (is_authority(target) && kDigits[target.back()] && target.rfind(':') != std::string_view::npos &&
      target.rfind(':') + 1 < target.size()) {
    return {authority, {}};
  }
  return {};
}

}  // namespace rest_echo::http
