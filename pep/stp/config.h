// The settings of a session. The parts of a session have their own, which are members here.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/stp/connection/handshake_budgets.h"
#include "pep/stp/connection/security.h"
#include "pep/stp/path/feedback_clock.h"
#include "pep/stp/path/probe_timer.h"
#include "pep/stp/streams/streams_config.h"
#include "pep/stp/types.h"
#include "pep/stp/wire/capabilities.h"

namespace satrelay::stp {

class HelloBudget;
class SharedRepairs;

// Sizes of UDP payloads.
struct DatagramConfig {
  std::uint16_t size = 1472;  // the largest: `stp.mtu` less IP and UDP headers
  std::uint16_t base = 1172;  // nearly any path carries it: 1200 IP bytes
  std::uint16_t floor = 548;  // any path carries it: 576 IP bytes, with IPv6 1280
  // Whether the path is known to carry `size`. If not, the session searches for the path MTU
  // (docs/stp.md section 13).
  bool path_mtu_known = true;
  std::uint16_t overhead = 28;  // size of IP and UDP headers, for the pacer
};

struct HelloConfig {
  Duration interval = Duration::seconds(1);
  HandshakeBudgets budgets = {};  // these outlive the session
  // Limits what HELLOs cost all sessions that share it, by peer; nullptr: the session has a budget
  // of its own. Outlives the session.
  HelloBudget* shared = nullptr;
  std::uint32_t peer = 0;  // number of the peer in that budget, the same for all its lanes
};

struct RepairConfig {
  FecMode mode = FecMode::kAuto;
  double prompt_share = 0;  // repair bytes for each byte of a prompt flow; 0: derived from the loss
  // Limits what repairs cost all sessions that share it; nullptr: the session has a budget of its
  // own. Outlives the session. Its owner renews the budget of a call.
  SharedRepairs* shared = nullptr;
};

struct Config {
  std::uint64_t boot_epoch = 0;  // larger at each start of this gateway (clock, nanoseconds)
  std::uint8_t lane = 0;
  std::uint8_t lane_count = 1;     // number of lanes to the peer, which must have the same number
  bool opens_even_streams = true;  // true in exactly one of the two gateways
  // Capabilities of the relay, which the session offers beside its own (kCapability...).
  std::uint32_t relay_capabilities = 0;
  // nullopt: packets are neither encrypted nor safe from forgery.
  std::optional<Security> security;
  HelloConfig hello;
  DatagramConfig datagram;
  StreamsConfig streams;
  RepairConfig repair;
  // 64 bytes each, allocated once so many are in flight.
  std::uint32_t max_packets_in_flight = 1 << 21;
  FeedbackClock::Config feedback;  // its maximum: at most one RTT once that is known
  ProbeTimer::Config probes;
  Duration initial_rtt = Duration::milliseconds(600);
};

}  // namespace satrelay::stp
