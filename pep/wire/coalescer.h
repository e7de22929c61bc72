// Joins consecutive TCP segments or UDP datagrams into one large frame. A segmentation offload, or
// Segmenter, cuts the large frame into the same frames again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/segmenter.h"

namespace satrelay::wire {

class Coalescer {
 public:
  // Upper limit for the size of Ethernet, IP and TCP headers together. Frames with IPv4 options or
  // IPv6 extension headers are not joined, so options and extension headers do not count.
  static constexpr std::size_t kMaxHeader = 14 + 8 + 40 + 60;

  // Where a frame comes from, which decides whether it may be joined.
  enum class Origin : std::uint8_t {
    // Never joined. If a checksum is wrong, segmentation would replace it by a right one.
    kUnchecked,
    // Received with right checksums. Segmentation must restore exactly the same bytes.
    kChecked,
    // Made by this program. Segmentation may set identifications and add checksums.
    kOwn,
  };

  // Starts a new large frame with `frame`. Returns false if `frame` is not a segment with payload,
  // or if no other segment may follow it. Then no frame can be added.
  bool begin(ConstBytes frame, Origin origin);
  // Adds `frame` if it is the next piece of the large frame. Returns whether it was added.
  bool add(ConstBytes frame, Origin origin);

  std::size_t count() const { return count_; }
  SegmentedProtocol protocol() const { return first_.protocol; }
  std::size_t tag_count() const { return (first_.ip_at - 14U) / 4; }
  bool is_v4() const { return first_.is_v4; }
  // Payload bytes of each piece. Only the last piece may have fewer.
  std::size_t segment_size() const { return first_.payload_size; }
  std::size_t header_size() const { return first_.payload_at; }
  std::size_t transport_at() const { return first_.transport_at; }
  std::size_t size() const { return first_.payload_at + payload_size_; }
  // Writes the header of the large frame, header_size() bytes. The checksum field gets the sum of
  // the pseudo-header, as an offload needs it. The bytes of the first frame must still exist.
  void write_header(MutableBytes out) const;
  // Offset of the payload in the frame of a piece, which is the same in all pieces.
  std::size_t payload_at() const { return first_.payload_at; }

 private:
  struct View {
    SegmentedProtocol protocol{};
    bool is_v4 = false;
    std::uint8_t ip_at = 0;
    std::uint8_t transport_at = 0;
    std::uint8_t payload_at = 0;
    std::uint8_t flags = 0;  // TCP
    std::uint16_t payload_size = 0;
    std::uint16_t identification = 0;
    std::uint32_t sequence = 0;
  };
  static bool look_at(ConstBytes frame, Origin origin, View& view);
  bool has_same_header(ConstBytes frame) const;

  ConstBytes frame_;  // the first frame
  View first_;
  Origin origin_{};
  std::size_t count_ = 0;
  std::size_t payload_size_ = 0;
  std::uint8_t last_flags_ = 0;
  bool closed_ = false;  // no piece may follow: the last one was short, or had PSH or FIN
};

}  // namespace satrelay::wire
