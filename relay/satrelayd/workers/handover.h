// Passes frames from one worker of a gateway to another: frames that one worker has received for
// the other, or that the other worker must send. Each ordered pair of workers has a bounded ring,
// which one thread writes and one thread reads.
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
    kFrame,  // a frame that the port received, for the worker that owns it
    // A copy of a received frame. Another worker owns the frame, and the worker that gets the copy
    // only learns addresses from it.
    kHeard,
    kSend,  // A frame to send by the port. The worker that gives it has no queue of that port.
  };
  struct Item {
    What what{};
    gateway::PortId port{};
    dpdk::Packet packet{};
    // For kFrame, the earliest time at which the frame may have arrived. For kSend, the time of
    // give().
    Instant since{};
  };
  static constexpr std::size_t kRoom = 1023;  // packets in each ring
  // A ring with more packets than this takes no kHeard items, so that a storm of such frames does
  // not displace other frames.
  static constexpr std::size_t kRoomToHear = 512;

  // `name` must be short and unique. The EAL must be running. Throws std::runtime_error.
  Handover(const std::string& name, unsigned workers);
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  unsigned workers() const { return workers_; }

  // --- the thread of worker `from` -------------------------------------------------------------
  // True if there is room for a kHeard item.
  bool hears(unsigned from, unsigned to) { return ring(from, to).room() > kRoom - kRoomToHear; }
  // Returns false if the ring is full. `item` then still has the packet.
  bool give(unsigned from, unsigned to, Item& item);
  // Counts a packet for worker `to` that worker `from` received, but lost.
  void note_lost(unsigned from, unsigned to) {
    lost_[from * workers_ + to].fetch_add(1, std::memory_order_relaxed);
  }
  // Sets the number of frames that the WAN port has missed so far in the queue of worker `from`.
  void note_missed(unsigned from, std::uint64_t missed) {
    missed_[from].store(missed, std::memory_order_relaxed);
  }
  // Records that frames were sent late through the WAN port. Worker `giver` gave them at
  // `since` or later, and they were sent at `now`. Only the thread that sends for other workers
  // calls this. Until the giver calls take_late(), a further call only changes `now`.
  void note_late(unsigned giver, Instant since, Instant now);
  // Wakes worker `to` if it rests, so that it takes the packets now. Call this after one or more
  // calls of give().
  void wake(unsigned to);

  // Returns the delay that note_late() has recorded for `giver` since the previous call, if any.
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
  // Returns a descriptor for poll(2). wake() makes it readable.
  int descriptor(unsigned to) const { return bells_[to].descriptor; }
  // Rearms wake(), so that its next call wakes the worker again. Call this before take(), and
  // before all other work that wake() announces. Otherwise, work that arrives after take() but
  // before this call would not wake the worker. `rested` is true if the worker has just rested.
  void answer_bell(unsigned to, bool rested);
  // Takes up to kBurst items that worker `from` gave. Returns their number.
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
    std::atomic<std::int64_t> since = 0, now = 0;  // times in ns
    std::atomic<std::int64_t> told = 0;  // value of `now` that the giver's last take_late() saw
  };

  unsigned workers_;
  std::vector<std::atomic<std::uint64_t>> lost_;    // indexed by pair, as rings_
  std::vector<std::atomic<std::uint64_t>> missed_;  // indexed by worker
  std::vector<LateNote> late_;                      // indexed by worker
  // Indexed by pair; null from a worker to itself.
  std::vector<std::unique_ptr<dpdk::PacketRing>> rings_;
  std::unique_ptr<Bell[]> bells_;
};

}  // namespace satrelay::satrelayd
