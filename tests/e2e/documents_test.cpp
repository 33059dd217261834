// Documents that people really sent to servers like this one: each row is sent over one connection that stays
// usable, whatever is answered.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

using namespace std::string_literals;

struct Row {
  std::string name;
  std::string document;
  std::string answer;  ///< or the code of the fault
};

std::string color_with(const std::string& members) { return R"({"colors":[{)" + members + "}]}"; }
std::string named(const std::string& name) { return R"({"colors":[{"color":")" + name + R"(","code":{}}]})"; }
std::string rgba(const std::string& values) { return R"({"colors":[{"code":{"rgba":[)" + values + "]}}]}"; }

const std::string kDeep = std::string(1'025, '[') + std::string(1'025, ']');
const std::string kPalette = R"({
  "colors": [
    { "color": "ochre", "category": "earth", "type": "mixed", "code": { "rgba": [204, 119, 34, 1], "hex": "#C72" } },
    { "color": "umber", "category": "earth", "code": { "rgba": [99, 81, 71, 1], "hex": "#655" } }
  ]
})";
const std::string kPaletteAnswer =
    R"({"colors":[{"color":"ochre","category":"earth","type":"mixed","code":{"rgba":[204,119,34,1],"hex":"#C72"}},)"
    R"({"color":"umber","category":"earth","code":{"rgba":[99,81,71,1],"hex":"#655"}}]})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

const std::vector<Row> kRows{
    // C30: strings
    {"short escapes", named(R"(\"\\\/\b\f\n\r\t)"), named(R"(\"\\/\b\f\n\r\t)")},
    {"escaped NUL", named(R"(a\u0000b)"), named(R"(a\u0000b)")},
    {"escaped controls", named(R"(\u0001\u001F)"), named(R"(\u0001\u001f)")},
    {"letters by escape", named(R"(\u0041\u00e9\ud83c\udfa8)"), named("A\u00e9\U0001f3a8")},
    {"DEL and U+2028", named("\x7f\u2028"), named("\x7f\u2028")},
    {"markup", named("</a>&<b>"), named("</a>&<b>")},
    {"trailing backslash", named(R"(a\\)"), named(R"(a\\)")},
    {"raw tab", named("a\tb"), "invalid_json"},
    {"raw NUL", named("a\0b"s), "invalid_json"},
    {"hexadecimal escape", named(R"(\x41)"), "invalid_json"},
    {"cut escape", named(R"(\u12)"), "invalid_json"},
    {"lone surrogate", named(R"(\ud800)"), "invalid_json"},
    {"ill-formed UTF-8", named("\xc3("), "invalid_utf8"},
    // C32: nothing is invented, nothing vanishes
    {"empty object", "{}", R"({"colors":null})"},
    {"null", "null", R"({"colors":null})"},
    {"empty list", R"({"colors":[]})", R"({"colors":[]})"},
    {"empty color", R"({"colors":[{}]})", R"({"colors":[{"code":{}}]})"},
    {"null color", R"({"colors":[null]})", R"({"colors":[{"code":{}}]})"},
    {"null members", color_with(R"("color":null,"category":null,"type":null,"code":null)"),
     R"({"colors":[{"code":{}}]})"},
    {"empty strings", color_with(R"("color":"","code":{"hex":"","rgba":[]})"), R"({"colors":[{"code":{}}]})"},
    {"zeros", rgba("0,0,0,0"), rgba("0,0,0,0")},
    // C33: numbers
    {"edges of 64 bits", rgba("9223372036854775807,-9223372036854775808"),
     rgba("9223372036854775807,-9223372036854775808")},
    {"past 53 bits", rgba("2147483648,9007199254740993"), rgba("2147483648,9007199254740993")},
    {"minus zero", rgba("-0"), rgba("0")},
    {"2^63", rgba("9223372036854775808"), "type_mismatch"},
    {"below -2^63", rgba("-9223372036854775809"), "type_mismatch"},
    {"400 digits", rgba(std::string(400, '9')), "type_mismatch"},
    {"alpha of a half", rgba("0,255,0,0.5"), "type_mismatch"},
    {"fraction of zero", rgba("1.0"), "type_mismatch"},
    {"exponent", rgba("1e2"), "type_mismatch"},
    {"leading zero", rgba("01"), "invalid_json"},
    {"plus sign", rgba("+1"), "invalid_json"},
    {"no fraction", rgba("1."), "invalid_json"},
    {"NaN", rgba("NaN"), "invalid_json"},
    {"number as text", rgba(R"("255")"), "type_mismatch"},
    {"true as number", rgba("true"), "type_mismatch"},
    {"null as number", rgba("null,1"), rgba("0,1")},
    {"number for color", color_with(R"("color":5)"), "type_mismatch"},
    {"object for colors", R"({"colors":{"coal":{}}})", "type_mismatch"},
    // C35: what is no document
    {"nothing", "", "empty_body"},
    {"blanks", " \r\n\t", "empty_body"},
    {"text behind", R"({"colors":[]}x)", "invalid_json"},
    {"bracket behind", R"({"colors":[]}])", "invalid_json"},
    {"comma behind", R"({"colors":[]},)", "invalid_json"},
    {"NUL behind", "{}\0"s, "invalid_json"},
    {"document behind", "{}{}", "invalid_json"},
    {"blanks around", " \n{} \r\n", R"({"colors":null})"},
    {"list", "[]", "type_mismatch"},
    {"number", "5", "type_mismatch"},
    {"string", R"("x")", "type_mismatch"},
    {"single quotes", "{'colors':[]}", "invalid_json"},
    {"comment", "{} // none", "invalid_json"},
    {"byte order mark", "\xef\xbb\xbf{}", "invalid_json"},
    {"too deep", kDeep, "too_deep"},
    // C38: the very document, and its mishaps
    {"palette", kPalette, kPaletteAnswer},
    {"palette with CRLF", replaced(kPalette, "\n", "\r\n"), kPaletteAnswer},
    {"palette with a comma too many", replaced(kPalette, "}\n  ]", "},\n  ]"), "invalid_json"},
    {"palette with fractional alpha", replaced(kPalette, "34, 1]", "34, 0.7]"), "type_mismatch"},
    {"palette keyed by name", R"({"colors":{"coal":{"rgba":[1,2,3,1]}}})", "type_mismatch"},
    {"palette with a comment", replaced(kPalette, "\"colors\"", "/* ours */ \"colors\""), "invalid_json"},
};

TEST(Documents, AreEchoedOrRefused) {
  const Server server;
  Client client(server.port());
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    for (const std::string& request : {post(row.document), post_chunked(row.document, 3)}) {
      const Response response = client.ask(request);
      if (row.answer.starts_with("{")) {
        EXPECT_EQ(response.status, 200);
        EXPECT_EQ(response.content, row.answer);
      } else {
        EXPECT_EQ(response.status, 400);
        EXPECT_NE(response.content.find(R"("code":")" + row.answer + '"'), std::string::npos)
            << response.content;
      }
      EXPECT_FALSE(response.says_close());
      ASSERT_EQ(client.received(), "");
    }
  }
  EXPECT_EQ(client.ask(kGet).content, kHello);
}

TEST(Documents, EveryPrefixIsRefused) {
  const Server server;
  Client client(server.port());
  std::string requests;
  for (std::size_t size = 0; size < kPalette.size(); ++size)
    requests += post(std::string_view(kPalette).substr(0, size));
  client.send(requests);
  for (std::size_t size = 0; size < kPalette.size(); ++size) ASSERT_EQ(client.receive().status, 400) << size;
  EXPECT_EQ(client.ask(post(kPalette)).content, kPaletteAnswer);
}

}  // namespace
}  // namespace rest_echo::e2e
