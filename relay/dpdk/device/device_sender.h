// Sends frames by a queue of a DPDK device. Asks the device to complete the checksums that were
// left to it. Joins consecutive segments of a connection to a large frame, which the device cuts
// into the same segments (TCP segmentation offload).
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
    // Most buffers of one large frame. 1: the device cannot cut large frames.
    std::size_t pieces = 1;
  };
  // rte_eth_tx_prepare() and rte_eth_tx_burst().
  using Call = std::uint16_t (*)(std::uint16_t port, std::uint16_t queue, rte_mbuf** packets,
                                 std::uint16_t count);

  DeviceSender(std::uint16_t port, std::uint16_t queue, Abilities abilities);
  DeviceSender(std::uint16_t port, std::uint16_t queue, Abilities abilities, Call prepare,
               Call transmit);

  // Sends from the front of `burst`. Returns the number of frames that the device has taken or that
  // were dropped as refused. The other frames stay unchanged in the burst.
  std::size_t send(Burst& burst);

  struct Counters {
    std::uint64_t frames = 0, bytes = 0;  // as single frames, as they leave the device
    std::uint64_t large = 0;              // large frames made of some of these
    std::uint64_t refused = 0;            // dropped: the driver refused them
  };
  const Counters& counters() const { return counters_; }

 private:
  // One buffer, or a chain of buffers. The first buffer has the header of the large frame, the
  // others have only their payload.
  struct Message {
    std::size_t frames = 1;
    std::size_t bytes = 0;  // bytes of these as single frames
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
  bool any_left_ = false;   // a message of the burst needs an offload
  std::size_t singly_ = 0;  // first frames of the burst that go singly: refused as one large frame
  wire::Coalescer coalescer_;
  std::array<Message, Burst::kCapacity> messages_;
  std::array<rte_mbuf*, Burst::kCapacity> packets_{};
  Counters counters_;
};

}  // namespace satrelay::dpdk
