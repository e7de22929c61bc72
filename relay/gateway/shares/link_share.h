// The demands of a gateway's workers on a link that they share, and the share of each. These are
// plain values, which may be kept where other threads read them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/typed_id.h"
#include "pep/base/units.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

struct ClassRates {
  // 0: gets only what the other classes leave.
  std::uint32_t weight = 0;
  BitRate guaranteed = {};  // zero: none
  BitRate maximum = {};     // zero: no maximum
  friend bool operator==(const ClassRates&, const ClassRates&) = default;
};

// The same at all workers of a gateway, once all know what the peers announce.
struct LinkTerms {
  BitRate rate;  // the paced rate
  // True if a session of the worker with a peer on the link is up, so that `rate` is what the peers
  // announce now. False on links where each worker's controller finds the rate.
  bool is_heard = false;
  // The part of it for reports of all sessions.
  BitRate reports;
  std::array<ClassRates, schedule::kClasses> classes;
};

// The demand of one worker. Bytes are counted since its start, as the link counts them.
struct LinkDemand {
  std::uint64_t taken = 0;         // serial of its present share
  schedule::ClassSet waiting = 0;  // classes that have something to send
  // The classes in `waiting` that only the link holds back.
  schedule::ClassSet hungry = 0;
  std::uint64_t sent = 0;
  // The part of `sent` that the worker's share will not have carried yet.
  std::uint64_t booked = 0;
  // The part of `sent` that is reports.
  std::uint64_t reports = 0;
  std::array<std::uint32_t, schedule::kClasses> hosts{};  // hosts that wait
  std::array<std::uint64_t, schedule::kClasses> sent_of{};
};

struct ClassShare {
  std::uint32_t weight = 0;  // among the classes of this worker
  BitRate expected;          // the class's rate while it waits
  BitRate guaranteed;
  // Only if the class has one.
  BitRate maximum;
};

// The rates of all workers together may exceed the rate of the link while its queue is short. So
// they hold for a short time. A worker without a newer share by then falls back to its part of the
// link, of the reports' rate, of each maximum and of the limits of peers.
struct LinkShare {
  std::uint64_t serial = 0;  // number of the division
  Instant until;             // when the share expires
  // Part of kWholeLink. The parts of all workers sum to no more than that.
  std::uint32_t fallback = 0;
  BitRate rate;
  BitRate reports;
  schedule::ClassSet set = 0;  // the classes that `classes` has values for
  std::array<ClassShare, schedule::kClasses> classes;
};

// The demand of one lane to a peer.
struct LaneDemand {
  // The peer's limit, over all its lanes; zero: the link's rate.
  BitRate limit;
  bool waits = false;
  bool hungry = false;  // only this limit holds it back
  std::uint32_t hosts = 0;
  std::uint64_t sent = 0;
};

// All demands of one worker, and all its shares.
struct Demands {
  Demands(std::size_t link_count, std::size_t lane_count)
      : terms(link_count), links(link_count), lanes(lane_count) {}
  // Nothing waits any more.
  void rest() {
    for (LinkDemand& link : links) {
      link.waiting = link.hungry = 0;
      link.hosts = {};
    }
    for (LaneDemand& lane : lanes) {
      lane.waits = lane.hungry = false;
      lane.hosts = 0;
    }
  }
  IdVector<LinkId, LinkTerms> terms;
  IdVector<LinkId, LinkDemand> links;
  IdVector<LaneId, LaneDemand> lanes;
};
struct Shares {
  Shares(std::size_t link_count, std::size_t lane_count) : links(link_count), lanes(lane_count) {}
  IdVector<LinkId, LinkShare> links;
  IdVector<LaneId, BitRate> lanes;  // zero: no limit of its own
};

}  // namespace satrelay::gateway
