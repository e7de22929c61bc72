// The sending half of the code of prompt flows (FecCode::kPrompt, interactive flows with `delivery:
// prompt`). Each packet is added to several sums, which began at different times. When a repair is
// due, the oldest sum is sent, and a new sum begins. So each repair covers the packets of a sliding
// window, and each packet is covered by as many repairs as there are sums. A lost packet is
// recovered when the next repair arrives.
//
// With each packet, the flow earns bytes for repairs, in proportion to the size of the packet. A
// repair is sent when enough bytes are earned. There is also a small allowance, which grows with
// time. It is used for a repair after the last packets of a burst.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/fec/source_symbol.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class PromptSender {
 public:
  // `codec` must outlive this object. `max_datagram` is the size of the largest datagram.
  PromptSender(const FecCodec& codec, std::size_t max_datagram);

  CodedFrame next_frame() const { return {FecCode::kPrompt, next_index_}; }
  // Adds a packet that is sent with `frames` after next_frame(). `share` is the number of repair
  // bytes for each byte of the flow.
  void add(std::uint64_t number, ConstBytes frames, double share, Instant now);

  // When a repair is due; never() if none is due before another packet is sent.
  Instant due() const;
  // Writes the repair that is due. Returns false if it does not fit; then it is dropped.
  bool write(ByteWriter& out, Instant now);
  // The packets for which a repair may still have been in flight at `then`, when the receiver wrote
  // a report.
  std::optional<Range> repairable(Instant then) const {
    if (!any_sent_ || last_repair_ <= then) return std::nullopt;
    return Range{window_begin_, window_end_};
  }
  void clear();

 private:
  static constexpr std::size_t kSums = 16;
  static constexpr Duration kLull = Duration::milliseconds(10);
  static constexpr double kAllowance = 1000;       // bytes per second, for repairs after a lull
  static constexpr double kKept = 1500;            // bytes of the allowance kept for the next lull
  static constexpr double kMostEarned = 3 * 1500;  // bytes
  static constexpr std::size_t kLongest = 1024;    // maximum number of packets in a sum

  struct Sum {
    std::uint16_t first = 0;  // index of the first packet
    std::size_t count = 0;    // number of packets
    std::size_t size = 0;     // size of the longest symbol in bytes
    std::size_t begun = 0;    // number of initialized bytes
    std::uint16_t row = 0;
    std::uint64_t first_number = 0;
  };
  std::byte* bytes(std::size_t slot) const { return bytes_.get() + slot * stride_; }
  void begin(Sum& sum);
  void grow_allowance(Instant now);

  const FecCodec& codec_;
  std::size_t stride_;
  std::unique_ptr<std::byte[]> bytes_;  // allocated for the first packet
  SourceSymbol source_;
  std::array<Sum, kSums> sums_;
  std::size_t oldest_ = 0;
  std::uint16_t next_index_ = 0;
  std::uint16_t next_row_ = 0;
  double earned_ = 0;     // bytes
  double allowance_ = 0;  // bytes, as of allowed_until_
  Instant allowed_until_;
  bool is_covered_ = true;  // a repair was sent after the last packet
  Instant last_added_;
  bool any_sent_ = false;
  Instant last_repair_;
  std::uint64_t window_begin_ = 0;  // packet number, inclusive; window_end_ is exclusive
  std::uint64_t window_end_ = 0;
};

}  // namespace satrelay::stp
