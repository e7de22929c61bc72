// A host that only moves bulk data, over any number of flows, with as little work as possible,
// since its work is not measured. The LAN loses nothing, so the host needs no retransmission, timer
// or buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/check.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"

namespace satrelay::bench {

// Frames of one batch, in buffers that are reused, as a driver's are.
class FrameBatch {
 public:
  FrameBatch(std::size_t frames, std::size_t room)
      : room_(room), storage_((frames + 1) * room), sizes_(frames) {}
  void clear() { count_ = 0; }
  std::size_t size() const { return count_; }
  bool full() const { return count_ == sizes_.size(); }
  std::size_t left() const { return sizes_.size() - count_; }
  // Room for the next frame, or for the frame that is `ahead` of it.
  MutableBytes room(std::size_t ahead = 0) {
    return MutableBytes(storage_).subspan((count_ + ahead) * room_, room_);
  }
  void push(std::size_t bytes) {
    SATRELAY_CHECK(!full() && bytes <= room_);
    sizes_[count_++] = static_cast<std::uint16_t>(bytes);
  }
  ConstBytes operator[](std::size_t i) const {
    return ConstBytes(storage_).subspan(i * room_, sizes_[i]);
  }

 private:
  std::size_t room_;
  std::vector<std::byte> storage_;
  std::vector<std::uint16_t> sizes_;
  std::size_t count_ = 0;
};

struct HostAddresses {
  MacAddress mac;
  IpAddress address;
};

// Flows of sending hosts. The first `active` flows carry data. Each host has an address, and all of
// them have one MAC, as they are behind one router.
struct BulkFlows {
  static constexpr std::size_t kMostOfAHost = 50'000;  // Ports.
  std::size_t count = 1;
  std::size_t active = 1;
  std::size_t of_a_host = kMostOfAHost;
  std::size_t mtu = 1500;
  bool compressible = false;  // Words of a few letters, otherwise random bytes.
};

// The side that connects and sends until it is told to close.
class BulkSender {
 public:
  // The port of the first flow; each further flow has the next port.
  static constexpr std::uint16_t kFirstPort = 10'000;
  static constexpr std::uint16_t kServerPort = 80;

  BulkSender(const HostAddresses& own, const HostAddresses& far, const BulkFlows& flows);

  // Sends SYNs for up to `count` flows that are not open yet.
  void connect(FrameBatch& out, std::size_t count, Instant now);
  // Sends FINs for up to `count` flows that are open.
  void close(FrameBatch& out, std::size_t count, Instant now);
  void handle_frame(ConstBytes frame);
  // Sends the ACKs of SYN-ACKs and FINs.
  void acknowledge(FrameBatch& out, Instant now);
  // Writes up to `count` full data frames, two of each flow in turn, as ACK clocking does.
  std::size_t send(FrameBatch& out, std::size_t count, Instant now);
  std::size_t established() const { return established_; }
  std::size_t closed() const { return closed_; }
  std::uint64_t payload_bytes() const { return payload_bytes_; }  // All payload sent.

 private:
  enum class State : std::uint8_t { kNew, kSynSent, kEstablished, kFinSent, kClosed };
  struct Flow {
    State state = State::kNew;
    std::uint32_t next = 0;
    std::uint32_t acknowledged = 0;
    std::uint32_t window = 0;
    std::uint32_t receive_next = 0;
    std::uint32_t echo = 0;
    std::uint8_t scale = 0;
  };
  void write(FrameBatch& out, Flow& flow, std::size_t index, std::uint8_t flags,
             std::size_t payload, Instant now);
  HostAddresses own_;
  HostAddresses far_;
  std::size_t of_a_host_;
  std::size_t payload_;  // In a full frame.
  std::size_t active_;
  std::vector<Flow> flows_;
  std::vector<std::size_t> owed_;   // Flows that owe an ACK.
  std::vector<std::byte> content_;  // Read in a circle.
  std::size_t content_at_ = 0;
  std::size_t turn_ = 0;
  std::size_t next_to_open_ = 0;
  std::size_t next_to_close_ = 0;
  std::size_t established_ = 0;
  std::size_t closed_ = 0;
  std::uint64_t payload_bytes_ = 0;
};

// The side that accepts, acknowledges every second segment, and closes after the other.
class BulkReceiver {
 public:
  // `far`: the first of the sending hosts.
  BulkReceiver(const HostAddresses& own, const HostAddresses& far, const BulkFlows& flows);

  void handle_frame(ConstBytes frame, FrameBatch& out, Instant now);
  std::uint64_t payload_bytes() const { return payload_bytes_; }
  std::uint64_t out_of_order() const { return out_of_order_; }

 private:
  struct Flow {
    std::uint32_t next = 0;
    std::uint32_t own = 1;
    unsigned unacknowledged = 0;
  };
  HostAddresses own_;
  HostAddresses far_;
  std::size_t of_a_host_;
  std::vector<Flow> flows_;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t out_of_order_ = 0;
};

}  // namespace satrelay::bench
