// The board from which the stats socket reads the workers' snapshots. Through it, the stats socket
// also asks for data that only a worker can look up. The worker never waits here: it only tries the
// lock. If a reader holds the lock, the worker tries again a little later.
//
//   worker, every few ms:  if (board.is_asked()) board.answer(view);
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pep/base/address.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/snapshot.h"
#include "relay/ops/stats/live_view.h"
#include "relay/ops/stats/worker_counters.h"

namespace satrelay::ops {

// A network port, and its counters since it was opened.
struct PortSnapshot {
  std::string name;    // name of the port: "lan" or "wan"
  std::string device;  // such as "lan: af_packet on lan0"
  MacAddress mac;
  std::uint16_t mtu = 0;
  bool link_up = false;
  bool gone = false;                // the kernel interface has vanished
  std::uint32_t link_megabits = 0;  // speed of the link; 0 if it is not known
  dpdk::PortStats stats;
};

// One worker of the gateway.
struct WorkerSnapshot {
  std::uint32_t flows = 0;
  WorkerCounters counters;
};

struct Snapshot {
  gateway::Status status;
  std::vector<gateway::PeerSnapshot> peers;
  std::vector<gateway::LinkSnapshot> links;
  gateway::Counters counters;
  std::vector<PortSnapshot> ports;
  std::vector<WorkerSnapshot> workers;
  std::vector<gateway::HistogramSnapshot> histograms;
};

class SnapshotBoard {
 public:
  using Clock = std::chrono::steady_clock;

  struct Published {
    std::shared_ptr<const Snapshot> snapshot;  // never null
    // Time since the first worker published the snapshot. Grows while that worker is stuck.
    Clock::duration age{};
  };
  // Returns the latest snapshot, or nullopt before the first snapshot. Any thread may call this.
  using Look = std::function<std::optional<Published>()>;
  explicit SnapshotBoard(Look look) : look_(std::move(look)) {}

  // --- the worker's side: never blocks ---------------------------------------------------------
  // True if a reader waits for data that only the worker can look up. Costs one relaxed load.
  bool is_asked() const { return asked_.load(std::memory_order_relaxed); }
  // Answers the reader. Returns false if a reader holds the lock. is_asked() then stays true while
  // the reader waits, so that the worker tries again.
  bool answer(const LiveView& view);

  // --- the readers' side: any thread -------------------------------------------------------------
  std::optional<Published> latest() const { return look_(); }
  // Lets the worker call `query`, and waits for the result. Returns nullopt if the worker has not
  // answered after `patience`.
  template <typename Query>
  auto ask(const Query& query, Clock::duration patience)
      -> std::optional<std::invoke_result_t<Query, const LiveView&>> {
    std::optional<std::invoke_result_t<Query, const LiveView&>> result;
    const bool done = run([&](const LiveView& view) { result.emplace(query(view)); }, patience);
    return done ? std::move(result) : std::nullopt;
  }

 private:
  using Question = std::function<void(const LiveView&)>;
  bool run(Question question, Clock::duration patience);

  const Look look_;
  std::timed_mutex one_reader_;  // admits one reader at a time
  // Guards all members below; held only to move a query, and while the worker runs it.
  std::mutex mutex_;
  std::condition_variable answered_;
  std::atomic<bool> asked_ = false;
  Question question_;  // query of the waiting reader; called only with the lock held
};

}  // namespace satrelay::ops
