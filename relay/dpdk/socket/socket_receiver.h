// Takes frames from a packet socket: large ones are cut, checksums completed, VLAN tags put back.
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
  // Frames that one system call may bring.
  static constexpr std::size_t kBatch = 32;
  // The same, while large ones come: what they take shall stay in the processor's cache.
  static constexpr std::size_t kLargeBatch = 8;

  // `descriptor` and `pool` must outlive it. Frames come with an IP MTU of `mtu`, two VLAN tags
  // beside it.
  SocketReceiver(int descriptor, PacketPool& pool, std::uint16_t mtu);

  // Appends what has come to `burst`, up to its capacity; the number of frames. What did not find
  // room there comes with the next call.
  std::size_t receive(Burst& burst);

  struct Counters {
    std::uint64_t frames = 0, bytes = 0;
    std::uint64_t large = 0;      // frames that were cut
    std::uint64_t oversized = 0;  // of these, to pieces that fit the MTU, which they did not
    std::uint64_t checksums_finished = 0;  // of frames that were not
    std::uint64_t uncut = 0;               // dropped: too long, and in no form that can be cut
    std::uint64_t no_buffer = 0;           // times that the pool was empty
  };
  const Counters& counters() const { return counters_; }

 private:
  // Behind what fits a packet of the pool.
  static constexpr std::size_t kOverflow = (std::size_t{64} << 10) + 64;
  // A tag in front of all.
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
  std::size_t longest_;           // frame that it allows, two tags included
  std::size_t room_;              // of a packet
  std::size_t stride_;            // of large_
  std::vector<std::byte> large_;  // a slot's frame in one piece, if it is large
  std::array<Slot, kBatch> slots_;
  std::array<mmsghdr, kBatch> messages_{};
  std::size_t next_ = 0;  // of what the last call has brought
  std::size_t fetched_ = 0;
  bool large_came_ = false;
  Packet ready_;                            // opened, whole
  std::optional<wire::Segmenter> cutting_;  // of the slot before next_
  Counters counters_;
};

}  // namespace satrelay::dpdk
