// The sending half of the code of flights. It adds up protected packets in windows when they are
// sent, keeps only the repairs of each window, and decides when these may be sent.
//
// A window has as many packets as were expected when it began, but not more than its repairs are
// enough for. It ends with the last of these packets, or when nothing has followed for a while, or
// after a round trip, when reports cover its first packets. Its repairs may be sent while it is
// open: each covers the packets sent until then.
//
// In a window with last flights, repairs are sent early, about as often as a packet is lost. So
// early losses are repaired early, and the far gateway can pass the bytes after them to the host.
// The other repairs of this window follow as soon as it has ended, because the next window may have
// as many packets as the receiver keeps.
//
// The repairs of other windows use idle capacity first. They are spread over milliseconds, because
// losses occur in bursts. While bytes of short flows wait, the repairs of all ended windows wait
// for up to 1,024 further packets. If a short flow has ended by then, the repairs have not delayed
// it. If it has become bulk by then, its repairs are never sent. In the same way, repairs wait for
// further bytes of their own stream while it is unknown whether the stream ends. While other bulk
// waits, one in eight packets is a repair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "pep/base/bytes.h"
#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"
#include "pep/schedule/class_set.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/fec/fec_policy.h"
#include "pep/stp/fec/repair_budget.h"
#include "pep/stp/fec/repair_history.h"
#include "pep/stp/fec/source_symbol.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class FecSender {
 public:
  // The number of packets of the code that a receiver keeps. No repair can recover older packets.
  static constexpr std::size_t kReach = 4096;
  // Memory is allocated for the first window, and freed after this time without a window.
  static constexpr Duration kIdle = Duration::seconds(30);
  // The other bytes that wait for the carrier.
  enum class Waiting : std::uint8_t {
    kNothing,
    kOwn,    // bytes of the stream of the next repair
    kBulk,   // bytes of other streams in the class of the next repair
    kOther,  // bytes of another class, or of prompt flows
    kShort,  // bytes of short flows
  };

  // The stream that a window protects.
  struct Purpose {
    // The stream of the last packet, or of the last packet that belongs to a last flight.
    std::uint32_t stream = 0;
    std::uint16_t generation = 0;
    schedule::ClassId stream_class = 0;
    bool has_stream = false;
    bool opens = false;  // the window contains an OPEN
    bool ends = false;   // a part of the window is the last flight of its stream
    void merge(const Purpose& other) {
      const bool were_opens = opens || other.opens;
      if (!ends || other.ends) *this = other;
      opens = were_opens;
    }
  };
  // Sizes for a new window.
  struct Plan {
    // Number of packets expected in this window and the next ones; 0 if unknown.
    std::size_t packets = 0;
    std::size_t repairs = 0;  // largest number of repairs for which there is time
  };

  // `codec`, `policy` and `time` must outlive this object. The time for the sums is taken from
  // `time`. `max_datagram` is the size of the largest datagram.
  FecSender(const FecCodec& codec, const FecPolicy& policy, PartOfTime& time,
            std::size_t max_datagram);

  // has_room() returns whether one more packet can be protected. next_frame() returns the frame at
  // the beginning of that packet.
  bool has_room() const { return has_open_ || count_ < kWindows; }
  CodedFrame next_frame() const { return {FecCode::kFlight, next_index_}; }
  // Adds a packet that is sent with `frames` after next_frame(). Packet numbers must ascend, and
  // has_room() must hold.
  void add(std::uint64_t number, ConstBytes frames, const Purpose& purpose, const Plan& plan,
           Instant now);
  // Ends windows when they are due, and drops useless repairs. Returns how many repairs were
  // dropped.
  std::size_t advance(Waiting waiting, std::uint64_t next_number, Duration round_trip, Instant now);

  // Whether there is neither an open window nor an unsent repair. Then no repair becomes ready
  // until a packet is added.
  bool rests() const { return count_ == 0; }
  // Whether a repair may be sent as packet `next_number`.
  bool ready(Waiting waiting, std::uint64_t next_number, Instant now) const;
  // When a repair may be sent if nothing else is sent; `now` if it may be sent at once.
  Instant next_repair(Waiting waiting, std::uint64_t next_number, Instant now) const;
  // When advance() will have something to do.
  Instant next_timeout(Waiting waiting, Duration round_trip) const;
  // When advance() will free the memory, if no packet is added.
  Instant idle_at() const { return sums_ && count_ == 0 ? last_used_ + kIdle : Instant::never(); }
  // The purpose of the window of the next repair. Only valid if ready().
  const Purpose& next_purpose() const { return front().purpose; }
  // Whether the receiver no longer keeps all packets of the next repair's window.
  bool next_is_out_of_reach() const {
    return static_cast<std::uint16_t>(next_index_ - front().first_index) > kReach;
  }
  // The size of the next repair's frame in bytes.
  std::size_t next_size() const { return kRepairHeaderSize + front().size; }
  // Drops the remaining repairs of the next repair's window. Returns their number.
  std::size_t drop_next();
  // Writes a REPAIR frame into the packet `own_number`. Returns false if it does not fit into
  // `out`.
  bool write(ByteWriter& out, std::uint64_t own_number, Instant now);

  RepairHistory& history() { return history_; }
  bool holds_memory() const { return sums_ != nullptr; }
  // Number of windows with few repairs, as there was no time to add up more.
  std::uint64_t starved() const { return starved_; }
  void clear();

 private:
  static constexpr std::size_t kWindows = 16;
  // Packets in a window if the expected number is unknown.
  static constexpr std::size_t kSmallWindow = 64;
  static constexpr Duration kLull = Duration::milliseconds(2);
  static constexpr Duration kLongestLull = Duration::milliseconds(100);
  // While bulk waits, a window ends after a pause of this many average gaps between its packets.
  static constexpr std::int64_t kGapsOfLull = 8;
  // One repair for this number of packets, while other bytes wait.
  static constexpr std::size_t kShare = 8;
  // A window may always have this many repairs. They need so little time that it is not counted.
  static constexpr std::size_t kFewRepairs = 6;
  // Early repairs are sent as often as packets are lost on average, times this factor. About half
  // of the windows lose more than average. Without the factor, their last losses would wait for the
  // end of the window.
  static constexpr double kEarly = 1.3;
  // Number of packets of short flows that are sent before repairs.
  static constexpr std::size_t kCourtesy = 1024;
  static constexpr Duration kGap = Duration::milliseconds(1);
  static constexpr Duration kSpread = Duration::milliseconds(6);

  struct Window {
    std::uint64_t first = 0;        // number of the first packet
    std::uint64_t end = 0;          // number after the last packet
    std::uint16_t first_index = 0;  // index of the first packet in the code
    std::uint16_t first_row = 0;
    std::size_t sources = 0;
    std::size_t most_sources = 0;
    std::size_t size = 0;   // size of the longest symbol in bytes
    std::size_t begun = 0;  // initialized bytes of each sum
    // Repairs that are added up while the window is open. The unsent ones are sent after it is
    // closed.
    std::size_t repairs = 0;
    std::size_t sent = 0;
    // Number of additions for which time was taken from the budget and not used yet.
    std::size_t additions = 0;
    bool is_full = false;  // the window ended with its last expected packet
    Purpose purpose;
    Instant opened;
    Instant last_added;
    Instant closed;
    std::uint64_t closed_before = 0;  // the next packet number when the window was closed
  };

  Window& window(std::size_t i) { return windows_[(first_ + i) % kWindows]; }
  Window& open_window() { return window(count_ - 1); }
  const Window& open_window() const { return windows_[(first_ + count_ - 1) % kWindows]; }
  const Window& front() const { return windows_[first_]; }
  bool front_is_closed() const { return count_ > 1 || (count_ == 1 && !has_open_); }
  std::byte* sum(const Window& window, std::size_t row) const {
    const auto slot = static_cast<std::size_t>(&window - windows_.data());
    return sums_.get() + (slot * FecPolicy::kMostRepairs + row) * stride_;
  }
  // If the first window has ended, packets of short flows are sent before its repairs: courtesy()
  // packets after the window's last packet, and spread() packets between two of its repairs.
  std::size_t courtesy() const;
  std::size_t spread() const;
  bool is_behind_others(std::uint64_t next_number) const;
  // Whether the only window is open, and one of its early repairs is due.
  bool is_early_due() const;
  std::size_t repairs_for(const Window& window, std::size_t sources) const;
  void take_time(Window& window, Instant now);
  void give_time_back(Window& window);
  void divide(Window& window, std::size_t packets, std::size_t most_repairs) const;
  static Duration lull(const Window& window, Waiting waiting);
  Instant close_at(Waiting waiting, Duration round_trip) const;
  void open(std::uint64_t number, const Purpose& purpose, const Plan& plan, Instant now);
  void close(std::uint64_t next_number, Instant now);
  void pop_front();

  const FecCodec& codec_;
  const FecPolicy& policy_;
  PartOfTime& time_;
  std::uint64_t starved_ = 0;
  std::size_t stride_;
  std::unique_ptr<std::byte[]> sums_;  // allocated for the first window, freed when idle
  SourceSymbol source_;
  std::array<Window, kWindows> windows_;  // a ring; the newest may be open
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  bool has_open_ = false;
  std::uint16_t next_index_ = 0;
  std::uint16_t next_row_ = 0;
  std::size_t pending_ = 0;  // number of unsent repairs in closed windows
  Instant last_used_;
  std::uint64_t last_repair_number_ = 0;
  Instant next_on_idle_ = Instant::from_nanoseconds(0);
  RepairHistory history_;
};

}  // namespace satrelay::stp
