// Bridged frames that wait for their turn on the carrier, by class, host and flow. The host of the
// engine keeps the frames themselves, each in the slot that is named here.
//
// Within a class hosts share alike, and the flows of a host. Each has a tag, as in start-time fair
// queueing (pep/schedule/fair_tags.h): how far it has been served, on the clock of its class or of
// its host. Who is behind that clock, or hardly ahead of it, sends less than its share, and goes
// before those that take turns (pep/schedule/fair_turns.h), whenever it sends something. A tag is
// kept until the clock has passed it, so that nobody gets more by pausing.
//
// A frame is dropped by CoDel's law (pep/schedule/codel.h), asked for each flow by itself. While
// the frames of a class crowd out others, its fattest host loses one for each that comes.
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

// `host` and `flow` are keyed hashes: what has the same ones shares a turn.
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
    std::uint64_t lead = 0;  // as lead() had it
  };
  enum class Cause : std::uint8_t { kCrowded, kLate };
  struct Dropped {
    Slot slot = 0;
    schedule::ClassId traffic_class = 0;
    Cause cause = Cause::kCrowded;
  };
  // How long frames of a class may wait, and what the link counts for one beyond its IP bytes.
  struct Terms {
    schedule::Codel::Terms law;
    Duration most;  // longer than that nothing waits
    ByteCount few;  // unless no more than so many wait in the class
    std::uint32_t overhead = 0;
  };
  // What goes first leaves the others of its class, or of its host, an eighth.
  static constexpr schedule::CappedShare::Permille kFirstShare = 875;

  // Slots 0 to most_frames - 1, at most 65534. `clocks`: how many carriers move the clocks on.
  explicit HeldFrames(std::size_t most_frames, std::size_t clocks = 1);
  HeldFrames(const HeldFrames&) = delete;
  HeldFrames& operator=(const HeldFrames&) = delete;

  // Before the first frame: the queues in which the same hosts may wait too. Outlives this.
  void share_with(schedule::HostShares& shares) { shares_ = &shares; }

  // Where the frame is to be kept; nullopt if it finds no room.
  std::optional<Slot> push(const HeldKey& key, std::uint16_t ip_bytes, Instant now);
  // The class's next frame, which is there no more; nullopt if all that waited were late.
  std::optional<Frame> pop(schedule::ClassId traffic_class, const Terms& terms, Instant now);
  // A frame that was dropped since it was pushed: its slot is free from now on.
  std::optional<Dropped> take_dropped();
  bool any_dropped() const { return !dropped_.empty(); }

  // --- beside others of the class, in FairTags::kUnit
  // How far the class's next frame stands behind who would be served at once.
  std::uint64_t lead(schedule::ClassId traffic_class) const;
  // A carrier has served others of the class, whose virtual time has moved on by so much.
  void pass(schedule::ClassId traffic_class, std::uint64_t units) {
    classes_[traffic_class].clock += units;
  }
  // Nobody waits for what the class has had so far.
  void forgive(schedule::ClassId traffic_class);

  schedule::ClassSet classes() const { return waiting_; }  // in which frames wait
  // With those that were dropped and not taken yet.
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
  static constexpr std::size_t kFirstBurst = 3'000;  // bytes that it may have left unused
  struct Queued {
    Slot next = kNoSlot;  // of its flow
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
    std::uint64_t tag = 0;     // on the clock of its host, bytes
    std::int64_t deficit = 0;  // or what it may still send first
    bool is_fresh = true;
    Place place = Place::kRests;
    ListHook<Flow> hook;  // of the list of its place
    schedule::Codel codel;
    bool empty() const { return frames == 0; }
  };
  using FlowList = IntrusiveList<Flow, &Flow::hook>;
  struct Host {
    std::uint64_t key = 0;
    Host* chain = nullptr;
    schedule::HostShare* share = nullptr;  // nullptr: waits nowhere else
    schedule::ClassId traffic_class = 0;
    std::size_t frames = 0;
    std::size_t known = 0;                // flows
    std::size_t in_turns = 0;             // of them
    std::uint64_t tag = 0;                // on the clock of its class
    std::uint64_t clock = 0, latest = 0;  // of its flows: their clock, and the furthest tag
    std::int64_t deficit = 0;
    bool is_fresh = true;
    FlowList first;
    schedule::FairTurns<Flow, &Flow::hook> turns;
    schedule::CappedShare first_share{kFirstBurst};
    Flow* fattest = nullptr;  // or it was, when it last got a frame
    ListHook<Host> hook, first_hook;
    bool empty() const { return frames == 0; }
  };
  struct Class {
    std::uint64_t bytes = 0;
    std::size_t frames = 0;
    std::size_t hosts = 0;  // with frames
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
  FlowList resting_;  // flows of which nothing waits, the one that rests longest first
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet waiting_ = 0;
};

}  // namespace satrelay::gateway
