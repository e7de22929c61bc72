// The sending half of the code of flights (FecCode::kFlight). Packets that the code covers are
// grouped in windows. When a packet is sent, it is added to the repairs of its window. This class
// also decides when the repairs may be sent.
//
// When a window begins, the expected number of packets is known or assumed. The window has at most
// this number of packets, and at most as many as its repairs can protect. It ends with the last of
// these packets, or after a pause, or after a round trip, when reports cover its first packets. Its
// repairs may be sent while it is open. Such a repair covers the packets sent until then.
//
// If a window contains last flights (the last bytes of streams, see Path::flight()), repairs are
// sent early, about as often as a packet is lost. So early losses are repaired early, and the far
// gateway can pass the bytes after them to the host. The other repairs of this window are sent as
// soon as it has ended. Later, the receiver may have replaced its packets by packets of the next
// window.
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
    kOwn,    // bytes of the stream that the next repair protects
    kBulk,   // bytes of other streams in the same class as the next repair
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
  // The expected size of a new window.
  struct Plan {
    // Number of packets expected in this window and the following windows; 0 if unknown.
    std::size_t packets = 0;
    std::size_t repairs = 0;  // maximum number of repairs for which there is time
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
  // Number of windows that got only few repairs, because there was no time for more.
  std::uint64_t starved() const { return starved_; }
  void clear();

 private:
  static constexpr std::size_t kWindows = 16;
  // Packets in a window if the expected number is unknown.
  static constexpr std::size_t kSmallWindow = 64;
  static constexpr Duration kLull = Duration::milliseconds(2);
  static constexpr Duration kLongestLull = Duration::milliseconds(100);
  // While other bytes wait, a window ends after a pause of this number of average gaps between its
  // packets.
  static constexpr std::int64_t kGapsOfLull = 8;
  // One repair for this number of packets, while other bytes wait.
  static constexpr std::size_t kShare = 8;
  // A window may always have this number of repairs. Their time is so short that it is not counted.
  static constexpr std::size_t kFewRepairs = 6;
  // The number of early repairs is the average number of lost packets, times this factor. About
  // half of the windows lose more packets than the average. Without the factor, their last losses
  // would only be repaired after the end of the window.
  static constexpr double kEarly = 1.3;
  // Maximum number of packets of short flows that are sent before repairs.
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
    std::size_t begun = 0;  // number of initialized bytes in each sum
    // Number of repairs of the window. Those that are not sent while it is open are sent
    // afterwards.
    std::size_t repairs = 0;
    std::size_t sent = 0;
    // Number of additions for which the budget was charged, but which are not done yet.
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
  // After the first window has ended, packets of short flows are sent before its repairs. The first
  // repair waits for courtesy() packets, and each further repair for spread() packets.
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
