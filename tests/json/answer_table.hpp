#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "json/echo.hpp"

namespace rest_echo::json {

/// What lies behind a text must not matter.
inline constexpr char kPaddings[] = {'\0', '}', ']', ',', '"', '7', ' ', 'P', '\\', '\xFF'};

/// A text and the server's answer, in the form of `Echo::answer`.
struct AnswerRow {
  const char* name;
  std::string text;
  std::string answer;
};

inline void expect_answers(const std::vector<AnswerRow>& rows, Mode mode) {
  Echo echo;
  for (const AnswerRow& row : rows) {
    for (const char padding : kPaddings) {
      EXPECT_EQ(echo.answer(row.text, mode, padding), row.answer)
          << row.name << (mode == Mode::typed ? ", typed" : ", generic") << ", padding " << int{padding};
    }
  }
}

inline std::string joined(std::initializer_list<std::string_view> pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

inline std::string repeat(std::string_view unit, std::size_t count) {
  std::string text;
  text.reserve(unit.size() * count);
  for (std::size_t i = 0; i < count; ++i) text += unit;
  return text;
}

}  // namespace rest_echo::json
