#include "relay/ops/stats/flow_pages.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace satrelay::ops::flow_pages_test {
namespace {

using namespace std::chrono_literals;
using Flows = std::vector<gateway::FlowSnapshot>;

constexpr std::size_t kPage = 12;

// A worker with flows that are numbered by their position.
class FlowPagesTest : public testing::Test {
 protected:
  std::optional<Flows> page(std::size_t first, std::size_t count = kPage) {
    const auto ask = [this](std::size_t from, std::size_t most) -> std::optional<Flows> {
      ++questions_;
      most_ = std::max(most_, most);
      if (is_silent_) return std::nullopt;
      Flows told;
      for (std::size_t i = from; i < std::min(flows_, from + most); ++i) {
        told.emplace_back().id = i;
      }
      return told;
    };
    return pages_.page(first, count, ask, now_);
  }
  // Reads all pages one after the other. Returns the numbers of their flows.
  std::vector<std::uint64_t> walk() {
    std::vector<std::uint64_t> all;
    for (;;) {
      const auto found = page(all.size());
      if (!found || found->empty()) return all;
      EXPECT_LE(found->size(), kPage);
      for (const auto& flow : *found) all.push_back(flow.id);
    }
  }

  FlowPages pages_;
  FlowPages::Clock::time_point now_;
  std::size_t flows_ = 1'000;
  bool is_silent_ = false;
  std::size_t questions_ = 0;
  std::size_t most_ = 0;
};

TEST_F(FlowPagesTest, WhoReadsAllAsksAFewTimesForMany) {
  const auto all = walk();
  ASSERT_EQ(all.size(), flows_);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  // One question for the first page, some for the pages after it, and one that finds no more flows.
  EXPECT_EQ(questions_, 1 + (flows_ - kPage + FlowPages::kAtOnce - 1) / FlowPages::kAtOnce + 1);
  EXPECT_EQ(most_, FlowPages::kAtOnce);
}

TEST_F(FlowPagesTest, WhoReadsOnePageAsksForNoMore) {
  for (int i = 0; i < 5; ++i) page(0);
  page(500);
  EXPECT_EQ(questions_, 6U);
  EXPECT_EQ(most_, kPage);
}

TEST_F(FlowPagesTest, WhatIsOldIsAskedForAnew) {
  page(0);
  page(12);
  page(24);
  EXPECT_EQ(questions_, 2U);
  now_ += FlowPages::kFresh;
  page(36);
  EXPECT_EQ(questions_, 3U);
}

TEST_F(FlowPagesTest, WhoBeginsAnewSeesWhatIsNew) {
  flows_ = 20;
  EXPECT_EQ(walk().size(), 20U);
  flows_ = 30;
  EXPECT_EQ(walk().size(), 30U);
  flows_ = 5;
  EXPECT_EQ(walk().size(), 5U);
  flows_ = 0;
  EXPECT_EQ(walk().size(), 0U);
}

TEST_F(FlowPagesTest, PagesMayHaveAnySize) {
  page(0, 7);
  const auto found = page(7, 300);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->size(), 300U);
  EXPECT_EQ(page(307, 0)->size(), 0U);
}

TEST_F(FlowPagesTest, SaysSoWhenTheWorkerIsSilent) {
  page(0);
  is_silent_ = true;
  EXPECT_FALSE(page(12).has_value());
  is_silent_ = false;
  EXPECT_EQ(page(12)->front().id, 12U);
}

}  // namespace
}  // namespace satrelay::ops::flow_pages_test
