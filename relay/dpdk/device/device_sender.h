// Gives frames to a queue of a DPDK device: what was left to it of their checksums is announced,
// and consecutive segments of a connection become one, which the device cuts into the same frames
// (TCP segmentation offload).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/wire/coalescer.h"
#include "relay/dpdk/device/burst.h"

namespace satrelay::dpdk {

class DeviceSender {
 public:
  // What the device does for us.
  struct Abilities {
    bool sums_tcp = false;  // fills in TCP checksums
    bool sums_ip = false;   // those of IPv4 headers too, and wants to be told
    // Buffers that one large frame may consist of; 1: it cuts none.
    std::size_t pieces = 1;
  };
  // rte_eth_tx_prepare() and rte_eth_tx_burst().
  using Call = std::uint16_t (*)(std::uint16_t port, std::uint16_t queue, rte_mbuf** packets,
                                 std::uint16_t count);

  DeviceSender(std::uint16_t port, std::uint16_t queue, Abilities abilities);
  DeviceSender(std::uint16_t port, std::uint16_t queue, Abilities abilities, Call prepare,
               Call transmit);

  // Sends from the front of `burst`; the number of frames that the device has taken. The others
  // stay as they were.
  std::size_t send(Burst& burst);

  struct Counters {
    std::uint64_t frames = 0, bytes = 0;  // as they leave the device
    std::uint64_t large = 0;              // put together of some of these
    std::uint64_t refused = 0;            // dropped: the driver has said that it cannot
  };
  const Counters& counters() const { return counters_; }

 private:
  // One buffer, or a chain of them: the first with the header of all, the others with their
  // payload only.
  struct Message {
    std::size_t frames = 1;
    std::size_t bytes = 0;  // as they would go singly
    // Of the first frame of several, as it was.
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
  bool any_left_ = false;   // something of the burst is left to the device
  std::size_t singly_ = 0;  // of the burst's first frames: they were refused as one
  wire::Coalescer coalescer_;
  std::array<Message, Burst::kCapacity> messages_;
  std::array<rte_mbuf*, Burst::kCapacity> packets_{};
  Counters counters_;
};

}  // namespace satrelay::dpdk
