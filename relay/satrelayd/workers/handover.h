// Passes frames from one worker of a gateway to another: frames that one has received for the
// other, or that one must send for the other. Each ordered pair of workers has a bounded ring,
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
    kFrame,  // received by the port
    kHeard,  // received by the port; another worker owns it, the taking worker only overhears
    kSend,   // to be sent by the port, of which the giving worker has no queue
  };
  struct Item {
    What what{};
    gateway::PortId port{};
    dpdk::Packet packet{};
    Instant since{};  // kFrame: earliest possible arrival; kSend: time of give()
  };
  static constexpr std::size_t kRoom = 1023;  // packets in each ring
  // A ring with more packets takes no frames to be overheard: a storm of such frames must not
  // displace the other frames.
  static constexpr std::size_t kRoomToHear = 512;

  // `name`: short and unique. Throws std::runtime_error. Needs a running Eal.
  Handover(const std::string& name, unsigned workers);
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  unsigned workers() const { return workers_; }

  // --- the thread of worker `from` -------------------------------------------------------------
  // True if there is room for a frame to be overheard.
  bool hears(unsigned from, unsigned to) { return ring(from, to).room() > kRoom - kRoomToHear; }
  // Returns false if the ring is full; `item` then keeps the packet.
  bool give(unsigned from, unsigned to, Item& item);
  // Counts a packet for `to` that `from` has lost.
  void note_lost(unsigned from, unsigned to) {
    lost_[from * workers_ + to].fetch_add(1, std::memory_order_relaxed);
  }
  // Notes how many frames the WAN port has missed so far in the queue of `from`.
  void note_missed(unsigned from, std::uint64_t missed) {
    missed_[from].store(missed, std::memory_order_relaxed);
  }
  // Notes that frames were sent late: `giver` gave them for the WAN port at `since` or later, and
  // they were sent only by `now`. Only the thread that sends for others calls this. Until the giver
  // calls take_late(), further calls extend the same note.
  void note_late(unsigned giver, Instant since, Instant now);
  // Call this after one or more calls of give(). Wakes worker `to` if the worker rests, so that it
  // takes the packets now.
  void wake(unsigned to);

  // Returns the note of note_late() for `giver`, if there is a new one since the last call.
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
  // A descriptor for poll(2). wake() makes it readable.
  int descriptor(unsigned to) const { return bells_[to].descriptor; }
  // Call this before take(), and before all other work that wake() announces. Packets that come
  // later then wake the worker again. `rested`: the worker has just rested.
  void answer_bell(unsigned to, bool rested);
  // Takes up to kBurst items of `from`; returns their number.
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
    std::atomic<std::int64_t> told = 0;            // `now` when the giver last took the note
  };

  unsigned workers_;
  std::vector<std::atomic<std::uint64_t>> lost_;          // by pair, as rings_
  std::vector<std::atomic<std::uint64_t>> missed_;        // by worker
  std::vector<LateNote> late_;                            // by worker
  std::vector<std::unique_ptr<dpdk::PacketRing>> rings_;  // by pair; null from a worker to itself
  std::unique_ptr<Bell[]> bells_;
};

}  // namespace satrelay::satrelayd
