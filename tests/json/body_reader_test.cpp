#include "rest_echo/json/body_reader.hpp"

#include "json/answer_table.hpp"

namespace rest_echo::json {
namespace {

using namespace std::string_literals;

/// Puts members into a Body's only colour.
std::string color(std::string_view members) { return R"({"colors":[{)"s + std::string(members) + "}]}"; }

/// Puts members into the code of a Body's only colour.
std::string code(std::string_view members) { return color(R"("code":{)"s + std::string(members) + "}"); }

const std::string kOneColor = R"({"colors":[{"code":{}}]})";

TEST(BodyReader, ReadsWhatMayBeAbsent) {
  expect_answers(
      {
          {"empty object", "{}", R"({"colors":null})"},
          {"null", "null", R"({"colors":null})"},
          {"null and white space", " \r\n\tnull \n", R"({"colors":null})"},
          {"null colours", R"({"colors":null})", R"({"colors":null})"},
          {"no colours", R"({"colors":[]})", R"({"colors":[]})"},
          {"empty colour", R"({"colors":[{}]})", kOneColor},
          {"null as a colour", R"({"colors":[null]})", kOneColor},
          {"several", R"({"colors":[{},null,{}]})", R"({"colors":[{"code":{}},{"code":{}},{"code":{}}]})"},
          {"all null", color(R"("color":null,"category":null,"type":null,"code":null)"), kOneColor},
          {"all empty", color(R"("color":"","category":"","type":"","code":{})"), kOneColor},
          {"code of nulls", code(R"("rgba":null,"hex":null)"), kOneColor},
          {"code of empties", code(R"("rgba":[],"hex":"")"), kOneColor},
      },
      Mode::typed);
}

TEST(BodyReader, WritesMembersInTheOrderOfTheStructs) {
  const std::string all =
      color(R"("color":"black","category":"hue","type":"primary","code":{"rgba":[255,0,1,2],"hex":"#000"})");
  expect_answers(
      {
          {"in order", all, all},
          {"reversed",
           color(
               R"("code":{"hex":"#000","rgba":[255,0,1,2]},"type":"primary","category":"hue","color":"black")"),
           all},
          {"white space",
           "\n{ \"colors\" :\t[ {\"color\"\r\n: \"black\" ,\"category\":\"hue\",\"type\":\"primary\","
           "\"code\" : { \"rgba\" : [ 255 , 0\n,1,2 ] , \"hex\" : \"#000\" } } ] } ",
           all},
          {"strings alone", color(R"("color":"a")"), color(R"("color":"a","code":{})")},
          {"category alone", color(R"("category":"a")"), color(R"("category":"a","code":{})")},
          {"type alone", color(R"("type":"a")"), color(R"("type":"a","code":{})")},
          {"hex alone", code(R"("hex":"a")"), code(R"("hex":"a")")},
          {"rgba alone", code(R"("rgba":[1])"), code(R"("rgba":[1])")},
      },
      Mode::typed);
}

TEST(BodyReader, MatchesKeysIgnoringAsciiCase) {
  expect_answers(
      {
          {"capitals",
           R"({"COLORS":[{"Color":"a","CATEGORY":"b","tYpE":"c","CODE":{"RGBA":[1],"Hex":"d"}}]})",
           color(R"("color":"a","category":"b","type":"c","code":{"rgba":[1],"hex":"d"})")},
          {"escapes", R"({"\u0063olors":[{"c\u006Flor":"a","\u0043ode":{"he\u0078":"b"}}]})",
           color(R"("color":"a","code":{"hex":"b"})")},
          {"a space more", R"({"colors ":1})", R"({"colors":null})"},
          {"a letter less", R"({"color":1})", R"({"colors":null})"},
          {"a quote more", R"({"colors\"":1})", R"({"colors":null})"},
          {"NUL after it", R"({"colors\u0000":1})", R"({"colors":null})"},
          {"empty key", R"({"":1})", R"({"colors":null})"},
          {"long s", "{\"color\xC5\xBF\":1}", R"({"colors":null})"},
          {"long s by escape", R"({"color\u017F":1})", R"({"colors":null})"},
          {"Kelvin-like look-alikes in others", "{\"\xC7\x83olors\":1}", R"({"colors":null})"},
          {"names of another level",
           R"({"color":1,"code":2,"rgba":3,"hex":4,"colors":[{"colors":5,"hex":6}]})", kOneColor},
          {"more names of another level", code(R"("color":1,"code":2,"colors":3)"), kOneColor},
      },
      Mode::typed);
}

TEST(BodyReader, DropsUnknownMembers) {
  const std::string unknown =
      R"("x":[1,-0.5e+10,1e999,true,false,null,"a\u0000",{"y":{"":[[],{}]},"z\n":1}],"X":)" +
      std::string(5000, '9');
  expect_answers(
      {
          {"in the body", "{"s + unknown + "}", R"({"colors":null})"},
          {"in a colour", color(unknown), kOneColor},
          {"in a code", code(unknown), kOneColor},
          {"around a known one", R"({"a":1,"colors":[],"b":{}})", R"({"colors":[]})"},
          {"1024 open", R"({"x":)"s + repeat("[", 1023) + repeat("]", 1023) + "}", R"({"colors":null})"},
          {"1025 open", R"({"x":)"s + repeat("[", 1024) + repeat("]", 1024) + "}", "too_deep 1028"},
          {"1024 open in a colour", color(R"("x":)"s + repeat("[", 1021) + repeat("]", 1021)), kOneColor},
          {"1025 open in a colour", color(R"("x":)"s + repeat("[", 1022) + repeat("]", 1022)),
           "too_deep 1037"},
          {"1025 open in a code, objects",
           code(R"("x":)"s + repeat(R"({"":)", 1021) + "1" + repeat("}", 1021)), "too_deep 4104"},
          {"space in an array", R"({"x":[1 2]})", "invalid_json 8"},
          {"wrong literal", R"({"x":[tru]})", "invalid_json 9"},
          {"leading zero", R"({"x":01})", "invalid_json 6"},
          {"number as a key", R"({"x":{1:2}})", "invalid_json 6"},
          {"two commas", R"({"x":[1,,2]})", "invalid_json 8"},
          {"wrong bracket", R"({"x":[1}})", "invalid_json 7"},
          {"wrong escape", R"({"x":"\x"})", "invalid_json 7"},
          {"wrong escape in a key", R"({"\x":1})", "invalid_json 3"},
          {"lone surrogate in a key", R"({"a\ud800":1})", "invalid_json 3"},
          {"wrong escape in a nested key", R"({"x":{"\x":1}})", "invalid_json 8"},
          {"no exponent", R"({"x":1e})", "invalid_json 7"},
          {"number and string", R"({"x":1"a"})", "invalid_json 6"},
          {"number and NUL", "{\"x\":1\0}"s, "invalid_json 6"},
          {"lone minus", R"({"x":[-]})", "invalid_json 7"},
          {"lone minus before a digit too far", R"({"x":- 1})", "invalid_json 6"},
      },
      Mode::typed);
}

TEST(BodyReader, LetsTheLastOfRepeatedMembersWin) {
  expect_answers(
      {
          {"string", color(R"("color":"a","color":"b")"), color(R"("color":"b","code":{})")},
          {"string in another case", color(R"("color":"a","COLOR":"b")"), color(R"("color":"b","code":{})")},
          {"string, then empty", color(R"("color":"a","color":"")"), kOneColor},
          {"string, then null", color(R"("color":"a","color":null)"), color(R"("color":"a","code":{})")},
          {"code merged", color(R"("code":{"hex":"a"},"code":{"rgba":[1]})"),
           code(R"("rgba":[1],"hex":"a")")},
          {"code, then null", color(R"("code":{"hex":"a"},"code":null)"), code(R"("hex":"a")")},
          {"code, then empty", color(R"("code":{"hex":"a"},"code":{})"), code(R"("hex":"a")")},
          {"rgba replaced", code(R"("rgba":[1,2,3],"rgba":[4])"), code(R"("rgba":[4])")},
          {"rgba, then empty", code(R"("rgba":[1,2,3],"rgba":[])"), kOneColor},
          {"rgba, then null", code(R"("rgba":[1,2,3],"rgba":null)"), kOneColor},
          {"long rgba replaced by long", code(R"("rgba":[1,2,3,4,5,6],"rgba":[7,8,9,10,11])"),
           code(R"("rgba":[7,8,9,10,11])")},
          {"long rgba replaced by short", code(R"("rgba":[1,2,3,4,5,6],"RGBA":[7])"), code(R"("rgba":[7])")},
          {"rgba of a second code", color(R"("code":{"rgba":[1,2]},"code":{"rgba":[3]})"),
           code(R"("rgba":[3])")},
          {"rgba with null is new", code(R"("rgba":[1,2],"rgba":[null])"), code(R"("rgba":[0])")},
          {"colours replaced", R"({"colors":[{"color":"a"},{}],"colors":[{"type":"b"}]})",
           color(R"("type":"b","code":{})")},
          {"colours, then empty", R"({"colors":[{"color":"a"}],"Colors":[]})", R"({"colors":[]})"},
          {"colours, then null", R"({"colors":[{"color":"a"}],"colors":null})", R"({"colors":null})"},
          {"null, then colours", R"({"colors":null,"colors":[]})", R"({"colors":[]})"},
      },
      Mode::typed);
}

TEST(BodyReader, ReadsInt64) {
  expect_answers(
      {
          {"null", code(R"("rgba":[null,1])"), code(R"("rgba":[0,1])")},
          {"minus zero", code(R"("rgba":[-0])"), code(R"("rgba":[0])")},
          {"table edges", code(R"("rgba":[0,9,10,99,100,255,256,999,1000,-1])"),
           code(R"("rgba":[0,9,10,99,100,255,256,999,1000,-1])")},
          {"four, five and six numbers",
           R"({"colors":[{"code":{"rgba":[1,2,3,4]}},{"code":{"rgba":[1,2,3,4,5]}},{"code":{"rgba":[6,5,4,3,2,1]}}]})",
           R"({"colors":[{"code":{"rgba":[1,2,3,4]}},{"code":{"rgba":[1,2,3,4,5]}},{"code":{"rgba":[6,5,4,3,2,1]}}]})"},
          {"largest", code(R"("rgba":[9223372036854775807])"), code(R"("rgba":[9223372036854775807])")},
          {"smallest", code(R"("rgba":[-9223372036854775808])"), code(R"("rgba":[-9223372036854775808])")},
          {"too large", code(R"("rgba":[9223372036854775808])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"too small", code(R"("rgba":[1,-9223372036854775809])"), "type_mismatch 30 /colors/0/code/rgba/1"},
          {"20 digits", code(R"("rgba":[18446744073709551616])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"wraps to 1", code(R"("rgba":[18446744073709551617])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"5000 digits", code(R"("rgba":[)"s + std::string(5000, '9') + "]"),
           "type_mismatch 28 /colors/0/code/rgba/0"},
          {"digits, then a letter", code(R"("rgba":[99999999999999999999x])"), "invalid_json 48"},
          {"1.0", code(R"("rgba":[1.0])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"0.5", code(R"("rgba":[0.5])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"1e2", code(R"("rgba":[1e2])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"1E2", code(R"("rgba":[1E2])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"-0.0", code(R"("rgba":[-0.0])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"string", code(R"("rgba":["1"])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"true", code(R"("rgba":[1,2,true])"), "type_mismatch 32 /colors/0/code/rgba/2"},
          {"array", code(R"("rgba":[[]])"), "type_mismatch 28 /colors/0/code/rgba/0"},
          {"leading zero", code(R"("rgba":[01])"), "invalid_json 29"},
          {"plus", code(R"("rgba":[+1])"), "invalid_json 28"},
          {"hexadecimal", code(R"("rgba":[0x1])"), "invalid_json 29"},
          {"minus", code(R"("rgba":[-])"), "invalid_json 29"},
      },
      Mode::typed);
}

TEST(BodyReader, RefusesOtherTypes) {
  expect_answers(
      {
          {"array", "[]", "type_mismatch 0 "},
          {"string", R"( "colors")", "type_mismatch 1 "},
          {"number", "1", "type_mismatch 0 "},
          {"real", "-1.5e3", "type_mismatch 0 "},
          {"true", "true", "type_mismatch 0 "},
          {"false", "\nfalse ", "type_mismatch 1 "},
          {"colours: object", R"({"colors":{}})", "type_mismatch 10 /colors"},
          {"colours: string", R"({"colors":"a"})", "type_mismatch 10 /colors"},
          {"colours: number", R"({"colors":1})", "type_mismatch 10 /colors"},
          {"colours: true", R"({"colors":true})", "type_mismatch 10 /colors"},
          {"colour: array", R"({"colors":[[]]})", "type_mismatch 11 /colors/0"},
          {"colour: string", R"({"colors":[{},"a"]})", "type_mismatch 14 /colors/1"},
          {"colour: number", R"({"colors":[null,{},7]})", "type_mismatch 19 /colors/2"},
          {"colour: false", R"({"colors":[false]})", "type_mismatch 11 /colors/0"},
          {"color: number", color(R"("color":5)"), "type_mismatch 20 /colors/0/color"},
          {"category: array", color(R"("category":[])"), "type_mismatch 23 /colors/0/category"},
          {"type: object", color(R"("type":{})"), "type_mismatch 19 /colors/0/type"},
          {"code: array", color(R"("code":[])"), "type_mismatch 19 /colors/0/code"},
          {"code: string", color(R"("code":"")"), "type_mismatch 19 /colors/0/code"},
          {"code: number", color(R"("code":0)"), "type_mismatch 19 /colors/0/code"},
          {"rgba: object", code(R"("rgba":{})"), "type_mismatch 27 /colors/0/code/rgba"},
          {"rgba: string", code(R"("rgba":"1")"), "type_mismatch 27 /colors/0/code/rgba"},
          {"rgba: number", code(R"("rgba":1)"), "type_mismatch 27 /colors/0/code/rgba"},
          {"hex: number", code(R"("hex":1)"), "type_mismatch 26 /colors/0/code/hex"},
          {"hex: true", code(R"("hex":true)"), "type_mismatch 26 /colors/0/code/hex"},
          {"keys as written", R"({"CoLoRs":[{"C\u006fde":1}]})", "type_mismatch 24 /CoLoRs/0/Code"},
          {"a later duplicate is right", R"({"colors":1,"colors":[]})", "type_mismatch 10 /colors"},
          {"an earlier duplicate is right", R"({"colors":[],"colors":1})", "type_mismatch 22 /colors"},
          {"the first in document order", color(R"("code":{"hex":1},"color":2)"),
           "type_mismatch 26 /colors/0/code/hex"},
          {"tenth colour", R"({"colors":[)"s + repeat("{},", 10) + "1]}", "type_mismatch 41 /colors/10"},
          {"bad grammar later", R"({"colors":1,})", "invalid_json 12"},
          {"bad UTF-8 later", "{\"colors\":1,\"a\":\"\xFF\"}", "invalid_utf8 17"},
          {"content later", R"({"colors":1} x)", "invalid_json 13"},
          {"too deep later", R"({"colors":1,"a":)"s + repeat("[", 1024), "too_deep 1039"},
          {"grammar of a wrong value", R"({"colors":{"a":}})", "invalid_json 15"},
          {"grammar of a wrong number", R"({"colors":01})", "invalid_json 11"},
          {"names inside a wrong value", R"({"colors":{"colors":[1]}})", "type_mismatch 10 /colors"},
      },
      Mode::typed);
}

TEST(BodyReader, ReadsStringsOfAnySize) {
  Echo echo;
  for (std::size_t size = 0; size <= 100; ++size) {
    const std::string plain(size, 'x');
    const std::string member = size == 0 ? "" : R"("color":")"s + plain + R"(",)";
    EXPECT_EQ(echo.answer(color(R"("color":")"s + plain + '"'), Mode::typed), color(member + R"("code":{})"))
        << size;
    EXPECT_EQ(echo.answer(color(R"("color":"\u0078)"s + plain + R"(\n")"), Mode::typed),
              color(R"("color":"x)"s + plain + R"(\n","code":{})"))
        << size;
    EXPECT_EQ(echo.answer(R"({")"s + plain + R"(":1})", Mode::typed), R"({"colors":null})") << size;
  }
}

TEST(BodyReader, ReadsAgainAfterARefusal) {
  Echo echo;
  for (const std::string refused : {"", "[", "{\"colors\":[{},{]", "\xFF", "{\"colors\":[1]}"}) {
    EXPECT_EQ(echo.write(refused, Mode::typed), std::nullopt) << refused;
    EXPECT_EQ(echo.write("{}", Mode::typed), R"({"colors":null})") << refused;
    EXPECT_EQ(echo.write(kOneColor, Mode::typed), kOneColor) << refused;
  }
}

TEST(BodyReader, KeepsToTheOutputBound) {
  Echo echo;  // its room for output ends at an unmapped page, so that the promised size is what is tested
  for (const std::string_view unit : {"{},", "null,", R"({"code":{"rgba":[null,null,null,null,null]}},)",
                                      R"({"color":"\u0000","hex":1},)", R"({"code":{"rgba":[-0,1]}},)"}) {
    for (const std::size_t count : {1U, 2U, 100U, 5000U}) {
      const std::string text = R"({"colors":[)"s + repeat(unit, count) + "{}]}";
      const std::optional<std::string> written = echo.write(text, Mode::typed);
      ASSERT_TRUE(written) << unit;
      EXPECT_LE(written->size(), 4 * text.size() + 16) << unit;
      EXPECT_EQ(echo.write(*written, Mode::typed), *written) << unit;
    }
  }
}

}  // namespace
}  // namespace rest_echo::json
