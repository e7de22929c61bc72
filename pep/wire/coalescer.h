// Puts consecutive TCP segments or UDP datagrams together to what a segmentation offload, or
// Segmenter, cuts into the very same frames.
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
  // Bytes of Ethernet, IP and TCP header at most: IPv4 options and IPv6 extension headers are not
  // for us.
  static constexpr std::size_t kMaxHeader = 14 + 8 + 40 + 60;

  // What is known of a frame beside its bytes.
  enum class Origin : std::uint8_t {
    kUnchecked,  // its checksums may be wrong, and whoever cuts would make them right: never taken
    kChecked,    // somebody else's, with good checksums: the cut gives the same bytes
    kOwn,        // this program's: the cut may count identifications on, and give checksums
  };

  // Begins anew with `frame`. False if it is no segment with payload that could be followed by
  // another one: then there is nothing to add to.
  bool begin(ConstBytes frame, Origin origin);
  // True if `frame` is the next piece, which belongs to the whole from now on.
  bool add(ConstBytes frame, Origin origin);

  std::size_t count() const { return count_; }
  SegmentedProtocol protocol() const { return first_.protocol; }
  std::size_t tag_count() const { return (first_.ip_at - 14U) / 4; }
  bool is_v4() const { return first_.is_v4; }
  // Of all pieces but the last, which may be shorter.
  std::size_t segment_size() const { return first_.payload_size; }
  std::size_t header_size() const { return first_.payload_at; }
  std::size_t transport_at() const { return first_.transport_at; }
  std::size_t size() const { return first_.payload_at + payload_size_; }
  // The header of the whole, header_size() bytes; the checksum field has the sum of the
  // pseudo-header, as an offload wants it. The first frame must still be there.
  void write_header(MutableBytes out) const;
  // Where the payload of a piece stands in its frame: in all of them in the same place.
  std::size_t payload_at() const { return first_.payload_at; }
  std::size_t payload_size_of(ConstBytes frame) const;

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

  ConstBytes frame_;  // the first
  View first_;
  Origin origin_{};
  std::size_t count_ = 0;
  std::size_t payload_size_ = 0;
  std::uint8_t last_flags_ = 0;
  bool closed_ = false;  // a short piece, or one with PSH or FIN, was the last
};

}  // namespace satrelay::wire
