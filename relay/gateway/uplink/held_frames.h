// Bridged frames that wait for their turn on the carrier, by class, host and flow. The host of the
// engine keeps the frames themselves, each in the slot that is named here.
//
// Within a class hosts take turns, and the flows of a host. A flow may have no more waiting than
// the room that is left, its host twice as much, and a flow of which nothing waits yet finds room
// until its host has four times as much (after Choudhury and Hahne, "Dynamic queue length
// thresholds", IEEE/ACM ToN 1998): one flow alone gets half of all, and who comes later finds room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/keyed_pool.h"
#include "pep/base/units.h"
#include "pep/schedule/class_set.h"
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
    std::uint32_t factor = 1;  // how often its bytes are to be booked
  };

  // Slots 0 to most_frames - 1, at most 65535.
  explicit HeldFrames(std::size_t most_frames);
  HeldFrames(const HeldFrames&) = delete;
  HeldFrames& operator=(const HeldFrames&) = delete;

  // Before the first frame: the queues in which the same hosts may wait too. Outlives this.
  void share_with(schedule::HostShares& shares) { shares_ = &shares; }

  // Where the frame is to be kept; nullopt if it finds no room. `limit`: of the class, in bytes.
  std::optional<Slot> push(const HeldKey& key, std::uint16_t ip_bytes, ByteCount limit);
  // The class's next frame, which is there no more.
  Frame pop(schedule::ClassId traffic_class);

  schedule::ClassSet classes() const { return waiting_; }  // in which frames wait
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
  struct Queued {
    Slot next = kNoSlot;  // of its flow
    std::uint16_t ip_bytes = 0;
  };
  struct Host;
  struct Flow {
    std::uint64_t key = 0;
    Flow* chain = nullptr;
    Host* host = nullptr;
    Slot first = kNoSlot, last = kNoSlot;
    std::uint64_t bytes = 0;
    std::int64_t deficit = 0;
    bool is_fresh = true;
    ListHook<Flow> hook;
    bool empty() const { return first == kNoSlot; }
  };
  struct Host {
    std::uint64_t key = 0;
    Host* chain = nullptr;
    schedule::HostShare* share = nullptr;  // nullptr: waits nowhere else
    std::uint64_t bytes = 0;
    std::size_t frames = 0;
    std::int64_t deficit = 0;
    bool is_fresh = true;
    schedule::FairTurns<Flow, &Flow::hook> flows;
    ListHook<Host> hook;
    bool empty() const { return frames == 0; }
  };
  struct Class {
    std::uint64_t bytes = 0;
    std::size_t frames = 0;
    std::size_t hosts = 0;  // with frames
    schedule::FairTurns<Host, &Host::hook> turns;
  };
  void forget(Host& host);

  schedule::HostShares* shares_ = nullptr;
  std::vector<Queued> slots_;
  std::vector<Slot> free_;
  // Those that have nothing any more stay until their turn comes, and so are more than there are
  // frames. Should they take all places, newcomers find none until it has.
  KeyedPool<Host> hosts_;
  KeyedPool<Flow> flows_;
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet waiting_ = 0;
};

}  // namespace satrelay::gateway
