#include "relay/ops/snapshot_board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace satrelay::ops {
namespace {

using namespace std::chrono_literals;

Snapshot snapshot_with_flows(std::uint32_t flows) {
  Snapshot snapshot;
  snapshot.status.flows = flows;
  snapshot.peers.resize(flows);
  return snapshot;
}

std::vector<gateway::FlowSnapshot> flows_from_port(std::uint16_t port, std::size_t count) {
  std::vector<gateway::FlowSnapshot> flows(count);
  for (auto& flow : flows) flow.client_port = port++;
  return flows;
}

TEST(SnapshotBoard, HasNothingBeforeTheFirstPublication) {
  const SnapshotBoard board;
  EXPECT_FALSE(board.latest().has_value());
}

TEST(SnapshotBoard, ShowsTheLatest) {
  SnapshotBoard board;
  EXPECT_TRUE(board.publish(snapshot_with_flows(1)));
  EXPECT_TRUE(board.publish(snapshot_with_flows(2)));
  const auto published = board.latest();
  ASSERT_TRUE(published.has_value());
  EXPECT_EQ(published->snapshot.status.flows, 2U);
  EXPECT_EQ(published->snapshot.peers.size(), 2U);
}

TEST(SnapshotBoard, TellsHowOldItIs) {
  SnapshotBoard board;
  board.publish(snapshot_with_flows(1));
  std::this_thread::sleep_for(20ms);
  EXPECT_GE(board.latest()->age, 20ms);
  board.publish(snapshot_with_flows(1));
  EXPECT_LT(board.latest()->age, 10s);
}

TEST(SnapshotBoard, AsksForNothingWhileNobodyReads) {
  SnapshotBoard board;
  EXPECT_FALSE(board.flow_request().has_value());
}

TEST(SnapshotBoard, GivesUpOnASilentWorker) {
  SnapshotBoard board;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(board.flows(0, 10, 50ms).has_value());
  EXPECT_GE(std::chrono::steady_clock::now() - before, 50ms);
  EXPECT_FALSE(board.flow_request().has_value());  // nobody waits any more
}

TEST(SnapshotBoard, LateAnswersDoNotReachTheNextReader) {
  SnapshotBoard board;
  FlowRequest late;
  std::thread reader([&] { EXPECT_FALSE(board.flows(0, 1, 100ms).has_value()); });
  for (std::optional<FlowRequest> request; !request; request = board.flow_request()) {
    if (request) late = *request;
    std::this_thread::yield();
  }
  reader.join();
  std::atomic<bool> stop = false;
  std::thread worker([&] {
    bool answered_late = false;
    while (!stop) {
      const auto request = board.flow_request();
      if (!request) continue;
      if (!answered_late) {
        answered_late =
            board.answer(FlowRequest{request->id - 1, 0, 1, std::nullopt}, flows_from_port(1, 1));
        continue;
      }
      board.answer(*request, flows_from_port(2, 1));
    }
  });
  const auto flows = board.flows(0, 1, 5s);
  stop = true;
  worker.join();
  ASSERT_TRUE(flows.has_value());
  EXPECT_EQ(flows->at(0).client_port, 2);
}

// Readers on several threads at once, a worker that publishes and answers in a loop: every reader
// gets the page it asked for, and the worker never waits long.
TEST(SnapshotBoard, ServesManyReadersWhileTheWorkerNeverWaits) {
  SnapshotBoard board;
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> rounds = 0;
  std::thread worker([&] {
    while (!stop) {
      board.publish(snapshot_with_flows(3));
      if (const auto request = board.flow_request()) {
        board.answer(*request,
                     flows_from_port(static_cast<std::uint16_t>(request->first), request->count));
      }
      ++rounds;
    }
  });
  std::vector<std::thread> readers;
  std::atomic<int> wrong = 0;
  for (std::uint16_t id = 1; id <= 4; ++id) {
    readers.emplace_back([&, id] {
      for (std::uint16_t i = 0; i < 50; ++i) {
        const auto first = static_cast<std::uint16_t>(id * 1000 + i);
        const auto flows = board.flows(first, 2, 5s);
        if (!flows || flows->size() != 2 || flows->at(0).client_port != first) ++wrong;
        const auto published = board.latest();
        if (published && published->snapshot.peers.size() != 3) ++wrong;
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
}  // namespace satrelay::ops
