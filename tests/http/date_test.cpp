#include "rest_echo/http/date.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace rest_echo::http {
namespace {

TEST(Date, IsAnImfFixdate) {
  struct Row {
    std::time_t seconds;
    std::string_view text;
  };
  constexpr Row kRows[] = {
      {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
      {784'111'777, "Sun, 06 Nov 1994 08:49:37 GMT"},
      {951'782'399, "Mon, 28 Feb 2000 23:59:59 GMT"},
      {951'782'400, "Tue, 29 Feb 2000 00:00:00 GMT"},
      {1'072'915'199, "Wed, 31 Dec 2003 23:59:59 GMT"},
      {1'078'531'200, "Sat, 06 Mar 2004 00:00:00 GMT"},
      {1'083'369'600, "Sat, 01 May 2004 00:00:00 GMT"},
      {1'086'998'400, "Sat, 12 Jun 2004 00:00:00 GMT"},
      {1'089'936'000, "Fri, 16 Jul 2004 00:00:00 GMT"},
      {1'092'960'000, "Fri, 20 Aug 2004 00:00:00 GMT"},
      {1'095'292'800, "Thu, 16 Sep 2004 00:00:00 GMT"},
      {1'098'057'600, "Mon, 18 Oct 2004 00:00:00 GMT"},
      {1'081'728'000, "Mon, 12 Apr 2004 00:00:00 GMT"},
      {4'102'444'800, "Fri, 01 Jan 2100 00:00:00 GMT"},
      {253'402'300'799, "Fri, 31 Dec 9999 23:59:59 GMT"},
  };
  Date date;
  for (const Row& row : kRows) {
    EXPECT_TRUE(date.set(row.seconds));
    EXPECT_EQ(date.text(), row.text);
  }
}

TEST(Date, TellsWhetherTheSecondIsNew) {
  Date date;
  EXPECT_TRUE(date.set(0));
  EXPECT_FALSE(date.set(0));
  EXPECT_TRUE(date.set(1));
  EXPECT_FALSE(date.set(1));
  EXPECT_EQ(date.text(), "Thu, 01 Jan 1970 00:00:01 GMT");
  EXPECT_TRUE(date.set(0)) << "the clock was set back";
}

}  // namespace
}  // namespace rest_echo::http
