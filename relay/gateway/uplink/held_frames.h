// Bridged frames that wait for their turn on the carrier, by class, host and flow. The caller of
// the engine keeps the frames themselves, each in the slot that this class assigns.
//
// Hosts share their class equally, and flows share their host equally. Each host and each flow has
// a tag, as in start-time fair queueing (pep/schedule/fair_tags.h). The tag says how much the host
// or flow has been served, on the clock of its class or of its host. If the tag is behind that
// clock, or hardly ahead of it, the host or flow sends less than its share, and goes first: its
// frames are sent before the frames of the other hosts or flows, which take turns
// (pep/schedule/fair_turns.h). A tag is kept until the clock has passed it, so a pause gives no
// advantage.
//
// CoDel's law drops frames (pep/schedule/codel.h), for each flow separately. While a class is
// crowded, each new frame makes the host with the most frames in the class lose a frame.
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
    std::uint64_t lead = 0;  // lead() of the class before the frame was removed
  };
  enum class Cause : std::uint8_t { kCrowded, kLate };
  struct Dropped {
    Slot slot = 0;
    schedule::ClassId traffic_class = 0;
    Cause cause = Cause::kCrowded;
  };
  // How long frames of a class may wait, and how many bytes the link adds to the IP bytes of each
  // frame.
  struct Terms {
    schedule::Codel::Terms law;
    // The longest wait. It does not apply while at most `few` bytes wait in the class.
    Duration most;
    ByteCount few;
    std::uint32_t overhead = 0;
  };
  // Hosts that go first leave an eighth of their class to its other hosts. Flows that go first
  // leave an eighth of their host to its other flows.
  static constexpr schedule::CappedShare::Permille kFirstShare = 875;

  // Slots are numbered from 0 to most_frames - 1; there are at most 65534. `clocks`: the number of
  // carriers that advance the clocks.
  explicit HeldFrames(std::size_t most_frames, std::size_t clocks = 1);
  HeldFrames(const HeldFrames&) = delete;
  HeldFrames& operator=(const HeldFrames&) = delete;

  // Call this before the first frame. `shares`: all queues in which the same hosts may wait; it
  // must outlive this object.
  void share_with(schedule::HostShares& shares) { shares_ = &shares; }

  // Returns the slot for the frame; nullopt if there is no room.
  std::optional<Slot> push(const HeldKey& key, std::uint16_t ip_bytes, Instant now);
  // Removes and returns the next frame of the class; nullopt if all waiting frames were late.
  std::optional<Frame> pop(schedule::ClassId traffic_class, const Terms& terms, Instant now);
  // Returns a frame that was dropped after push(). Its slot is free from now on.
  std::optional<Dropped> take_dropped();
  bool any_dropped() const { return !dropped_.empty(); }

  // --- together with other sources of the class, in units of FairTags::kUnit
  // How far the host of the class's next frame is ahead of the clock of the class; 0 means that the
  // host is served at once.
  std::uint64_t lead(schedule::ClassId traffic_class) const;
  // A carrier has served other sources of the class, so that their virtual time has advanced by
  // `units`.
  void pass(schedule::ClassId traffic_class, std::uint64_t units) {
    classes_[traffic_class].clock += units;
  }
  // Call this if no other source of the class waits. The bytes that the class has sent so far are
  // then not charged to its hosts.
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
  // Number of unused bytes of kFirstShare that the hosts or flows that go first may use later.
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
    // While the flow is in kFirst: number of bytes that it may still send before it takes turns.
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
    // Number of its flows.
    std::size_t known = 0;
    // Number of its flows that take turns.
    std::size_t in_turns = 0;
    std::uint64_t tag = 0;  // tag of the host, on the clock of its class
    // The virtual time of its flows, and the largest tag that any of them has had.
    std::uint64_t clock = 0, latest = 0;
    std::int64_t deficit = 0;
    bool is_fresh = true;
    FlowList first;
    schedule::FairTurns<Flow, &Flow::hook> turns;
    schedule::CappedShare first_share{kFirstBurst};
    // Approximately the largest flow: each push() only compares the flow of the new frame with this
    // flow.
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
  // Flows without frames. The first flow is the next to be checked, and perhaps forgotten.
  FlowList resting_;
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet waiting_ = 0;
};

}  // namespace satrelay::gateway
