// The settings of a session. Parts of a session have settings of their own, which are members here.
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

// Sizes of UDP payloads in bytes.
struct DatagramConfig {
  std::uint16_t size = 1472;  // largest datagram: `stp.mtu` minus the IP and UDP headers
  std::uint16_t base = 1172;  // nearly every path carries this size: IP packets of 1200 bytes
  // Every IPv4 host accepts this size: IP packets of 576 bytes (IPv6: 1200).
  std::uint16_t floor = 548;
  // Whether the path is known to carry datagrams of `size`. If not, the session searches for the
  // path MTU (docs/stp.md section 13).
  bool path_mtu_known = true;
  // Size of the IP and UDP headers in bytes. The pacer and the budget of reports count these bytes.
  std::uint16_t overhead = 28;
};

struct HelloConfig {
  Duration interval = Duration::seconds(1);
  HandshakeBudgets budgets = {};  // must outlive the session
  // Limits the cost of HELLOs, by peer, for all sessions that share it. If nullptr, the session has
  // its own budget. Must outlive the session.
  HelloBudget* shared = nullptr;
  std::uint32_t peer = 0;  // number of the peer in `shared`, the same for all its lanes
};

struct RepairConfig {
  FecMode mode = FecMode::kAuto;
  // Number of repair bytes for each byte of a prompt flow (`delivery: prompt`). 0 means that the
  // number is calculated from the loss.
  double prompt_share = 0;
  // Limits the cost of repairs for all sessions that share it. If nullptr, the session has its own
  // budget. Must outlive the session. The owner of `shared` renews its budget before each call of
  // the engine.
  SharedRepairs* shared = nullptr;
};

struct Config {
  std::uint64_t boot_epoch = 0;  // increases with each start of this gateway (clock in nanoseconds)
  std::uint8_t lane = 0;
  std::uint8_t lane_count = 1;     // number of lanes to the peer, the same at both ends
  bool opens_even_streams = true;  // must be true in exactly one of the two gateways
  // Capabilities of the relay, offered in addition to those of the session (kCapability...).
  std::uint32_t relay_capabilities = 0;
  // If nullopt, packets are neither encrypted nor protected against forgery.
  std::optional<Security> security;
  HelloConfig hello;
  DatagramConfig datagram;
  StreamsConfig streams;
  RepairConfig repair;
  // The record of a packet takes 64 bytes. Memory grows with the packets in flight.
  std::uint32_t max_packets_in_flight = 1 << 21;
  FeedbackClock::Config feedback;  // when the RTT is known, `maximum` is limited to one RTT
  ProbeTimer::Config probes;
  Duration initial_rtt = Duration::milliseconds(600);
};

}  // namespace satrelay::stp
