#include "rest_echo/http/field.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace rest_echo::http {
namespace {

TEST(Field, TokensAreMadeOfTchar) {
  const std::string_view punctuation = "!#$%&'*+-.^_`|~";
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    const bool is_alphanumeric =
        (value >= '0' && value <= '9') || (value >= 'A' && value <= 'Z') || (value >= 'a' && value <= 'z');
    const bool is_due = is_alphanumeric || punctuation.find(octet) != std::string_view::npos;
    EXPECT_EQ(kTokenOctet[octet], is_due) << value;
  }
}

TEST(Field, NamesInAnyCaseAndNothingThatResemblesThem) {
  struct Row {
    std::string_view name;
    FieldName expected;
  };
  constexpr Row kRows[] = {
      {"Host", FieldName::host},
      {"hOsT", FieldName::host},
      {"HOSTS", FieldName::other},
      {"hos", FieldName::other},
      {"ho5t", FieldName::other},
      {"Expect", FieldName::expect},
      {"Except", FieldName::other},
      {"CONNECTION", FieldName::connection},
      {"Konnection", FieldName::other},
      {"content-length", FieldName::content_length},
      {"Content_Length", FieldName::other},
      {"Content-Length2", FieldName::other},
      {"ContentLength", FieldName::other},
      {"Content-Lengtj", FieldName::other},
      {"Content-Encoding", FieldName::content_encoding},
      {"Transfer-Encoding", FieldName::transfer_encoding},
      {"Transfer_Encoding", FieldName::other},
      {"Transfer\rEncoding", FieldName::other},
      {"TE", FieldName::other},
      {"Content-Type", FieldName::other},
      {"", FieldName::other},
  };
  for (const Row& row : kRows) EXPECT_EQ(find_field_name(row.name), row.expected) << row.name;
}

TEST(Field, OptionalWhiteSpaceIsSpaceAndTab) {
  struct Row {
    std::string_view text;
    std::string_view trimmed;
  };
  constexpr Row kRows[] = {{"", ""},
                           {" ", ""},
                           {"\t \t", ""},
                           {"a", "a"},
                           {" a", "a"},
                           {"a\t", "a"},
                           {" \ta b \t", "a b"},
                           {"\va", "\va"},
                           {"a\f", "a\f"},
                           {"a\r", "a\r"},
                           {"\xa0"
                            "a",
                            "\xa0"
                            "a"}};
  for (const Row& row : kRows) EXPECT_EQ(trim_ows(row.text), row.trimmed) << row.text;
}

TEST(Field, ListsLoseWhiteSpaceAndEmptyMembers) {
  struct Row {
    std::string_view list;
    std::vector<std::string> members;
  };
  const Row rows[] = {
      {"", {}},
      {",", {}},
      {" , ,\t", {}},
      {"a", {"a"}},
      {"a,", {"a"}},
      {",a", {"a"}},
      {"a,b", {"a", "b"}},
      {" a ,\tb\t, ,c d", {"a", "b", "c d"}},
      {"a;b,c", {"a;b", "c"}},
  };
  for (const Row& row : rows) {
    std::vector<std::string> members;
    for_each_list_member(row.list, [&](std::string_view member) { members.emplace_back(member); });
    EXPECT_EQ(members, row.members) << row.list;
  }
}

}  // namespace
}  // namespace rest_echo::http
