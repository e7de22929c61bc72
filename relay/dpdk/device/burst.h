// At most 32 packets on their way to or from a port.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "relay/dpdk/device/packet.h"

namespace satrelay::dpdk {

// A FIFO queue: push() adds a packet at the back, pop() takes one from the front. Packets that a
// port could not send stay in the burst, in order. The caller decides whether to try again, or to
// drop and count them.
class Burst {
 public:
  static constexpr std::size_t kCapacity = 32;

  Burst() = default;
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;
  ~Burst() { clear(); }

  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  bool full() const { return size() == kCapacity; }

  // The burst must not be full.
  void push(Packet packet) {
    if (end_ == kCapacity) compact();
    packets_[end_++] = packet.release();
  }
  // The burst must not be empty.
  Packet pop() {
    Packet packet(packets_[begin_++]);
    if (begin_ == end_) begin_ = end_ = 0;
    return packet;
  }
  // Puts the packet that the last pop() has returned back at the front.
  void put_back(Packet packet) {
    if (begin_ == end_) begin_ = end_ = 1;
    packets_[--begin_] = packet.release();
  }
  // The packet at position `i`, counted from the front.
  PacketView peek(std::size_t i) const { return PacketView(packets_[begin_ + i]); }
  // Frees the first `count` packets. The burst must have at least that many.
  void drop(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) pop();
  }
  // Frees all packets; returns their number.
  std::size_t clear() {
    const std::size_t count = size();
    while (!empty()) pop();
    return count;
  }

 private:
  friend class EthDevice;
  friend class DeviceSender;
  // Removes the first `count` packets without freeing them, since the device owns them now.
  void forget(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void compact() {
    for (std::size_t i = begin_; i < end_; ++i) packets_[i - begin_] = packets_[i];
    end_ -= begin_;
    begin_ = 0;
  }
  std::array<rte_mbuf*, kCapacity> packets_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace satrelay::dpdk
