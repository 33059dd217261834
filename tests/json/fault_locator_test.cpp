#include "rest_echo/json/fault_locator.hpp"

#include "json/answer_table.hpp"

namespace rest_echo::json {
namespace {

using namespace std::string_literals;

/// These faults are the same in both modes.
void expect_faults(const std::vector<AnswerRow>& rows) {
  expect_answers(rows, Mode::typed);
  expect_answers(rows, Mode::generic);
}

TEST(FaultLocator, NamesItsCodes) {
  EXPECT_EQ(fault_code_name(FaultCode::empty_body), "empty_body");
  EXPECT_EQ(fault_code_name(FaultCode::invalid_utf8), "invalid_utf8");
  EXPECT_EQ(fault_code_name(FaultCode::invalid_json), "invalid_json");
  EXPECT_EQ(fault_code_name(FaultCode::too_deep), "too_deep");
  EXPECT_EQ(fault_code_name(FaultCode::type_mismatch), "type_mismatch");
}

TEST(FaultLocator, TellsAnEmptyBody) {
  expect_faults({
      {"nothing", "", "empty_body 0"},
      {"a space", " ", "empty_body 1"},
      {"all white space", " \t\r\n", "empty_body 4"},
      {"much white space", std::string(1000, '\n'), "empty_body 1000"},
  });
}

TEST(FaultLocator, FindsWhiteSpaceThatIsNone) {
  expect_faults({
      {"form feed", "\f{}", "invalid_json 0"},
      {"vertical tab", "{\v}", "invalid_json 1"},
      {"NUL", "\0"s, "invalid_json 0"},
      {"NUL behind", "{} \0"s, "invalid_json 3"},
      {"no-break space", "\xC2\xA0{}", "invalid_json 0"},
      {"line separator", "{}\xE2\x80\xA8", "invalid_json 2"},
      {"byte order mark", "\xEF\xBB\xBF{}", "invalid_json 0"},
      {"byte order mark alone", "\xEF\xBB\xBF", "invalid_json 0"},
      {"byte order mark behind", "{}\xEF\xBB\xBF", "invalid_json 2"},
      {"half a byte order mark", "\xEF\xBB{}", "invalid_utf8 0"},
      {"UTF-16", "\xFE\xFF\0{\0}"s, "invalid_utf8 0"},
      {"UTF-16 without a mark", "{\0}\0"s, "invalid_json 1"},
  });
}

TEST(FaultLocator, FindsContentBehindTheDocument) {
  expect_faults({
      {"letter", "{}x", "invalid_json 2"},
      {"object", "{}{}", "invalid_json 2"},
      {"object behind a space", "{} {}", "invalid_json 3"},
      {"comma", "{},", "invalid_json 2"},
      {"bracket", "{}}", "invalid_json 2"},
      {"null", "null null", "invalid_json 5"},
      {"colon", "{}:", "invalid_json 2"},
      {"quote", "{}\"", "invalid_json 2"},
  });
}

TEST(FaultLocator, FindsFaultsOfTheGrammar) {
  expect_faults({
      {"comma before ]", "[1,]", "invalid_json 3"},
      {"comma before }", R"({"a":1,})", "invalid_json 7"},
      {"comma after [", "[,1]", "invalid_json 1"},
      {"comma after {", R"({,"a":1})", "invalid_json 1"},
      {"no comma", "[1 2]", "invalid_json 3"},
      {"no comma in an object", R"({"a":1 "b":2})", "invalid_json 7"},
      {"wrong bracket", "[1}", "invalid_json 2"},
      {"wrong brace", R"({"a":1])", "invalid_json 6"},
      {"number as a key", "{1:2}", "invalid_json 1"},
      {"bare key", "{a:1}", "invalid_json 1"},
      {"no colon", R"({"a" 1})", "invalid_json 5"},
      {"comma for colon", R"({"a",1})", "invalid_json 4"},
      {"two colons", R"({"a"::1})", "invalid_json 5"},
      {"no value", R"({"a":})", "invalid_json 5"},
      {"single quotes", "'a'", "invalid_json 0"},
      {"block comment", "/**/{}", "invalid_json 0"},
      {"line comment", "{}//", "invalid_json 2"},
      {"closing bracket", "]", "invalid_json 0"},
      {"comma", ",", "invalid_json 0"},
      {"colon", ":", "invalid_json 0"},
      {"array, unclosed", "[", "invalid_json 1"},
      {"array, unclosed after an element", "[1", "invalid_json 2"},
      {"array, unclosed after a comma", "[1, ", "invalid_json 4"},
      {"object, unclosed", "{", "invalid_json 1"},
      {"object, unclosed after a key", "{\"a\"", "invalid_json 4"},
      {"object, unclosed after a colon", "{\"a\":", "invalid_json 5"},
      {"object, unclosed after a value", "{\"a\":1 ", "invalid_json 7"},
      {"object, unclosed inside", R"({"a":{"b":1})", "invalid_json 12"},
      {"string, unclosed", "\"a", "invalid_json 2"},
      {"string, unclosed inside", "{\"a\":\"b}", "invalid_json 8"},
      {"a megabyte of [", std::string(std::size_t{1} << 20, '['), "too_deep 1024"},
      {"1024 of [", std::string(1024, '['), "invalid_json 1024"},
  });
}

TEST(FaultLocator, FindsFaultsOfNumbersAndLiterals) {
  expect_faults({
      {"01", "01", "invalid_json 1"},
      {"-01", "-01", "invalid_json 2"},
      {"+1", "+1", "invalid_json 0"},
      {".5", ".5", "invalid_json 0"},
      {"1.", "1.", "invalid_json 2"},
      {"1.e1", "1.e1", "invalid_json 2"},
      {"1e", "1e", "invalid_json 2"},
      {"1e+", "1e+", "invalid_json 3"},
      {"1e+-1", "1e+-1", "invalid_json 3"},
      {"1e1.5", "1e1.5", "invalid_json 3"},
      {"-", "-", "invalid_json 1"},
      {"--1", "--1", "invalid_json 1"},
      {"-a", "-a", "invalid_json 1"},
      {"0x1", "0x1", "invalid_json 1"},
      {"1_0", "1_0", "invalid_json 1"},
      {"NaN", "NaN", "invalid_json 0"},
      {"nan", "nan", "invalid_json 1"},
      {"Infinity", "Infinity", "invalid_json 0"},
      {"-Infinity", "-Infinity", "invalid_json 1"},
      {"nul", "nul", "invalid_json 3"},
      {"nul in an array", "[nul]", "invalid_json 4"},
      {"True", "True", "invalid_json 0"},
      {"tRue", "tRue", "invalid_json 1"},
      {"truefalse", "truefalse", "invalid_json 4"},
      {"truth", "[truth]", "invalid_json 4"},
      {"falsy", "[falsy]", "invalid_json 5"},
      {"1.2.3 in an array", "[1.2.3]", "invalid_json 4"},
      {"wide digit", "[\xEF\xBC\x91]", "invalid_json 1"},
  });
}

TEST(FaultLocator, FindsFaultsOfStrings) {
  expect_faults({
      {"\\x", R"("\x")", "invalid_json 2"},
      {"\\U", R"("\U0041")", "invalid_json 2"},
      {"\\'", R"("\'")", "invalid_json 2"},
      {"\\0", R"("\0")", "invalid_json 2"},
      {"backslash and a raw octet", "\"\\\xC3\xA9\"", "invalid_json 2"},
      {"backslash and a line feed", "\"\\\n\"", "invalid_json 2"},
      {"backslash at the end", "\"\\", "invalid_json 2"},
      {"\\u12", R"("\u12")", "invalid_json 5"},
      {"\\u12G4", R"("\u12G4")", "invalid_json 5"},
      {"\\u+041", R"("\u+041")", "invalid_json 3"},
      {"\\u at the end", "\"\\u00", "invalid_json 5"},
      {"high surrogate", R"("\ud800")", "invalid_json 1"},
      {"high surrogate, capitals", R"("ab\uDBFF")", "invalid_json 3"},
      {"low surrogate", R"("\udc00")", "invalid_json 1"},
      {"two high surrogates", R"("\ud800\ud800")", "invalid_json 1"},
      {"two low surrogates", R"("\udfff\udfff")", "invalid_json 1"},
      {"pair, then high", R"("\ud800\udc00\ud800")", "invalid_json 13"},
      {"high and a letter", R"("\ud800a")", "invalid_json 1"},
      {"high and another escape", R"("\ud800\n")", "invalid_json 1"},
      {"high and a wrong escape", R"("\ud800\x")", "invalid_json 1"},
      {"high and a short low", R"("\ud800\udc0")", "invalid_json 1"},
      {"high, then the end", R"("\ud800)", "invalid_json 7"},
      {"high and a backslash, then the end", "\"\\ud800\\", "invalid_json 8"},
      {"high and half of low, then the end", R"("\ud800\udC0)", "invalid_json 12"},
      {"low, cut off", R"("\udc0)", "invalid_json 6"},
      {"in a key", R"({"\ud800":1})", "invalid_json 2"},
      {"line feed", "\"a\nb\"", "invalid_json 2"},
      {"tab", "[\"\t\"]", "invalid_json 2"},
      {"NUL", "\"\0\""s, "invalid_json 1"},
      {"0x1f", "\"\x1F\"", "invalid_json 1"},
      {"line feed in a key", "{\"\n\":1}", "invalid_json 2"},
  });
}

TEST(FaultLocator, FindsIllFormedUtf8) {
  std::vector<AnswerRow> rows;
  for (const char* sequence : {"\x80",
                               "\xBF",
                               "\xC0\x80",
                               "\xC1\xBF",
                               "\xC2",
                               "\xC2\x7F",
                               "\xC2\xC0",
                               "\xE0\x80\x80",
                               "\xE0\x9F\xBF",
                               "\xE1\x80",
                               "\xE1\x80\x7F",
                               "\xED\xA0\x80",
                               "\xED\xBF\xBF",
                               "\xEF\xBF",
                               "\xF0\x80\x80\x80",
                               "\xF0\x8F\xBF\xBF",
                               "\xF0\x90\x80",
                               "\xF1\x80\x80\x7F",
                               "\xF4\x90\x80\x80",
                               "\xF5\x80\x80\x80",
                               "\xF8\x88\x80\x80\x80",
                               "\xFE",
                               "\xFF"}) {
    const std::string octets = sequence;
    rows.push_back({"in a string", "{\"a\":\"bc"s + octets + "\"}", "invalid_utf8 8"});
    rows.push_back({"in a key", "{\""s + octets + "\":1}", "invalid_utf8 2"});
    rows.push_back({"outside a string", "[1,"s + octets + "]", "invalid_utf8 3"});
    rows.push_back({"behind the document", "{} "s + octets, "invalid_utf8 3"});
    rows.push_back({"behind an escape", "\"\\n"s + octets + "\"", "invalid_utf8 3"});
    rows.push_back({"cut off", "\""s + octets, "invalid_utf8 1"});
    rows.push_back({"alone", octets, "invalid_utf8 0"});
    rows.push_back({"in a number", "[1"s + octets + "]", "invalid_utf8 2"});
    rows.push_back({"in a literal", "[tr"s + octets + "ue]", "invalid_utf8 3"});
  }
  expect_faults(rows);

  std::vector<AnswerRow> accepted;
  for (const char* sequence : {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                               "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    const std::string text = "[\""s + std::string(sequence) + "\"]";
    accepted.push_back({"well-formed", text, text});
  }
  expect_answers(accepted, Mode::generic);
}

TEST(FaultLocator, ReportsTheFirstFaultInOctetOrder) {
  expect_faults({
      {"grammar, then UTF-8", "[1,] \xFF", "invalid_json 3"},
      {"UTF-8, then grammar", "[\"\xFF\",]", "invalid_utf8 2"},
      {"both at one offset", "[\xFF]", "invalid_utf8 1"},
      {"UTF-8 wins over the wrong octet behind a backslash", "\"\\\xFF\"", "invalid_utf8 2"},
      {"lone surrogate, then UTF-8", "\"\\ud800\xFF\"", "invalid_json 1"},
      {"cut off before UTF-8 is complete", "[\"\xE2\x82", "invalid_utf8 2"},
      {"depth, then UTF-8", std::string(1025, '[') + "\xFF", "too_deep 1024"},
      {"UTF-8, then depth", "[\"\xFF\","s + std::string(1025, '['), "invalid_utf8 2"},
      {"grammar at the bracket too deep", std::string(1023, '[') + "{[", "invalid_json 1024"},
      {"depth, then grammar", std::string(1025, '[') + "}", "too_deep 1024"},
  });
}

TEST(FaultLocator, CountsOpenContainersOnly) {
  const std::string wide = "["s + repeat("[[]],", 3000) + "[]]";
  EXPECT_EQ(locate_fault(wide, Mode::generic).has_value(), false);
  expect_faults({
      {"1025 arrays", repeat("[", 1025) + repeat("]", 1025), "too_deep 1024"},
      {"1025 objects", repeat(R"({"a":)", 1025) + "1" + repeat("}", 1025), "too_deep 5120"},
      {"mixed", repeat(R"([{"a":)", 512) + "[", "too_deep 3072"},
  });
}

TEST(FaultLocator, IsLinear) {
  // A pointer built for every element, or a second pass for each level, would take minutes.
  const std::size_t count = std::size_t{1} << 20;
  EXPECT_EQ(locate_fault(R"({"colors":[)"s + repeat("{},", count) + "1]}", Mode::typed)->pointer,
            "/colors/"s + std::to_string(count));
  EXPECT_EQ(locate_fault("{\""s + std::string(count, 'a') + "\":1,}", Mode::typed)->code,
            FaultCode::invalid_json);
  EXPECT_EQ(locate_fault("[\""s + repeat("\\u0061", count) + "\",]", Mode::generic)->code,
            FaultCode::invalid_json);
}

}  // namespace
}  // namespace rest_echo::json
