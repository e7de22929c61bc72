// A host that only moves bulk data, over any number of flows, as lightly as possible: its work is
// not what is measured. The LAN loses nothing, so it needs no retransmission, timer or buffer.
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

// Frames of one batch, in buffers that are used again and again, as a driver's are.
class FrameBatch {
 public:
  FrameBatch(std::size_t frames, std::size_t room)
      : room_(room), storage_((frames + 1) * room), sizes_(frames) {}
  void clear() { count_ = 0; }
  std::size_t size() const { return count_; }
  bool full() const { return count_ == sizes_.size(); }
  std::size_t left() const { return sizes_.size() - count_; }
  // For the next frame, and for the one that comes `ahead` of it.
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

// Flows of sending hosts, of which the first `active` ones carry data. Each host has an address,
// and all of them one MAC: they are behind one router.
struct BulkFlows {
  static constexpr std::size_t kMostOfAHost = 50'000;  // ports
  std::size_t count = 1;
  std::size_t active = 1;
  std::size_t of_a_host = kMostOfAHost;
  std::size_t mtu = 1500;
  bool compressible = false;  // words of a few letters, else random bytes
};

// The side that connects and sends for ever, or until it is told to close.
class BulkSender {
 public:
  static constexpr std::uint16_t kFirstPort = 10'000;  // of the first flow; the next has the next
  static constexpr std::uint16_t kServerPort = 80;

  BulkSender(const HostAddresses& own, const HostAddresses& far, const BulkFlows& flows);

  // SYNs for flows that are not open yet, up to `count` of them.
  void connect(FrameBatch& out, std::size_t count, Instant now);
  // The same with FINs for those that are open.
  void close(FrameBatch& out, std::size_t count, Instant now);
  void handle_frame(ConstBytes frame);
  // ACKs of what opens and closes.
  void acknowledge(FrameBatch& out, Instant now);
  // Writes up to `count` full data frames, two a flow in turn, as ACK clocking has it.
  std::size_t send(FrameBatch& out, std::size_t count, Instant now);
  std::size_t established() const { return established_; }
  std::size_t closed() const { return closed_; }
  std::uint64_t payload_bytes() const { return payload_bytes_; }  // sent in all

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
  std::size_t payload_;  // of a full frame
  std::size_t active_;
  std::vector<Flow> flows_;
  std::vector<std::size_t> owed_;   // flows of which an ACK is
  std::vector<std::byte> content_;  // read in a circle
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
