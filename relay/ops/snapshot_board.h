// Where the worker hangs what it tells about itself, for the stats socket to read. The worker never
// waits here: it only tries the lock, and comes again a little later if a reader has it.
//
//   worker, about every 100 ms:  board.publish({...});
//   worker, every few ms:        if (const auto request = board.flow_request())
//                                  board.answer(*request, gateway.flows(...));
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/address.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/snapshot.h"

namespace satrelay::ops {

// A network port, monotonic since it was opened.
struct PortSnapshot {
  std::string name;    // "lan", "wan"
  std::string device;  // "lan: af_packet on lan0"
  MacAddress mac;
  std::uint16_t mtu = 0;
  bool link_up = false;
  std::uint32_t link_megabits = 0;  // 0: unknown
  std::uint64_t rx_frames = 0, rx_bytes = 0;
  std::uint64_t tx_frames = 0, tx_bytes = 0;
  std::uint64_t rx_missed = 0;              // no room in the device's or the kernel's ring
  std::uint64_t rx_errors = 0;              // as the device counts them
  std::uint64_t rx_no_buffer = 0;           // no free packet buffer
  std::uint64_t rx_merged = 0;              // dropped: longer than the MTU, merged by an offload
  std::uint64_t rx_checksums_finished = 0;  // left unfinished by a sender on this machine
  std::uint64_t tx_errors = 0;              // taken by the device, but not sent
  std::uint64_t tx_unsent = 0;              // not taken by the device
};

struct Snapshot {
  gateway::Status status;
  std::vector<gateway::PeerSnapshot> peers;
  gateway::Counters counters;
  std::vector<PortSnapshot> ports;
  std::vector<gateway::RuleSnapshot> rules;
};

// For some flows by their position, or for one by its number.
struct FlowRequest {
  std::uint64_t id = 0;  // of the request
  std::size_t first = 0;
  std::size_t count = 0;
  std::optional<std::uint64_t> only;
};

class SnapshotBoard {
 public:
  using Clock = std::chrono::steady_clock;

  // --- the worker's side: never blocks ---------------------------------------------------------
  // False if a reader was in the way: the next one will do.
  bool publish(Snapshot snapshot);
  // What a reader waits for. One relaxed load while nobody does.
  std::optional<FlowRequest> flow_request();
  // False if a reader was in the way: flow_request() will tell of it again.
  bool answer(const FlowRequest& request, std::vector<gateway::FlowSnapshot> flows);

  // --- the readers' side: any thread -------------------------------------------------------------
  struct Published {
    Snapshot snapshot;
    Clock::duration age{};  // since publish(); grows when the worker is stuck
  };
  // nullopt before the first publish().
  std::optional<Published> latest() const;
  // Asks the worker and waits for its answer; nullopt after `patience`.
  std::optional<std::vector<gateway::FlowSnapshot>> flows(std::size_t first, std::size_t count,
                                                          Clock::duration patience);
  // The one of that number, or none.
  std::optional<std::vector<gateway::FlowSnapshot>> flow(std::uint64_t number,
                                                         Clock::duration patience);

 private:
  std::optional<std::vector<gateway::FlowSnapshot>> ask(FlowRequest request,
                                                        Clock::duration patience);
  std::timed_mutex one_reader_;  // requests are served one at a time
  mutable std::mutex mutex_;     // guards all below; held only to copy or move
  std::condition_variable answered_;
  std::optional<Snapshot> snapshot_;
  Clock::time_point published_at_;
  std::atomic<bool> wanted_ = false;
  FlowRequest request_;
  std::optional<std::vector<gateway::FlowSnapshot>> answer_;
};

}  // namespace satrelay::ops
