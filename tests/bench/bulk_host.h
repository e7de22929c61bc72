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
  static constexpr std::size_t kFrameRoom = 1600;
  explicit FrameBatch(std::size_t frames) : storage_((frames + 1) * kFrameRoom), sizes_(frames) {}
  void clear() { count_ = 0; }
  std::size_t size() const { return count_; }
  bool full() const { return count_ == sizes_.size(); }
  // kFrameRoom bytes for the next frame.
  MutableBytes room() { return MutableBytes(storage_).subspan(count_ * kFrameRoom, kFrameRoom); }
  void push(std::size_t bytes) {
    SATRELAY_CHECK(!full() && bytes <= kFrameRoom);
    sizes_[count_++] = static_cast<std::uint16_t>(bytes);
  }
  ConstBytes operator[](std::size_t i) const {
    return ConstBytes(storage_).subspan(i * kFrameRoom, sizes_[i]);
  }

 private:
  std::vector<std::byte> storage_;
  std::vector<std::uint16_t> sizes_;
  std::size_t count_ = 0;
};

struct HostAddresses {
  MacAddress mac;
  IpAddress address;
};

// The side that connects and sends for ever.
class BulkSender {
 public:
  BulkSender(const HostAddresses& own, const HostAddresses& far, std::size_t flows);

  void connect(FrameBatch& out, Instant now);  // SYNs for flows not yet open, as many as fit
  void handle_frame(ConstBytes frame);
  // Writes up to `count` full data frames, two a flow in turn, as ACK clocking has it.
  std::size_t send(FrameBatch& out, std::size_t count, Instant now);
  std::size_t established() const { return established_; }
  std::uint64_t payload_bytes() const { return payload_bytes_; }  // sent in all

  static constexpr std::size_t kPayload = 1448;  // 1500 less IP, TCP and timestamps

 private:
  enum class State : std::uint8_t { kClosed, kSynSent, kEstablished };
  struct Flow {
    State state = State::kClosed;
    std::uint32_t next = 0;
    std::uint32_t acknowledged = 0;
    std::uint32_t window = 0;
    std::uint32_t receive_next = 0;
    std::uint32_t echo = 0;
    std::uint8_t scale = 0;
    bool acknowledge = false;  // the handshake's last ACK is owed
  };
  void write(FrameBatch& out, Flow& flow, std::size_t index, std::uint8_t flags,
             std::size_t payload, Instant now);
  HostAddresses own_;
  HostAddresses far_;
  std::vector<Flow> flows_;
  std::vector<std::byte> content_;  // random, read in a circle
  std::size_t content_at_ = 0;
  std::size_t turn_ = 0;
  std::size_t established_ = 0;
  std::uint64_t payload_bytes_ = 0;
};

// The side that accepts and acknowledges every second segment.
class BulkReceiver {
 public:
  explicit BulkReceiver(const HostAddresses& own, std::size_t flows);

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
  std::vector<Flow> flows_;  // by client port
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t out_of_order_ = 0;
};

}  // namespace satrelay::bench
