// Receives frames from a packet socket: cuts large frames, completes checksums and restores VLAN
// tags.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/wire/segmenter.h"
#include "relay/dpdk/device/burst.h"
#include "relay/dpdk/device/packet_pool.h"
#include "relay/dpdk/socket/offload_header.h"

namespace satrelay::dpdk {

class SocketReceiver {
 public:
  // Maximum number of frames that one system call returns.
  static constexpr std::size_t kBatch = 32;
  // The maximum while large frames arrive, so that their bytes fit into the processor's cache.
  static constexpr std::size_t kLargeBatch = 8;

  // `descriptor` and `pool` must outlive this object. Delivered frames carry IP packets of at most
  // `mtu` bytes, behind up to two VLAN tags.
  SocketReceiver(int descriptor, PacketPool& pool, std::uint16_t mtu);

  // Appends received frames to `burst`, and returns their number. If frames do not fit into the
  // burst, the next call appends them.
  std::size_t receive(Burst& burst);

  struct Counters {
    std::uint64_t frames = 0, bytes = 0;
    std::uint64_t large = 0;      // frames that were cut
    std::uint64_t oversized = 0;  // frames of `large` that were cut because they exceeded the MTU
    // Number of checksums that the senders had left to their network cards, and that were completed
    // here.
    std::uint64_t checksums_finished = 0;
    // Frames that were dropped because they were truncated, or because they were too long and could
    // not be cut.
    std::uint64_t uncut = 0;
    std::uint64_t no_buffer = 0;  // number of times that the pool was empty
  };
  const Counters& counters() const { return counters_; }

 private:
  // Room for the part of a large frame that does not fit a packet of the pool.
  static constexpr std::size_t kOverflow = (std::size_t{64} << 10) + 64;
  // Room for a VLAN tag in front of each frame.
  static constexpr std::size_t kTag = 4;

  struct Slot {
    OffloadHeader head;
    std::array<iovec, 3> parts{};
    alignas(cmsghdr) std::array<std::byte, 64> control{};
    Packet packet;
  };

  bool fetch();
  bool prepare(Slot& slot, mmsghdr& message, std::byte* overflow);
  void open(Slot& slot, const mmsghdr& message, std::byte* large);
  void finish(Slot& slot, MutableBytes frame, std::size_t tag);
  void open_large(const Slot& slot, ConstBytes frame, std::size_t tag);
  bool exceeds_mtu(ConstBytes frame) const;
  bool cut_to_mtu(const Slot& slot, ConstBytes frame, std::size_t tag);
  void begin_cut(bool is_sound);
  std::size_t drain(Burst& burst);
  bool cut(Burst& burst);
  void deliver(Burst& burst, Packet packet);

  int descriptor_;
  PacketPool& pool_;
  std::uint16_t mtu_;
  std::size_t longest_;           // longest frame that the MTU allows, two tags included
  std::size_t room_;              // bytes that a packet holds
  std::size_t stride_;            // bytes of large_ for each slot
  std::vector<std::byte> large_;  // for each slot, memory in which a large frame is assembled
  std::array<Slot, kBatch> slots_;
  std::array<mmsghdr, kBatch> messages_{};
  std::size_t next_ = 0;  // next slot to open, among the slots that the last system call has filled
  std::size_t fetched_ = 0;
  bool large_came_ = false;
  Packet ready_;  // a whole frame, ready to be delivered
  // Cuts a large frame into segments. The frame is in the slot before next_.
  std::optional<wire::Segmenter> cutting_;
  Counters counters_;
};

}  // namespace satrelay::dpdk
