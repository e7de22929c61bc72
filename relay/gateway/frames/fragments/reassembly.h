// Reassembles IP datagrams from their fragments (RFC 791 section 3.2, RFC 8200 section 4.5), so
// that a segment in fragments is judged and relayed as a whole. The fragments are kept unchanged
// until it is known whether they are bridged.
//
// All memory is allocated at the start. It consists of cells. Each fragment needs a cell, and a
// host may use at most a quarter of the cells. If memory is short, the oldest datagram is dropped,
// and datagrams of the same host are dropped first. So a host that never completes its datagrams
// displaces only its own datagrams. A datagram is completed if its fragments follow each other
// closely, whatever other hosts do.
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
  // Limits for one source address. Addresses with the same hash share the limits.
  static constexpr std::size_t kMostFragmentsOfHost = kMostFragments / 4;
  static constexpr std::size_t kMostDatagramsOfHost = kMostDatagrams / 4;
  // The longest datagram over Ethernet has 45 fragments.
  static constexpr std::size_t kMostFragmentsOfDatagram = 64;
  // Time from the arrival of the first fragment. RFC 8200 allows 60 s at most, RFC 791 begins with
  // 15 s. On a LAN fragments follow each other within milliseconds, and even 64 KiB at 64 kbit/s
  // arrive within 9 s. TCP retransmits with another identification long before the timeout. So a
  // longer time would only keep scarce memory in use.
  static constexpr Duration kTimeout = Duration::seconds(15);

  Reassembly(HashKey secret, std::size_t most_frame_size, Counters& counters);
  Reassembly(const Reassembly&) = delete;
  Reassembly& operator=(const Reassembly&) = delete;

  // Whether the fragment's datagram may be TCP, and must be passed to add(). By RFC 8200 section
  // 4.5, the protocol in the first fragment counts for the whole datagram. Here each fragment is
  // judged by its own protocol, since senders write the same protocol in all fragments. A datagram
  // with differing protocols is never reassembled.
  static bool may_be_tcp(const Frame& fragment);

  enum class Addition : std::uint8_t { kHeld, kWhole, kDropped };
  // `fragment` must be the result of look_at() for `frame`. The bytes of `frame` are copied. After
  // kWhole, whole() returns the datagram until end_whole() is called.
  [[nodiscard]] Addition add(const Frame& fragment, ConstBytes frame, Instant now);
  // The frame as if it had not been fragmented: with the headers of the first fragment, and without
  // a Fragment header. It may be longer than any MTU.
  ConstBytes whole() const { return ConstBytes(whole_).first(whole_size_); }
  // Returns the next fragment of the whole datagram, in order of arrival. The caller must release
  // its cell.
  std::optional<Cell> take_fragment();
  // Drops the fragments of the whole datagram that were not taken.
  void end_whole();

  ConstBytes frame(Cell cell) const {
    return {memory_.get() + (cell * cell_size_), cells_[cell].frame_size};
  }
  void release(Cell cell);

  void handle_timeout(Instant now);
  Instant next_timeout() const {
    return by_age_.empty() ? Instant::never() : by_age_.front()->deadline;
  }

  // fragments() includes fragments that were taken but not released yet.
  std::size_t fragments() const { return kMostFragments - free_.size(); }
  std::size_t datagrams() const { return datagram_count_; }
  std::uint64_t visited() const { return work_.total(); }

 private:
  static constexpr Cell kNoCell = 0xFFFF;
  static constexpr std::size_t kHosts = 1024;

  struct Fragment {
    Cell next = kNoCell;     // next fragment of the same datagram
    std::uint16_t host = 0;  // index of the host in hosts_
    std::uint16_t frame_size = 0;
    std::uint16_t data_at = 0;  // offset of the fragment's data in the frame
    std::uint16_t offset = 0;   // offset of the fragment's data in the datagram
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
    // The fragment that has the headers of the datagram.
    Cell head = kNoCell;
    std::uint16_t count = 0;
    // Sum of the sizes of the fragments that have arrived.
    std::uint32_t bytes = 0;
    // The highest end of all fragments that have arrived.
    std::uint32_t reach = 0;
    // Size of the datagram; 0 until its last part has arrived.
    std::uint32_t size = 0;
    std::uint8_t ecn_seen = 0;  // one bit for each ECN codepoint
    // If set, the datagram holds no fragments, and is never reassembled.
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
  // The first fragment of the whole datagram that was not taken yet.
  Cell whole_first_ = kNoCell;
  WorkCount work_;
};

}  // namespace satrelay::gateway
