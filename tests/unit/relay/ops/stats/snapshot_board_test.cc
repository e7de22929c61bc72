#include "relay/ops/stats/snapshot_board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace satrelay::ops::snapshot_board_test {
namespace {

using namespace std::chrono_literals;

std::optional<SnapshotBoard::Published> nothing() { return std::nullopt; }

// The client port of a flow is its position.
class FlowsByPort final : public LiveView {
 public:
  std::vector<gateway::FlowSnapshot> flows(std::size_t first, std::size_t count) const override {
    std::vector<gateway::FlowSnapshot> flows(count);
    for (auto& flow : flows) flow.client_port = static_cast<std::uint16_t>(first++);
    return flows;
  }
  std::optional<gateway::FlowSnapshot> flow(std::uint64_t) const override { return std::nullopt; }
  std::vector<gateway::RuleSnapshot> rules(std::size_t, std::size_t) const override { return {}; }
  std::vector<gateway::ClassSnapshot> classes() const override { return {}; }
  std::vector<gateway::BridgedSnapshot> bridged() const override { return {}; }
  gateway::Explanation explain(const gateway::PolicyKey&) const override { return {}; }
};

auto flows_from(std::size_t first, std::size_t count) {
  return [=](const LiveView& view) { return view.flows(first, count); };
}

TEST(SnapshotBoard, AsksForNothingWhileNobodyReads) {
  SnapshotBoard board(nothing);
  EXPECT_FALSE(board.is_asked());
  EXPECT_TRUE(board.answer(FlowsByPort()));
}

TEST(SnapshotBoard, GivesUpOnASilentWorker) {
  SnapshotBoard board(nothing);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(board.ask(flows_from(0, 10), 50ms).has_value());
  EXPECT_GE(std::chrono::steady_clock::now() - before, 50ms);
  EXPECT_FALSE(board.is_asked());  // no reader waits any more
}

// If the reader has gone, its question is not run: the variables that it writes to may be gone too.
TEST(SnapshotBoard, LateAnswersReachNobody) {
  SnapshotBoard board(nothing);
  bool called = false;
  const auto late = [&](const LiveView&) { return called = true; };
  EXPECT_FALSE(board.ask(late, 1ms).has_value());
  EXPECT_TRUE(board.answer(FlowsByPort()));
  EXPECT_FALSE(called);
}

// Several threads read at once while a worker answers in a loop. Every reader gets the page that it
// asked for.
TEST(SnapshotBoard, ServesManyReaders) {
  SnapshotBoard board(nothing);
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> rounds = 0;
  std::thread worker([&] {
    while (!stop) {
      if (board.is_asked()) board.answer(FlowsByPort());
      ++rounds;
    }
  });
  std::vector<std::thread> readers;
  std::atomic<int> wrong = 0;
  for (std::uint16_t id = 1; id <= 4; ++id) {
    readers.emplace_back([&, id] {
      for (std::uint16_t i = 0; i < 50; ++i) {
        const auto first = static_cast<std::uint16_t>(id * 1000 + i);
        const auto flows = board.ask(flows_from(first, 2), 5s);
        if (!flows || flows->size() != 2 || flows->at(0).client_port != first) ++wrong;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  stop = true;
  worker.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(rounds, 0U);
}

}  // namespace
}  // namespace satrelay::ops::snapshot_board_test
