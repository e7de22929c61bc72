// What the workers of a gateway tell each other of a link that they share, and what each has of it
// then. Plain values: they may be kept where other threads read them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/schedule/class_set.h"

namespace satrelay::gateway {

struct ClassRates {
  std::uint32_t weight = 0;  // 0: only what the others leave
  BitRate guaranteed = {};   // zero: nothing
  BitRate maximum = {};      // zero: all there is
  friend bool operator==(const ClassRates&, const ClassRates&) = default;
};

// The same at all workers of a gateway, as soon as all have heard what the peers announce.
struct LinkTerms {
  BitRate rate;  // that is paced
  // The worker hears a peer of the link, so that its rate is what the peers say now; not where
  // controllers find it, each its own.
  bool is_heard = false;
  BitRate reports;  // of it, for those of all sessions
  std::array<ClassRates, schedule::kClasses> classes;
};

// Of one worker. Bytes are counted from its start on, as the link counts them.
struct LinkDemand {
  std::uint64_t taken = 0;         // the serial of the share that it has
  schedule::ClassSet waiting = 0;  // have something to send
  schedule::ClassSet hungry = 0;   // of these, those that nothing else than the link holds back
  std::uint64_t sent = 0;
  std::uint64_t booked = 0;   // of it, what the worker's share will not have carried yet
  std::uint64_t reports = 0;  // of it
  std::array<std::uint32_t, schedule::kClasses> hosts{};  // that wait
  std::array<std::uint64_t, schedule::kClasses> sent_of{};
};

struct ClassShare {
  std::uint32_t weight = 0;  // among the classes of this worker
  BitRate expected;          // what the class gets while it waits
  BitRate guaranteed;
  BitRate maximum;  // only if the class has one
};

// The rates of all workers together may be more than the link carries, while its queue is short.
// So they hold for a short time. Who has no newer share by then falls back: to its part of the
// link, of the reports' rate, of each maximum and of the limits of peers.
struct LinkShare {
  std::uint64_t serial = 0;    // counts the divisions
  Instant until;               // the share expires
  std::uint32_t fallback = 0;  // of kWholeLink; those of all workers are no more than that
  BitRate rate;
  BitRate reports;
  schedule::ClassSet set = 0;  // the classes that are in the next
  std::array<ClassShare, schedule::kClasses> classes;
};

// Of one lane to a peer.
struct LaneDemand {
  BitRate limit;  // of the peer, over all its lanes; zero: the link's rate
  bool waits = false;
  bool hungry = false;  // nothing else than this limit holds it back
  std::uint32_t hosts = 0;
  std::uint64_t sent = 0;
};

// All that one worker says, and gets.
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
  std::vector<LinkTerms> terms;
  std::vector<LinkDemand> links;
  std::vector<LaneDemand> lanes;  // by session
};
struct Shares {
  Shares(std::size_t link_count, std::size_t lane_count) : links(link_count), lanes(lane_count) {}
  std::vector<LinkShare> links;
  std::vector<BitRate> lanes;  // by session; zero: no limit of its own
};

}  // namespace satrelay::gateway
