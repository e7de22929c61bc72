// What the workers of a gateway give each other: frames that one of them has received, or is to
// send, for another one. A bounded ring for each pair, of which one thread writes and one reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/time.h"
#include "relay/dpdk/device/packet.h"
#include "relay/dpdk/device/packet_ring.h"
#include "relay/gateway/port_id.h"

namespace satrelay::satrelayd {

class Handover {
 public:
  enum class What : std::uint8_t {
    kFrame,  // has come from the port
    kHeard,  // has come from it for somebody else: to be overheard
    kSend,   // leaves by the port, of which the other worker has no queue
  };
  struct Item {
    What what{};
    gateway::PortId port{};
    dpdk::Packet packet{};
    Instant since{};  // kFrame: the earliest that it may have come; kSend: it was given
  };
  static constexpr std::size_t kRoom = 1023;  // for each pair
  // Beyond so many nothing is added that is only to be overheard: a storm of that must not keep
  // away what is for the other one.
  static constexpr std::size_t kRoomToHear = 512;

  // `name`: short, another one for each. Throws std::runtime_error. Needs a running Eal.
  Handover(const std::string& name, unsigned workers);
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  unsigned workers() const { return workers_; }

  // --- the thread of worker `from` -------------------------------------------------------------
  // Whether there is room for what is only to be heard.
  bool hears(unsigned from, unsigned to) { return ring(from, to).room() > kRoom - kRoomToHear; }
  // False if there is no room: then the packet is still `item`'s.
  bool give(unsigned from, unsigned to, Item& item);
  // Of what is for `to`, one packet more was lost by `from`.
  void note_lost(unsigned from, unsigned to) {
    lost_[from * workers_ + to].fetch_add(1, std::memory_order_relaxed);
  }
  // What the WAN port has missed in the queue of `from`, monotonic.
  void note_missed(unsigned from, std::uint64_t missed) {
    missed_[from].store(missed, std::memory_order_relaxed);
  }
  // What `giver` gave for the WAN port at `since` or later has left by `now` only. One thread: that
  // which sends for others. Until the giver has asked, what follows adds to the same note.
  void note_late(unsigned giver, Instant since, Instant now);
  // After one or more give(): `to` looks at it now, even if it rests.
  void wake(unsigned to);

  // What was noted so, of worker `giver`, if it was since the last time that it asked.
  struct Late {
    Instant since, now;
  };
  std::optional<Late> take_late(unsigned giver);

  // --- the thread of worker `to` ----------------------------------------------------------------
  std::uint64_t lost(unsigned from, unsigned to) const {
    return lost_[from * workers_ + to].load(std::memory_order_relaxed);
  }
  std::uint64_t missed(unsigned from) const {
    return missed_[from].load(std::memory_order_relaxed);
  }
  // Becomes readable by wake(), for poll(2).
  int descriptor(unsigned to) const { return bells_[to].descriptor; }
  // Before take(), and before whatever else wake() is for is looked at: what comes from here on
  // wakes anew. `rested`: the worker has just done so.
  void answer_bell(unsigned to, bool rested);
  // The next ones of `from`, so many at most; how many.
  static constexpr std::size_t kBurst = dpdk::PacketRing::kBurst;
  std::size_t take(unsigned to, unsigned from, std::array<Item, kBurst>& items);

 private:
  struct Bell {
    Bell();
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;
    ~Bell();
    int descriptor;
    std::atomic<bool> rung = false;
  };
  dpdk::PacketRing& ring(unsigned from, unsigned to) { return *rings_[from * workers_ + to]; }

  struct LateNote {
    std::atomic<std::int64_t> since = 0, now = 0;  // ns
    std::atomic<std::int64_t> told = 0;            // `now` as the giver has last seen it
  };

  unsigned workers_;
  std::vector<std::atomic<std::uint64_t>> lost_;          // as rings_
  std::vector<std::atomic<std::uint64_t>> missed_;        // by worker
  std::vector<LateNote> late_;                            // by worker
  std::vector<std::unique_ptr<dpdk::PacketRing>> rings_;  // none from a worker to itself
  std::unique_ptr<Bell[]> bells_;
};

}  // namespace satrelay::satrelayd
