// Queues of bridged frames that wait for the carrier, by class of traffic, host and flow. The
// caller of the engine keeps the frames themselves, in slots with the numbers that push() returns.
//
// The hosts of a class get equal shares, and so do the flows of a host. As in start-time fair
// queueing (pep/schedule/fair_tags.h), a tag counts what a host has sent, and the class has a clock
// (virtual time). If the tag is behind the clock, or hardly ahead of it, the host sends less than
// its share. Then it goes first: its frames precede the frames of the other hosts, which take turns
// (pep/schedule/fair_turns.h). A tag is kept until the clock has passed it, so a pause gives no
// advantage. The flows of a host have tags on the clock of the host in the same way.
//
// CoDel drops frames of each flow separately (pep/schedule/codel.h). If a new frame arrives while
// its class is crowded, a frame of the host with the most frames is dropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/containers/intrusive_list.h"
#include "pep/base/containers/keyed_pool.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/schedule/capped_share.h"
#include "pep/schedule/class_set.h"
#include "pep/schedule/codel.h"
#include "pep/schedule/fair_turns.h"
#include "pep/schedule/host_share.h"

namespace satrelay::gateway {

// `host` and `flow` are keyed hashes. Frames with equal hashes count as frames of the same host or
// flow.
struct HeldKey {
  schedule::ClassId traffic_class = 0;
  std::uint64_t host = 0;
  std::uint64_t flow = 0;
};

class HeldFrames {
 public:
  using Slot = std::uint16_t;
  struct Frame {
    Slot slot = 0;
    std::uint16_t ip_bytes = 0;
    Duration waited;
    std::uint64_t lead = 0;  // value of lead() before the frame was removed
  };
  enum class Cause : std::uint8_t { kCrowded, kLate };
  struct Dropped {
    Slot slot = 0;
    schedule::ClassId traffic_class = 0;
    Cause cause = Cause::kCrowded;
  };
  // Limits for the wait of frames of a class. `overhead`: number of bytes that the link adds to the
  // IP bytes of each frame.
  struct Terms {
    schedule::Codel::Terms law;
    // The maximum wait, which applies only if more than `few` bytes wait in the class.
    Duration most;
    ByteCount few;
    std::uint32_t overhead = 0;
  };
  // Hosts that go first get at most this share of their class while other hosts wait. Flows that go
  // first get at most this share of their host while other flows wait.
  static constexpr schedule::CappedShare::Permille kFirstShare = 875;

  // Slots are numbered from 0 to most_frames - 1. `most_frames` is at most 65534. `clocks`: number
  // of carriers, each of which advances the clocks.
  explicit HeldFrames(std::size_t most_frames, std::size_t clocks = 1);
  HeldFrames(const HeldFrames&) = delete;
  HeldFrames& operator=(const HeldFrames&) = delete;

  // `shares` counts the queues in which each host waits, and must outlive this object. Call this
  // before the first frame.
  void share_with(schedule::HostShares& shares) { shares_ = &shares; }

  // Returns the slot for the frame; nullopt if there is no room.
  std::optional<Slot> push(const HeldKey& key, std::uint16_t ip_bytes, Instant now);
  // Removes and returns the next frame of the class; nullopt if all waiting frames were late.
  std::optional<Frame> pop(schedule::ClassId traffic_class, const Terms& terms, Instant now);
  // Returns a frame that was dropped after push(), and frees its slot.
  std::optional<Dropped> take_dropped();
  bool any_dropped() const { return !dropped_.empty(); }

  // --- together with other sources of the class, in units of FairTags::kUnit
  // How far the next host of the class is ahead of the clock of the class; 0 means that the host is
  // served at once.
  std::uint64_t lead(schedule::ClassId traffic_class) const;
  // Call this when a carrier has served other sources of the class, and their virtual time has
  // advanced by `units`.
  void pass(schedule::ClassId traffic_class, std::uint64_t units) {
    classes_[traffic_class].clock += units;
  }
  // Call this if no other source of the class waits. The bytes that the hosts have sent so far then
  // no longer count against them.
  void forgive(schedule::ClassId traffic_class);

  schedule::ClassSet classes() const { return waiting_; }  // classes in which frames wait
  // Number of slots in use. Includes the slots of dropped frames that take_dropped() has not
  // returned yet.
  std::size_t frames() const { return slots_.size() - free_.size(); }
  std::size_t frames(schedule::ClassId traffic_class) const {
    return classes_[traffic_class].frames;
  }
  std::uint64_t bytes(schedule::ClassId traffic_class) const {
    return classes_[traffic_class].bytes;
  }
  std::size_t hosts(schedule::ClassId traffic_class) const { return classes_[traffic_class].hosts; }

 private:
  static constexpr Slot kNoSlot = 0xFFFF;
  // If hosts or flows that go first do not use kFirstShare, they may use up to this number of bytes
  // later.
  static constexpr std::size_t kFirstBurst = 3'000;
  struct Queued {
    Slot next = kNoSlot;  // next frame of the same flow
    std::uint16_t ip_bytes = 0;
    Instant since;
  };
  struct Host;
  struct Flow {
    enum class Place : std::uint8_t { kFirst, kTurns, kRests };
    std::uint64_t key = 0;
    Flow* chain = nullptr;
    Host* host = nullptr;
    Slot first = kNoSlot, last = kNoSlot;
    std::uint32_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t tag = 0;  // tag of the flow in bytes, on the clock of its host
    // In kFirst: number of bytes that the flow may send before it must take turns.
    std::int64_t deficit = 0;
    bool is_fresh = true;
    Place place = Place::kRests;
    ListHook<Flow> hook;  // links the flow in the list that `place` names
    schedule::Codel codel;
    bool empty() const { return frames == 0; }
  };
  using FlowList = IntrusiveList<Flow, &Flow::hook>;
  struct Host {
    std::uint64_t key = 0;
    Host* chain = nullptr;
    schedule::HostShare* share = nullptr;  // nullptr if the host cannot wait in other queues
    schedule::ClassId traffic_class = 0;
    std::size_t frames = 0;
    // Number of flows of this host.
    std::size_t known = 0;
    // Number of flows of this host that take turns.
    std::size_t in_turns = 0;
    std::uint64_t tag = 0;  // tag of the host, on the clock of its class
    // The virtual time of the flows, and the largest tag that any flow of this host has had.
    std::uint64_t clock = 0, latest = 0;
    std::int64_t deficit = 0;
    bool is_fresh = true;
    FlowList first;
    schedule::FairTurns<Flow, &Flow::hook> turns;
    schedule::CappedShare first_share{kFirstBurst};
    // Approximately the flow with the most frames. It is only updated by push(), which compares the
    // flow of the new frame with it.
    Flow* fattest = nullptr;
    ListHook<Host> hook, first_hook;
    bool empty() const { return frames == 0; }
  };
  struct Class {
    std::uint64_t bytes = 0;
    std::size_t frames = 0;
    std::size_t hosts = 0;  // number of hosts with frames
    std::uint64_t clock = 0, latest = 0;
    IntrusiveList<Host, &Host::first_hook> first;
    schedule::FairTurns<Host, &Host::hook> turns;
    schedule::CappedShare first_share{kFirstBurst};
    Host* fattest = nullptr;
  };

  Class& class_of(const Host& host) { return classes_[host.traffic_class]; }
  const Class& class_of(const Host& host) const { return classes_[host.traffic_class]; }
  static bool goes_first(const Class& c);
  static std::int64_t lead(const Flow& flow);
  std::uint64_t lead(const Host& host) const;
  Host& host_of(const HeldKey& key);
  Flow& flow_of(const HeldKey& key);
  bool make_room(const HeldKey& key);
  Slot take_head(Flow& flow);
  void drop_head(Flow& flow, Cause cause);
  void place(Flow& flow, Flow::Place place);
  void place(Host& host);
  void settle(Flow& flow);
  void charge(Flow& flow, std::uint64_t bytes, bool host_goes_first);
  static Flow& next_flow(Host& host);
  bool is_late(Flow& flow, const Terms& terms, Instant now) const;
  bool is_over(const Flow& flow) const;
  void forget_some();
  void forget(Flow& flow);

  schedule::HostShares* shares_ = nullptr;
  std::uint64_t clocks_;
  std::vector<Queued> slots_;
  std::vector<Slot> free_;
  std::vector<Dropped> dropped_;
  KeyedPool<Host> hosts_;
  KeyedPool<Flow> flows_;
  // Flows without frames. forget_some() checks the first ones, and forgets those that need no tag.
  FlowList resting_;
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet waiting_ = 0;
};

}  // namespace satrelay::gateway
