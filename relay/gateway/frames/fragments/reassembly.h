// Reassembles IP datagrams from their fragments (RFC 791 section 3.2, RFC 8200 section 4.5), so
// that a segment in fragments is judged and relayed as a whole. It keeps the fragments as they came
// until it is known whether they are bridged.
//
// All memory is taken at the start. Each fragment has a cell of it, and a host has no more than a
// quarter of the cells. The oldest datagram gives way, first among those of the same host. So a
// host that never completes its datagrams displaces only its own, and a datagram with fragments in
// close succession gets through whatever other hosts do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/containers/intrusive_list.h"
#include "pep/base/containers/keyed_pool.h"
#include "pep/base/time.h"
#include "pep/base/work_count.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

class Reassembly {
 public:
  using Cell = std::uint16_t;
  static constexpr std::size_t kMostFragments = 512;
  static constexpr std::size_t kMostDatagrams = 256;
  // Limits for one source address. Addresses with the same hash share them.
  static constexpr std::size_t kMostFragmentsOfHost = kMostFragments / 4;
  static constexpr std::size_t kMostDatagramsOfHost = kMostDatagrams / 4;
  // The longest datagram over Ethernet has 45.
  static constexpr std::size_t kMostFragmentsOfDatagram = 64;
  // The time since the first fragment came. RFC 8200 allows 60 s at most, RFC 791 begins with 15 s.
  // On a LAN fragments follow each other within milliseconds, even 64 KiB at 64 kbit/s within 9 s.
  // TCP retransmits with another identification long before the timeout. So a longer wait would
  // only hold scarce room.
  static constexpr Duration kTimeout = Duration::seconds(15);

  Reassembly(HashKey secret, std::size_t most_frame_size, Counters& counters);
  Reassembly(const Reassembly&) = delete;
  Reassembly& operator=(const Reassembly&) = delete;

  // Whether the fragment's datagram may be TCP, and so is for add(). The first fragment decides
  // what the rest of a datagram is (RFC 8200 section 4.5). Here each fragment decides by itself,
  // since senders write the same in all. A datagram with differing fragments is never reassembled.
  static bool may_be_tcp(const Frame& fragment);

  enum class Addition : std::uint8_t { kHeld, kWhole, kDropped };
  // `fragment` is the result of look_at() for `frame`. The bytes of `frame` are copied. After
  // kWhole the datagram is in whole() until end_whole().
  [[nodiscard]] Addition add(const Frame& fragment, ConstBytes frame, Instant now);
  // The frame as if it had never been fragmented: with the headers of the first fragment, without a
  // Fragment header. It may be longer than any MTU.
  ConstBytes whole() const { return ConstBytes(whole_).first(whole_size_); }
  // The next fragment of the whole datagram, in order of arrival. The caller releases its cell.
  std::optional<Cell> take_fragment();
  // Drops the fragments that were not taken.
  void end_whole();

  ConstBytes frame(Cell cell) const {
    return {memory_.get() + (cell * cell_size_), cells_[cell].frame_size};
  }
  void release(Cell cell);

  void handle_timeout(Instant now);
  Instant next_timeout() const {
    return by_age_.empty() ? Instant::never() : by_age_.front()->deadline;
  }

  // Includes fragments that were taken and not released.
  std::size_t fragments() const { return kMostFragments - free_.size(); }
  std::size_t datagrams() const { return datagram_count_; }
  std::uint64_t visited() const { return work_.total(); }

 private:
  static constexpr Cell kNoCell = 0xFFFF;
  static constexpr std::size_t kHosts = 1024;

  struct Fragment {
    Cell next = kNoCell;     // of the same datagram
    std::uint16_t host = 0;  // number of the host
    std::uint16_t frame_size = 0;
    std::uint16_t data_at = 0;  // in the frame
    std::uint16_t offset = 0;   // in the datagram
    std::uint16_t size = 0;
    bool more = false;
    std::uint32_t end() const { return std::uint32_t{offset} + size; }
  };
  struct Datagram {
    std::uint64_t key = 0;
    Datagram* chain = nullptr;
    Instant deadline;
    std::uint16_t host = 0;
    Cell first = kNoCell, last = kNoCell;  // in order of arrival
    // The fragment with the headers.
    Cell head = kNoCell;
    std::uint16_t count = 0;
    // That have come.
    std::uint32_t bytes = 0;
    // The highest end of all fragments.
    std::uint32_t reach = 0;
    // Known once the last part has come.
    std::uint32_t size = 0;
    std::uint8_t ecn_seen = 0;  // a bit for each codepoint
    // Set: the datagram holds no fragments, and is never reassembled.
    std::optional<Counter> discarded;
    ListHook<Datagram> age, of_host;
  };
  struct Host {
    IntrusiveList<Datagram, &Datagram::of_host> datagrams;  // the oldest first
    std::uint16_t datagram_count = 0;
    std::uint16_t fragments = 0;
  };
  enum class Fit : std::uint8_t { kNew, kDuplicate, kOverlap, kContradiction, kTooMany };

  std::uint64_t key_of(const Frame& fragment);
  Datagram& begin(std::uint64_t key, const Frame& fragment, Instant now);
  Fit fit(const Datagram& datagram, const Fragment& part, ConstBytes data) const;
  Cell take_cell(const Datagram& datagram);
  bool make_room(const Datagram& datagram);
  bool put_together(const Datagram& datagram);
  Addition drop(Counter reason);
  void drop_fragments(Datagram& datagram, Counter reason);
  void discard(Datagram& datagram, Counter reason);
  void forget(Datagram& datagram);
  ConstBytes data(Cell cell) const {
    return frame(cell).subspan(cells_[cell].data_at, cells_[cell].size);
  }

  HashKey secret_;
  Counters& counters_;
  const std::size_t cell_size_;
  std::unique_ptr<std::byte[]> memory_;  // memory of the cells
  std::vector<Fragment> cells_;
  std::vector<Cell> free_;
  KeyedPool<Datagram> datagrams_{kMostDatagrams};
  std::size_t datagram_count_ = 0;
  IntrusiveList<Datagram, &Datagram::age> by_age_;  // the oldest first
  std::vector<Host> hosts_;
  std::vector<std::byte> whole_;
  std::size_t whole_size_ = 0;
  // The fragments that were not taken yet.
  Cell whole_first_ = kNoCell;
  WorkCount work_;
};

}  // namespace satrelay::gateway
