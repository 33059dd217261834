#include "rest_echo/http/request_target.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "support/guarded_space.hpp"

namespace rest_echo::http {
namespace {

using namespace std::string_view_literals;

std::string_view place(test::GuardedSpace& space, std::string_view text) {
  const std::span<char> placed = space.place(text);
  return {placed.data(), placed.size()};
}

TEST(RequestTarget, AuthorityIsHostAndPort) {
  constexpr std::string_view kGood[] = {
      "localhost",
      "LOCALHOST",
      "a",
      "a.b.c",
      "a.b.",
      "a_b",
      "a-b",
      "0",
      "127.0.0.1",
      "127.0.0.1:8080",
      "a:",
      "a:0",
      "a:65536",
      "a:000000000000000000000080",
      "a!$&'()*+,;=~",
      "%41",
      "a%2fb:1",
      "999.999.999.999",
      "[::1]",
      "[::1]:",
      "[::1]:80",
      "[::]",
      "[2001:DB8::1]",
      "[1:2:3:4:5:6:7:8]",
      "[::ffff:127.0.0.1]:1",
      "[1:2:3:4:5:6:255.255.255.255]",
      "[0000:0000:0000:0000:0000:ffff:255.255.255.255]",  // the longest

  };
  constexpr std::string_view kBad[] = {
      "",
      ":",
      ":80",
      "a:80:",
      "a:80:80",
      "a:b",
      "a:-1",
      "a:+1",
      "a: 1",
      "a:1 ",
      "a:0x1",
      "a:8\0000"sv,
      " a",
      "a ",
      "a b",
      "a\tb",
      "a\vb",
      "a/",
      "/a",
      "a/b",
      "a?b",
      "a#b",
      "http://a",
      "//a",
      "u@a",
      "u:p@a",
      "u:p@a:80",
      "@a",
      "a,b:1:2",
      "a, b",
      "\"a\"",
      "a\\b",
      "a<b>",
      "a^b",
      "a`b",
      "a{b}",
      "a|b",
      "a\0"sv,
      "\0"sv,
      "a\x7f",
      "a\x80",
      "\xc3\xa9",
      "%",
      "%4",
      "%4g",
      "a%",
      "a%zz",
      "%%41",
      "[",
      "]",
      "[]",
      "[::1",
      "::1",
      "[::1]]",
      "[[::1]]",
      "[::1]a",
      "[::1]80",
      "[::1]:a",
      "[::1]::80",
      "a[::1]",
      "[a]",
      "[127.0.0.1]",
      "[1:2:3:4:5:6:7]",
      "[1:2:3:4:5:6:7:8:9]",
      "[1::2::3]",
      "[12345::]",
      "[::g]",
      "[:]",
      "[::1%25eth0]",
      "[::1%eth0]",
      "[v1.a]",
      "[ ::1]",
      "[::1\0]"sv,
      "[::1]\0"sv,
      "[1:2:3:4:5:6:255.255.255.256]",
      "[0000:0000:0000:0000:0000:ffff:0255.255.255.255]",
      "[0000000000000000000000000000000000000000000000000000000000000001::]",
  };
  test::GuardedSpace space;
  for (const std::string_view text : kGood) EXPECT_TRUE(is_authority(place(space, text))) << text;
  for (const std::string_view text : kBad) EXPECT_FALSE(is_authority(place(space, text))) << text;
}

TEST(RequestTarget, PercentIsFollowedByTwoDigits) {
  constexpr std::string_view kGood[] = {"", "a", "%00", "%aF", "a%20b%2f", "%25%32%35", "%2525"};
  constexpr std::string_view kBad[] = {"%",   "a%",  "%1",  "%1%", "%%20", "%g0",
                                       "%0g", "%0:", "%0/", "%@0", "%20%", "%-1"};
  test::GuardedSpace space;
  for (const std::string_view text : kGood)
    EXPECT_TRUE(has_sound_percent_encoding(place(space, text))) << text;
  for (const std::string_view text : kBad)
    EXPECT_FALSE(has_sound_percent_encoding(place(space, text))) << text;
}

TEST(RequestTarget, EachForm) {
  using enum RequestTarget::Form;
  struct Row {
    std::string_view target;
    RequestTarget::Form form;
    std::string_view path;
  };
  constexpr Row kRows[] = {
      {"*", asterisk, ""},
      {"**", invalid, ""},
      {"*/", invalid, ""},
      {"http://a", absolute, ""},
      {"HTTP://a/", absolute, "/"},
      {"hTTp://A.b:80/c/d", absolute, "/c/d"},
      {"http://a?q", absolute, ""},
      {"http://a/b?c=/d?e", absolute, "/b"},
      {"http://a:/", absolute, "/"},
      {"http://[::1]:8080/b", absolute, "/b"},
      {"http://a//", absolute, "//"},
      {"http://", invalid, ""},
      {"http:///", invalid, ""},
      {"http:///b", invalid, ""},
      {"http://:80/", invalid, ""},
      {"http://?q", invalid, ""},
      {"http://a:b/", invalid, ""},
      {"http://a:80:80/", invalid, ""},
      {"http://a b/", invalid, ""},
      {"http://u@a/", invalid, ""},
      {"http://u:p@a/", invalid, ""},
      {"http://a/b#c", invalid, ""},
      {"http://a#c", invalid, ""},
      {"http://a/[b]", invalid, ""},
      {"http://a/?[b]", invalid, ""},
      {"http://a/b%", invalid, ""},
      {"http://a/b?%4", invalid, ""},
      {"http://a/\xc3\xa9", invalid, ""},
      {"http://a\\b", invalid, ""},
      {"http:/a", invalid, ""},
      {"http:a", invalid, ""},
      {"https://a/", invalid, ""},
      {"ftp://a/", invalid, ""},
      {"urn:a:b", invalid, ""},
      {"a:80", authority, ""},
      {"a.b:0", authority, ""},
      {"[::1]:443", authority, ""},
      {"a", invalid, ""},
      {"a:", invalid, ""},
      {"[::1]", invalid, ""},
      {"[::1]:", invalid, ""},
      {"a:80/", invalid, ""},
      {"u@a:80", invalid, ""},
      {"a1", invalid, ""},
      {"?q", invalid, ""},
      {"index.html", invalid, ""},
      {"./a", invalid, ""},
      {"\\", invalid, ""},
  };
  test::GuardedSpace space;
  for (const Row& row : kRows) {
    const RequestTarget target = read_request_target(place(space, row.target));
    EXPECT_EQ(target.form, row.form) << row.target;
    EXPECT_EQ(target.path, row.path) << row.target;
  }
}

TEST(RequestTarget, EveryOctetInPathAndQuery) {
  const std::string_view allowed = "-._~!$&'()*+,;=:@/?";  // "?" ends the path and stays in the query
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    const bool is_alphanumeric =
        (value >= '0' && value <= '9') || (value >= 'A' && value <= 'Z') || (value >= 'a' && value <= 'z');
    const bool is_good = is_alphanumeric || allowed.find(octet) != std::string_view::npos;
    const auto form = is_good ? RequestTarget::Form::absolute : RequestTarget::Form::invalid;
    EXPECT_EQ(read_request_target(std::string("http://a/b") + octet + "c").form, form) << value;
    EXPECT_EQ(read_request_target(std::string("http://a/b?") + octet + "c").form, form) << value;
  }
}

TEST(RequestTarget, EveryOctetInAHost) {
  const std::string_view allowed = "-._~!$&'()*+,;=";
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    const bool is_alphanumeric =
        (value >= '0' && value <= '9') || (value >= 'A' && value <= 'Z') || (value >= 'a' && value <= 'z');
    const bool is_good = is_alphanumeric || allowed.find(octet) != std::string_view::npos;
    EXPECT_EQ(is_authority(std::string("a") + octet + "1"), is_good || octet == ':') << value;
    EXPECT_EQ(is_authority(std::string("a:1") + octet), value >= '0' && value <= '9') << value;
  }
}

}  // namespace
}  // namespace rest_echo::http
