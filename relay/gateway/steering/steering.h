// Finds the worker that must handle a frame (share.h). All frames of a flow, from either port, have
// the same worker: the worker that has the flow's lane. For TCP and UDP, flow_hash() determines the
// worker. For an ICMP error, the packet that it quotes determines the worker. For STP, the
// destination port alone determines the worker (lane_ports.h). A network card may have passed a
// frame to the thread of another worker. This thread then hands the frame over. If there is a
// single worker, it handles every frame.
//
// A fragment is for the worker of its datagram's flow. Only the first fragment shows the ports, so
// its worker is remembered. If other fragments arrive before it, from the LAN, and may be TCP, they
// are kept here until the first fragment arrives. If it does not arrive, they are dropped. For
// other early fragments, the addresses determine the worker. Each receiving thread has its own
// Steering object. All fragments of a datagram reach the same object, since network cards choose
// the queue for fragments by their addresses alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/neighbours/awaited_answers.h"
#include "relay/gateway/port_id.h"

namespace satrelay::gateway {

struct Route {
  unsigned worker = 0;  // the worker that handles the frame
  // Whether all other workers must also learn addresses from the frame (Gateway::overhear()).
  bool all = false;
  // True if the caller must free the frame now: it was dropped, or take_released() may return a
  // copy of it later.
  bool kept = false;
  friend bool operator==(const Route&, const Route&) = default;
};

class Steering {
 public:
  static constexpr std::size_t kMostKept = 128;  // maximum number of kept frames
  // Maximum number of kept frames of one source address. The longest datagram over Ethernet has 45
  // fragments.
  static constexpr std::size_t kMostKeptOfHost = 48;
  // How long a fragment is kept. Fragments of a datagram usually arrive together, and TCP
  // retransmits lost ones after about a second.
  static constexpr Duration kPatience = Duration::seconds(2);

  // If ARP and Neighbour Discovery frames from the LAN arrive at no more than this rate, each
  // worker gets a copy of each of them (Gateway::overhear()). Multicast and unicast frames have
  // separate limits.
  static constexpr unsigned kOverheardPerSecond = 1'000;
  static constexpr unsigned kOverheardAtOnce = 256;

  struct Counters {
    std::uint64_t kept = 0;  // fragments that were kept to wait for their first fragment
    // Early fragments that were dropped.
    std::uint64_t dropped_late = 0;     // dropped since the first fragment did not arrive in time
    std::uint64_t dropped_no_room = 0;  // dropped since too many other fragments waited
    // ARP and Neighbour Discovery frames from the LAN that only one worker got, due to
    // kOverheardPerSecond.
    std::uint64_t not_overheard = 0;
  };

  // If a worker waits for an answer, all workers get the answer even above kOverheardPerSecond, but
  // only once in this interval.
  static constexpr Duration kBetweenAnswers = Duration::milliseconds(50);

  // For config.worker.count workers. `secret`: the key of the tables' hashes. `awaited`: the ARP
  // replies and neighbour advertisements for which workers wait; nullptr if the workers never wait
  // for any.
  Steering(const config::Gateway& config, HashKey secret,
           std::shared_ptr<const AwaitedAnswers> awaited = nullptr);

  Route route(PortId port, ConstBytes frame, Instant now);
  Route route(PortId port, const Frame& frame, ConstBytes bytes, Instant now);

  // A kept fragment. Its datagram has a worker now. Call take_released() after route() until it
  // returns nullopt, and handle these frames before the frame that was passed to route(). They are
  // in the order of their arrival.
  struct Released {
    unsigned worker = 0;
    ConstBytes frame;  // valid until the next call of route()
  };
  std::optional<Released> take_released();

  const Counters& counters() const { return counters_; }
  std::size_t kept() const { return waiting_.size(); }

 private:
  // A datagram. The table is direct-mapped: a later datagram of the same host replaces an earlier
  // one.
  struct Datagram {
    std::uint64_t key = 0;  // 0 if the entry is free
    Instant until;
    unsigned worker = 0;
  };
  struct Kept {
    std::uint64_t key = 0;  // key of its datagram; 0 if the entry is free
    IpAddress source;
    Instant until;
    std::vector<std::byte> bytes;
  };
  // Hosts with the same hash share their entries.
  static constexpr std::size_t kHosts = 128;
  static constexpr std::size_t kDatagramsOfHost = 16;
  static constexpr std::size_t kAnswers = 256;

  unsigned worker_of(std::uint32_t hash) const { return hash & (workers_ - 1); }
  unsigned by_addresses(const Frame& frame) const;
  // Call this only if the payload begins with the ports of TCP or UDP.
  unsigned by_ports(const Frame& frame) const;
  std::optional<unsigned> by_lane(std::uint16_t port) const;
  Route route_icmp(PortId port, const Frame& frame, Instant now);
  bool may_be_overheard(PortId port, const Frame& frame, Instant now);
  bool is_awaited(const Frame& frame, Instant now);
  Route route_fragment(PortId port, const Frame& frame, ConstBytes bytes, Instant now);
  std::uint64_t key_of(const Frame& fragment) const;
  Datagram& place_of(const Frame& fragment, std::uint64_t key);
  Route keep(std::uint64_t key, const Frame& fragment, ConstBytes bytes, Instant now);
  void release(std::uint64_t key, unsigned worker);
  void expire(Instant now);

  const unsigned workers_;
  const IpAddress own_;
  const std::uint16_t stp_port_;
  const HashKey secret_;
  const std::size_t most_frame_size_;
  // For multicast and for unicast frames: the time until which earlier frames have used up
  // kOverheardPerSecond.
  std::array<Instant, 2> overheard_until_{};
  std::shared_ptr<const AwaitedAnswers> awaited_;
  // Indexed by the number of an awaited answer: when the answer may next exceed
  // kOverheardPerSecond.
  std::array<Instant, kAnswers> next_answer_{};
  std::vector<Datagram> datagrams_;   // empty with one worker
  std::vector<Kept> kept_;            // empty with one worker
  std::vector<std::size_t> waiting_;  // indices in kept_, in order of arrival
  // Indices in kept_ of released frames, which are all for the same worker.
  std::vector<std::size_t> released_;
  std::size_t released_taken_ = 0;
  unsigned released_to_ = 0;
  Counters counters_;
};

}  // namespace satrelay::gateway
