// Sends frames through a queue of a DPDK device. Lets the device complete checksums that are
// unfinished (Packet::leave_checksum()). Joins consecutive segments of a TCP connection into one
// large frame, which the device cuts into the same segments (TCP segmentation offload).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/wire/coalescer.h"
#include "relay/dpdk/device/burst.h"

namespace satrelay::dpdk {

class DeviceSender {
 public:
  // The offloads of the device.
  struct Abilities {
    bool sums_tcp = false;  // fills in TCP checksums
    bool sums_ip = false;   // fills in IPv4 header checksums on request
    // Maximum number of buffers in one large frame; 1 if the device cannot cut large frames.
    std::size_t pieces = 1;
  };
  // Type of rte_eth_tx_prepare() and rte_eth_tx_burst(). Tests pass other functions.
  using Call = std::uint16_t (*)(std::uint16_t port, std::uint16_t queue, rte_mbuf** packets,
                                 std::uint16_t count);

  DeviceSender(std::uint16_t port, std::uint16_t queue, Abilities abilities);
  DeviceSender(std::uint16_t port, std::uint16_t queue, Abilities abilities, Call prepare,
               Call transmit);

  // Sends from the front of `burst`. Returns the number of frames that were sent, or were dropped
  // because the driver refused them. The other frames stay unchanged in the burst.
  std::size_t send(Burst& burst);

  struct Counters {
    // Sent frames. The frames that were joined into a large frame are counted singly.
    std::uint64_t frames = 0, bytes = 0;
    std::uint64_t large = 0;    // large frames into which some of these frames were joined
    std::uint64_t refused = 0;  // frames dropped, since the driver refused them
  };
  const Counters& counters() const { return counters_; }

 private:
  // One packet for the driver: a single buffer, or a chain of buffers that is a large frame. In a
  // chain the first buffer has the header of the large frame, and the other buffers have only
  // payload.
  struct Message {
    std::size_t frames = 1;
    std::size_t bytes = 0;  // total size of these frames as single frames
    // The header and the offload fields of the first frame, as they were before it was joined to
    // others.
    std::size_t header_size = 0;
    std::uint64_t flags = 0;
    std::uint64_t lengths = 0;
    std::array<std::byte, wire::Coalescer::kMaxHeader> header{};
  };

  std::size_t compose(const Burst& burst);
  std::size_t gather(const Burst& burst, std::size_t first);
  void chain(Message& message, rte_mbuf* const* frames);
  static void unchain(const Message& message, rte_mbuf* first);
  void on_refusal(const Message& message, Burst& burst);

  std::uint16_t port_;
  std::uint16_t queue_;
  Abilities abilities_;
  Call prepare_;
  Call transmit_;
  bool any_left_ = false;  // whether any message of the burst needs an offload
  // Number of frames at the front of the burst that must be sent singly, since the driver has
  // refused them as one large frame.
  std::size_t singly_ = 0;
  wire::Coalescer coalescer_;
  std::array<Message, Burst::kCapacity> messages_;
  std::array<rte_mbuf*, Burst::kCapacity> packets_{};
  Counters counters_;
};

}  // namespace satrelay::dpdk
