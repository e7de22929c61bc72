// The credit of new streams, while their readers are not known yet.
#include "pep/stp/streams/credit/start_credit.h"

#include <gtest/gtest.h>

namespace satrelay::stp::start_credit_test {
namespace {

TEST(StartCreditTest, SmallChangesAreNotTold) {
  StartCredit credit(1000);
  EXPECT_FALSE(credit.change(1000));
  EXPECT_FALSE(credit.change(760));
  EXPECT_FALSE(credit.lowered());
  EXPECT_TRUE(credit.change(700));
  EXPECT_TRUE(credit.lowered());
  EXPECT_FALSE(credit.change(800));
  EXPECT_TRUE(credit.change(10));
  EXPECT_TRUE(credit.change(900));
  EXPECT_TRUE(credit.change(1000)) << "the end of it is told, however near";
  EXPECT_FALSE(credit.lowered());
}

TEST(StartCreditTest, OnlyTheNewestIsRepeatedAndOnlyTheNewestCounts) {
  StartCredit credit(1000);
  GrantedStartCredit granted;
  granted.start(1000);
  EXPECT_FALSE(credit.due());
  credit.change(100);
  const StartCreditFrame first = credit.take();
  EXPECT_FALSE(credit.due());
  credit.change(400);
  const StartCreditFrame second = credit.take();
  credit.on_lost(first.sequence);
  EXPECT_FALSE(credit.due());
  credit.on_lost(second.sequence);
  EXPECT_TRUE(credit.due());

  EXPECT_TRUE(granted.accept(second));
  EXPECT_FALSE(granted.accept(first)) << "overtaken";
  EXPECT_EQ(granted.limit(), 400U);
}

}  // namespace
}  // namespace satrelay::stp::start_credit_test
