#include "relay/ops/control/nearest_word.h"

#include <gtest/gtest.h>

#include <string>

namespace satrelay::ops::nearest_word_test {
namespace {

constexpr std::string_view kKnown[] = {"status", "ports", "peers", "flows", "flow", "top"};

TEST(NearestWord, OneSlipOrTwo) {
  for (const char* typed : {"statsu", "statos", "statu", "sstatus", "sttaus", "stat"}) {
    EXPECT_EQ(nearest_word(typed, kKnown), "status") << typed;
  }
  EXPECT_EQ(nearest_word("flwo", kKnown), "flow");
  EXPECT_EQ(nearest_word("flowss", kKnown), "flows");
  EXPECT_EQ(nearest_word("tpo", kKnown), "top");
}

TEST(NearestWord, TheOneWithTheFewestSlips) {
  EXPECT_EQ(nearest_word("flows", kKnown), "flows");
  EXPECT_EQ(nearest_word("peer", kKnown), "peers");
}

TEST(NearestWord, NothingIsNear) {
  for (const char* typed : {"", "reboot", "configuration", "xyz"}) {
    EXPECT_FALSE(nearest_word(typed, kKnown)) << typed;
  }
  EXPECT_FALSE(nearest_word(std::string(100'000, 's'), kKnown));
  EXPECT_FALSE(nearest_word("status", {}));
}

}  // namespace
}  // namespace satrelay::ops::nearest_word_test
