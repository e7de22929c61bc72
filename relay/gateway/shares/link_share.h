// The demands of a gateway's workers on a link that they share, and the share of each worker. These
// are plain values, so that other threads can read copies of them.
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
  // Weight of the class. 0 means that the class gets only the rate that the other classes leave.
  std::uint32_t weight = 0;
  BitRate guaranteed = {};  // zero if no rate is guaranteed
  BitRate maximum = {};     // zero if there is no maximum
  friend bool operator==(const ClassRates&, const ClassRates&) = default;
};

// The rates of a link and of the classes on it. They are the same at all workers of a gateway if
// all of them have received the rate that the peers announce.
struct LinkTerms {
  BitRate rate;  // paced rate of the link
  // True if this worker has a live session with a peer on the link, so that `rate` is up to date.
  // False if controllers find the rate of the link.
  bool is_heard = false;
  // The part of `rate` that the STP reports of all sessions may use.
  BitRate reports;
  std::array<ClassRates, schedule::kClasses> classes;
};

// The demand of one worker. Bytes are counted since the worker's start, with the overhead of the
// link.
struct LinkDemand {
  std::uint64_t taken = 0;         // serial of the share that the worker has last taken over
  schedule::ClassSet waiting = 0;  // classes that have something to send
  // The classes in `waiting` that could send if the link had a higher rate.
  schedule::ClassSet hungry = 0;
  std::uint64_t sent = 0;
  // The part of `sent` that would still be in the link's queue if the link had only the rate of
  // this worker's share (Pacer::booked()).
  std::uint64_t booked = 0;
  // The part of `sent` that is STP reports.
  std::uint64_t reports = 0;
  std::array<std::uint32_t, schedule::kClasses> hosts{};  // number of hosts that wait in each class
  std::array<std::uint64_t, schedule::kClasses> sent_of{};
};

struct ClassShare {
  std::uint32_t weight = 0;  // weight among the classes of this worker
  BitRate expected;          // the class's rate while it has something to send
  BitRate guaranteed;
  // Has a value only if the class has a maximum.
  BitRate maximum;
};

// The share of one worker. While the queue of the link is short, the shares of all workers together
// may exceed the rate of the link. So a share is valid only for a short time. If the share has
// expired and there is no newer one, the worker uses its fallback: a part of each rate, which does
// not expire.
struct LinkShare {
  std::uint64_t serial = 0;  // number of the division that has made this share
  Instant until;             // when the share expires
  // The part of the link that the worker uses when this share has expired, in units of 1 /
  // kWholeLink. The parts of all workers add up to at most kWholeLink.
  std::uint32_t fallback = 0;
  BitRate rate;
  BitRate reports;
  schedule::ClassSet set = 0;  // the classes that have values in `classes`
  std::array<ClassShare, schedule::kClasses> classes;
};

// The demand of one lane to a peer.
struct LaneDemand {
  // The peer's limit for all its lanes together; zero if only the link's rate limits the peer.
  BitRate limit;
  bool waits = false;
  bool hungry = false;  // whether the lane could send if `limit` were higher
  std::uint32_t hosts = 0;
  std::uint64_t sent = 0;
};

// All demands of one worker, and all its shares.
struct Demands {
  Demands(std::size_t link_count, std::size_t lane_count)
      : terms(link_count), links(link_count), lanes(lane_count) {}
  // Call this when nothing waits any more. Clears everything except the terms and the counts of
  // bytes.
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
  IdVector<LaneId, BitRate> lanes;  // limit of each lane; zero if it has none
};

}  // namespace satrelay::gateway
