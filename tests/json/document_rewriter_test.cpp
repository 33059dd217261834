#include "rest_echo/json/document_rewriter.hpp"

#include "json/answer_table.hpp"

namespace rest_echo::json {
namespace {

using namespace std::string_literals;

TEST(DocumentRewriter, KeepsAnyDocument) {
  std::vector<AnswerRow> rows;
  for (const char* text :
       {"null",
        "true",
        "false",
        "0",
        "-0",
        "1.0",
        "1E+2",
        "1e400",
        "-1.5e-30",
        "123456789012345678901234567890",
        R"("")",
        R"("a")",
        "[]",
        "{}",
        "[[]]",
        R"({"":{}})",
        "[1,-0,1.0,1E+2,1e400,0.10]",
        R"({"b":1,"a":2,"b":3})",
        R"({"2":1,"1":2})",
        R"([null,true,false,"",{},[]])",
        R"({"a":[{"b":[null]},{"c":"d"}]})",
        R"({"colors":1})",
        "\"/<>&\x7F\xE2\x80\xA8\xE2\x80\xA9\xEF\xBB\xBF\xEF\xBF\xBD\xEF\xBF\xBF\xF0\x9F\x98\x80\""}) {
    rows.push_back({text, text, text});
  }
  rows.push_back({"5000 digits", std::string(5000, '7'), std::string(5000, '7')});
  rows.push_back({"1024 open", repeat("[", 1024) + repeat("]", 1024), repeat("[", 1024) + repeat("]", 1024)});
  rows.push_back({"1024 open, objects", repeat("{\"a\":", 1024) + "1" + repeat("}", 1024),
                  repeat("{\"a\":", 1024) + "1" + repeat("}", 1024)});
  expect_answers(rows, Mode::generic);
}

TEST(DocumentRewriter, RemovesWhiteSpaceBetweenTokens) {
  expect_answers(
      {
          {"scalar", " \t\r\n1 \t\r\n", "1"},
          {"null and three spaces", "null   ", "null"},
          {"true and three spaces", "true   ", "true"},
          {"string", "\n\" \" ", "\" \""},
          {"array", " [ 1 , 2 ,\n\"a b\" ] ", R"([1,2,"a b"])"},
          {"empty containers", "[ { } , [ ] ]", "[{},[]]"},
          {"object", " { \"a\" : 1 ,\t\"b\" : { } } \r\n", R"({"a":1,"b":{}})"},
      },
      Mode::generic);
}

TEST(DocumentRewriter, WritesTheFewestEscapes) {
  expect_answers(
      {
          {"short ones", R"("\"\\\/\b\f\n\r\t")", R"("\"\\/\b\f\n\r\t")"},
          {"by number", R"("\u0022\u005C\u002f\u0008\u000C\u000a\u000D\u0009")", R"("\"\\/\b\f\n\r\t")"},
          {"controls", R"("\u0000\u0001\u000B\u000e\u001F\u0020\u007f")",
           "\"\\u0000\\u0001\\u000b\\u000e\\u001f \x7F\""},
          {"letters", R"("\u0041\u00e9\u20AC\uFFFF")", "\"A\xC3\xA9\xE2\x82\xAC\xEF\xBF\xBF\""},
          {"pairs", R"("\ud83d\uDE00\uDBFF\udfff")", "\"\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF\""},
          {"separators", R"("\u2028\u2029\ufeff\ufffd")",
           "\"\xE2\x80\xA8\xE2\x80\xA9\xEF\xBB\xBF\xEF\xBF\xBD\""},
          {"HTML", R"("\u003c\u003E\u0026")", R"("<>&")"},
          {"in a key", R"({"\u0061\n":"\/"})", R"({"a\n":"/"})"},
          {"repeated after unescaping", R"({"a":1,"\u0061":2})", R"({"a":1,"a":2})"},
          {"inside an array", R"(["\u0061","b\\"])", R"(["a","b\\"])"},
      },
      Mode::generic);
}

TEST(DocumentRewriter, RefusesContentBehindAScalar) {
  expect_answers(
      {
          {"null", "null null", "invalid_json 5"},
          {"nullx", "nullx ", "invalid_json 4"},
          {"falseA", "falseA", "invalid_json 5"},
          {"true and a digit", "true1", "invalid_json 4"},
          {"true and NUL", "true\0"s, "invalid_json 4"},
          {"number", "1 2", "invalid_json 2"},
          {"number and NUL", "1\0"s, "invalid_json 1"},
          {"number and string", "1\"a\"", "invalid_json 1"},
          {"number and letters", "12ab", "invalid_json 2"},
          {"number and comma", "1,", "invalid_json 1"},
          {"string", R"("a" "b")", "invalid_json 4"},
          {"strings at once", R"("a""b")", "invalid_json 3"},
          {"string and letter", R"("a"b)", "invalid_json 3"},
          {"string with an escape", R"("\n"1)", "invalid_json 4"},
          {"string with an escape and a bracket", R"("\n" ])", "invalid_json 5"},
          {"string ending in an escaped quote", R"("a\")", "invalid_json 4"},
      },
      Mode::generic);
}

TEST(DocumentRewriter, RewritesStringsOfAnySizeWithAnEscapeAnywhere) {
  Echo echo;
  for (std::size_t size = 0; size <= 70; ++size) {
    const std::string plain(size, 'x');
    for (const std::string& text : {joined({"[\"", plain, "\"]"}), joined({"\"", plain, "\""})}) {
      EXPECT_EQ(echo.answer(text, Mode::generic), text);
    }
    for (std::size_t offset = 0; offset <= size; ++offset) {
      const std::string head(offset, 'x');
      const std::string tail(size - offset, 'y');
      EXPECT_EQ(echo.answer(joined({"\"", head, "\\u000A", tail, "\""}), Mode::generic),
                joined({"\"", head, "\\n", tail, "\""}));
      EXPECT_EQ(echo.answer(joined({"{\"", head, "\\u006E", tail, "\" :0}"}), Mode::generic),
                joined({"{\"", head, "n", tail, "\":0}"}));
    }
  }
}

TEST(DocumentRewriter, NeverWritesMoreThanItReadAndIsIdempotent) {
  Echo echo;
  for (const std::string_view unit : {"\"\\u0000\",", "\"\\\"\",", "1,", "{},", "[],", "\"\",",
                                      "{\"\\\\\":\"\\t\"},", "1.5e-7,", "true,", "false,", "null,"}) {
    for (const std::size_t count : {1U, 7U, 64U, 3000U}) {
      const std::string text = "["s + repeat(unit, count) + "0]";
      const std::optional<std::string> written = echo.write(text, Mode::generic);
      ASSERT_TRUE(written) << unit;
      EXPECT_LE(written->size(), text.size()) << unit;
      EXPECT_EQ(echo.write(*written, Mode::generic), *written) << unit;
    }
  }
}

}  // namespace
}  // namespace rest_echo::json
