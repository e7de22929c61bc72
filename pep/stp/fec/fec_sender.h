// The sending half of the code of flights. It sums up protected packets in windows as they leave,
// keeps only the repairs of each window, and says when these may leave.
//
// A window has as many packets as were expected when it began, or as its repairs are enough for. It
// ends with these packets, when nothing has followed for a while, or after a round trip, when
// reports cover its first packets. Its repairs may leave while it is open: each stands for the
// packets sent until then.
//
// In a window of last flights, repairs leave early, about as often as a packet is lost. So early
// losses are repaired early, and the bytes behind them at the far side go on to the host. The other
// repairs of the window follow at once when it has ended, before the next window has as many
// packets as the receiver keeps.
//
// The repairs of other windows use idle capacity first. They are spread over milliseconds, because
// losses come in bursts. While bytes of short flows wait, the repairs of all ended windows stay
// behind for up to 1,024 packets. A flow that is over by then has lost no time to them. A flow that
// has become bulk by then never pays for them. In the same way, repairs stay behind further bytes
// of their own stream while it is unknown whether that ends. Among other bulk they leave as one in
// eight packets.
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
  // The number of packets of the code that a receiver keeps. No repair can give back older ones.
  static constexpr std::size_t kReach = 4096;
  // Memory is allocated for the first window, and freed after so long without one.
  static constexpr Duration kIdle = Duration::seconds(30);
  // Other bytes that wait for the carrier.
  enum class Waiting : std::uint8_t {
    kNothing,
    kOwn,    // bytes of the next repair's own stream
    kBulk,   // bytes of other streams of its class
    kOther,  // bytes of another class, or of prompt flows
    kShort,  // bytes of short flows
  };

  // The stream that a window is sent for.
  struct Purpose {
    std::uint32_t stream = 0;  // of the last packet, or of the last one in a last flight
    std::uint16_t generation = 0;
    schedule::ClassId stream_class = 0;
    bool has_stream = false;
    bool opens = false;  // an OPEN is in it
    bool ends = false;   // part of it is the last flight of its stream
    void merge(const Purpose& other) {
      const bool were_opens = opens || other.opens;
      if (!ends || other.ends) *this = other;
      opens = were_opens;
    }
  };
  // Sizes for a window that begins.
  struct Plan {
    std::size_t packets = 0;  // expected in this window and those behind it; 0: unknown
    std::size_t repairs = 0;  // the most that there is time for
  };

  // `codec`, `policy` and `time`, which pays for the sums, outlive this object. No datagram is
  // larger than `max_datagram`.
  FecSender(const FecCodec& codec, const FecPolicy& policy, PartOfTime& time,
            std::size_t max_datagram);

  // Whether one more packet can be protected, and the frame that it begins with.
  bool has_room() const { return has_open_ || count_ < kWindows; }
  CodedFrame next_frame() const { return {FecCode::kFlight, next_index_}; }
  // A packet leaves with `frames` behind next_frame(). Numbers ascend. Requires has_room().
  void add(std::uint64_t number, ConstBytes frames, const Purpose& purpose, const Plan& plan,
           Instant now);
  // Ends windows when they are due, and drops repairs that are of no use any more. Returns how many
  // it dropped.
  std::size_t advance(Waiting waiting, std::uint64_t next_number, Duration round_trip, Instant now);

  // No window is open and no repair is left, so no repair can become ready by time.
  bool rests() const { return count_ == 0; }
  // Whether a repair may leave as packet `next_number`.
  bool ready(Waiting waiting, std::uint64_t next_number, Instant now) const;
  // When a repair may leave, if nothing else is sent; `now` if it may leave at once.
  Instant next_repair(Waiting waiting, std::uint64_t next_number, Instant now) const;
  // When advance() has something to do.
  Instant next_timeout(Waiting waiting, Duration round_trip) const;
  // When advance() frees the memory, if no packet is added.
  Instant idle_at() const { return sums_ && count_ == 0 ? last_used_ + kIdle : Instant::never(); }
  // The purpose of the window that the next repair belongs to. There is one if ready().
  const Purpose& next_purpose() const { return front().purpose; }
  // The receiver no longer keeps the packets of that window.
  bool next_is_out_of_reach() const {
    return static_cast<std::uint16_t>(next_index_ - front().first_index) > kReach;
  }
  // The size of that repair's frame. Unit: bytes.
  std::size_t next_size() const { return kRepairHeaderSize + front().size; }
  // Drops the remaining repairs of that window. Returns how many.
  std::size_t drop_next();
  // Writes a REPAIR frame for packet `own_number`; false if it does not fit into `out`.
  bool write(ByteWriter& out, std::uint64_t own_number, Instant now);

  RepairHistory& history() { return history_; }
  bool holds_memory() const { return sums_ != nullptr; }
  // Windows that got few repairs, as there was no time to sum up more.
  std::uint64_t starved() const { return starved_; }
  void clear();

 private:
  static constexpr std::size_t kWindows = 16;
  static constexpr std::size_t kSmallWindow = 64;  // packets of a window if their number is unknown
  static constexpr Duration kLull = Duration::milliseconds(2);
  static constexpr Duration kLongestLull = Duration::milliseconds(100);
  // Before bulk, a lull is as long as so many packets.
  static constexpr std::int64_t kGapsOfLull = 8;
  static constexpr std::size_t kShare = 8;       // one repair to so many packets, while others wait
  static constexpr std::size_t kFewRepairs = 6;  // of a window; they take no time worth counting
  // Repairs leave early as often as packets are lost on the mean, times this. Without the factor,
  // losses above the mean would wait for the end of the window every other time.
  static constexpr double kEarly = 1.3;
  // Packets of short flows that leave before repairs.
  static constexpr std::size_t kCourtesy = 1024;
  static constexpr Duration kGap = Duration::milliseconds(1);
  static constexpr Duration kSpread = Duration::milliseconds(6);

  struct Window {
    std::uint64_t first = 0;        // number of the first packet
    std::uint64_t end = 0;          // number behind the last packet
    std::uint16_t first_index = 0;  // its index in the code
    std::uint16_t first_row = 0;
    std::size_t sources = 0;
    std::size_t most_sources = 0;
    std::size_t size = 0;   // of the longest symbol
    std::size_t begun = 0;  // written bytes of each sum
    // Summed up while the window is open; the rest leaves once it is closed.
    std::size_t repairs = 0;
    std::size_t sent = 0;
    std::size_t additions = 0;  // additions that time was taken for
    bool is_full = false;       // it ended with its last expected packet
    Purpose purpose;
    Instant opened;
    Instant last_added;
    Instant closed;
    std::uint64_t closed_before = 0;  // the next packet number when it closed
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
  // Packets of short flows that leave before repairs of the first window, which has ended: after
  // its last packet, and between two of its repairs.
  std::size_t courtesy() const;
  std::size_t spread() const;
  bool is_behind_others(std::uint64_t next_number) const;
  // The only window is open, and one of its repairs is due.
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
  std::unique_ptr<std::byte[]> sums_;  // allocated with the first window, freed when idle
  SourceSymbol source_;
  std::array<Window, kWindows> windows_;  // a ring; the newest may be open
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  bool has_open_ = false;
  std::uint16_t next_index_ = 0;
  std::uint16_t next_row_ = 0;
  std::size_t pending_ = 0;  // repairs of closed windows
  Instant last_used_;
  std::uint64_t last_repair_number_ = 0;
  Instant next_on_idle_ = Instant::from_nanoseconds(0);
  RepairHistory history_;
};

}  // namespace satrelay::stp
