// For tests of replies: DPDK's own telemetry thread and socket with our commands, and satrelayctl's
// client at the other end.
#pragma once

#include <gtest/gtest.h>
#include <rte_eal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "relay/client/stats_client.h"
#include "relay/ops/stats/telemetry.h"

namespace satrelay::ops {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

inline constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kBootEpoch = 1'764'082'060'000'000'000;

// A process can start DPDK only once. It is started for all tests, without hugepages, devices or
// privileges.
class TelemetryTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string folder = (std::filesystem::temp_directory_path() / "satrelay-ops-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    ::setenv("RUNTIME_DIRECTORY", folder.c_str(), 1);
    std::string arguments[] = {"test",        "--no-huge",     "-m",  "32", "--no-pci",
                               "--no-shconf", "--file-prefix", "ops", "-l", "0"};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    started_ = rte_eal_init(static_cast<int>(argv.size()), argv.data()) >= 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      if (entry.path().filename() == "dpdk_telemetry.v2") socket_ = entry.path();
    }
  }
  static void TearDownTestSuite() {
    if (started_) rte_eal_cleanup();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void SetUp() override {
    ASSERT_TRUE(started_);
    ASSERT_FALSE(socket_.empty()) << "DPDK made no telemetry socket under " << folder_;
  }

  static Json query(const std::string& command) {
    return ctl::StatsClient(socket_, 3s).query(command);
  }

  // Returns the reply to `command` as the socket sends it. StatsClient rewrites identifiers.
  static std::string reply_to(const std::string& command) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_.string().copy(address.sun_path, sizeof address.sun_path - 1);
    const int descriptor = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    std::string buffer(1 << 16, '\0');
    ssize_t size = ::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address);
    if (size == 0) size = ::recv(descriptor, buffer.data(), buffer.size(), 0);  // the greeting
    if (size > 0) size = ::send(descriptor, command.data(), command.size(), MSG_NOSIGNAL);
    if (size > 0) size = ::recv(descriptor, buffer.data(), buffer.size(), 0);
    ::close(descriptor);
    return buffer.substr(0, size > 0 ? static_cast<std::size_t>(size) : 0);
  }

  void publish(const Snapshot& snapshot) {
    const std::lock_guard lock(mutex_);
    latest_ = {std::make_shared<const Snapshot>(snapshot), {}};
  }

  inline static std::filesystem::path folder_;
  inline static std::filesystem::path socket_;
  inline static bool started_ = false;

  SnapshotBoard board_{[this] {
    const std::lock_guard lock(mutex_);
    return latest_;
  }};
  EventRing events_{kBootEpoch};
  History history_;

 private:
  std::mutex mutex_;
  std::optional<SnapshotBoard::Published> latest_;
};

// The engine's data, set by a test.
class Live final : public LiveView {
 public:
  std::vector<gateway::FlowSnapshot> all_flows;
  std::vector<gateway::RuleSnapshot> all_rules;
  std::vector<gateway::ClassSnapshot> all_classes;
  std::vector<gateway::BridgedSnapshot> all_bridged;
  gateway::Explanation explanation;
  mutable gateway::PolicyKey asked;

  std::vector<gateway::FlowSnapshot> flows(std::size_t first, std::size_t count) const override {
    return part_of(all_flows, first, count);
  }
  std::optional<gateway::FlowSnapshot> flow(std::uint64_t id) const override {
    const auto found = std::ranges::find(all_flows, id, &gateway::FlowSnapshot::id);
    return found == all_flows.end() ? std::nullopt : std::optional(*found);
  }
  std::vector<gateway::RuleSnapshot> rules(std::size_t first, std::size_t count) const override {
    return part_of(all_rules, first, count);
  }
  std::vector<gateway::ClassSnapshot> classes() const override { return all_classes; }
  std::vector<gateway::BridgedSnapshot> bridged() const override { return all_bridged; }
  gateway::Explanation explain(const gateway::PolicyKey& key) const override {
    asked = key;
    return explanation;
  }

 private:
  template <typename Entry>
  static std::vector<Entry> part_of(const std::vector<Entry>& all, std::size_t first,
                                    std::size_t count) {
    first = std::min(first, all.size());
    count = std::min(count, all.size() - first);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
};

// A worker that answers questions during its lifetime.
class LiveWorker {
 public:
  LiveWorker(SnapshotBoard& board, const Live& live)
      : thread_([&](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            if (board.is_asked()) board.answer(live);
            std::this_thread::sleep_for(1ms);
          }
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace satrelay::ops
