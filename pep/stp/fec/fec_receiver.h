// The receiving half of one code. It keeps copies of the last packets that the code covers, and
// gives back lost packets as soon as the repairs suffice.
//
// The missing packets are the unknowns of linear equations, one equation for each repair. They are
// solved by Gauss-Jordan elimination as they come: each equation keeps one unknown that no other
// has. An equation with a single unknown is a packet. Nothing is calculated while nothing is lost.
//
// All memory is allocated with the first covered packet or repair, and freed when none has come for
// a while. A packet is kept until a packet with an index `kept` higher takes its place. A repair is
// kept until it has given back a packet, a newer one needs its place, or a second is over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/fec/repair_budget.h"
#include "pep/stp/fec/source_symbol.h"
#include "pep/stp/numbers/received_packets.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class FecReceiver {
 public:
  // The most repairs that wait for others, and the most missing packets in them.
  static constexpr std::size_t kMostEquations = 160;
  static constexpr std::size_t kMostUnknowns = 256;
  // After this time the missing packets have long been sent again.
  static constexpr Duration kTimeout = Duration::seconds(1);
  // How long a gap among protected packets may be repaired before it is reported at once.
  static constexpr Duration kPatience = Duration::milliseconds(20);
  // After this time without a packet or repair of the code, all memory is freed.
  static constexpr Duration kIdle = Duration::seconds(30);

  struct Packet {
    std::uint64_t number = 0;
    ConstBytes frames;
  };
  struct Counters {
    std::uint64_t used = 0;       // packets given back
    std::uint64_t wasted = 0;     // repairs that gave nothing back
    std::uint64_t overload = 0;   // repairs that there was no time for
    std::uint64_t malformed = 0;  // symbols that contradict their packets
  };

  // `kept`: number of packets, a power of two. `codec` and `budget` outlive this object.
  FecReceiver(const FecCodec& codec, RepairBudget& budget, std::size_t kept,
              std::size_t max_datagram);

  // A covered packet arrived and is recorded; `frames` stand behind its CODED. If repairs have
  // waited for the packet and the call's budget is spent, they wait for settle_known().
  void handle_packet(std::uint16_t index, std::uint64_t number, ConstBytes frames,
                     const ReceivedPackets& received, Instant now);
  // A packet with the repair `frame` arrived and is recorded.
  void handle_repair(const RepairFrame& frame, const ReceivedPackets& received, Instant now);
  // Whether work is left for the next call: deferred packets, or a packet that repairs have waited
  // for and that is not put into them yet. settle_known() does this for one packet.
  bool work_waits() const { return rest_waits_ || known_waits_; }
  void leave_work() { rest_waits_ = known_waits_ = false; }
  void settle_known(const ReceivedPackets& received);
  // The lost packets that the last call gave back. Valid until the next call, or while they are
  // deferred.
  std::span<const Packet> repaired() const {
    if (repaired_count_ == repaired_first_) return {};
    return std::span(store_->repaired).subspan(repaired_first_, repaired_count_ - repaired_first_);
  }
  // Defers all of these but the first `used`. No repair is handled until they have been used.
  void deferred_repaired(std::size_t used) {
    repaired_first_ += used;
    rest_waits_ = true;
  }
  void end_repaired() { rest_waits_ = false; }
  bool rest_waits() const { return rest_waits_; }

  // Drops repairs that have waited too long, and frees the memory after kIdle.
  void expire(Instant now);
  Instant next_timeout() const;
  // When all memory is freed, if no packet or repair comes.
  Instant idle_at() const { return store_ == nullptr ? Instant::never() : last_used_ + kIdle; }
  const Counters& counters() const { return counters_; }
  std::uint64_t used_in_session() const { return counters_.used - used_before_; }
  bool holds_memory() const { return store_ != nullptr; }
  // A repair came, and there is neither time for it nor a place to wait.
  void refuse_repair() { ++counters_.overload; }
  void clear();

 private:
  using Index = std::uint64_t;  // of a packet in the code, unwrapped
  static constexpr Index kNone = ~Index{0};
  static constexpr Index kRound = 0x10000;
  struct Kept {
    Index index = kNone;
    std::uint16_t size = 0;  // of the symbol
  };
  // A repair without the known ones of its packets: the sum of factor times unknown.
  struct Equation {
    std::byte* symbol = nullptr;
    std::size_t size = 0;   // padded
    std::size_t pivot = 0;  // the unknown that no other equation has; its factor is 1
    Instant since;
    std::array<std::uint8_t, kMostUnknowns> factors{};
  };

  Index unwrap(std::uint16_t index) const;
  // All that needs much memory. It exists from the first packet or repair on, until none has come
  // for kIdle.
  struct Store {
    Store(std::size_t kept_count, std::size_t stride);

    std::vector<Kept> kept;
    std::unique_ptr<std::byte[]> kept_symbols;
    std::unique_ptr<std::byte[]> equation_symbols;
    std::byte* spare;                 // room for one more symbol
    std::vector<Equation> equations;  // the first equation_count_ are in use
    // For each column the index of its packet; kNone: free.
    std::array<Index, kMostUnknowns> unknowns;
    std::array<Packet, kMostEquations> repaired;
  };
  void provide(Instant now);
  void forget_repaired() { repaired_first_ = repaired_count_ = 0; }
  std::byte* kept_symbol(Index index) const {
    return store_->kept_symbols.get() + (index & (kept_count_ - 1)) * stride_;
  }
  const Kept& kept(Index index) const { return store_->kept[index & (kept_count_ - 1)]; }
  bool has(Index index) const { return kept(index).index == index; }
  bool is_within_reach(Index index) const {
    return newest_ == kNone || index + kept_count_ > newest_;
  }
  // No repair is so far ahead. It is for packets that are no longer kept.
  bool is_too_late(Index first) const { return newest_ != kNone && first > newest_ + kRound / 2; }
  void keep(Index index, std::uint64_t number, std::size_t size) {
    store_->kept[index & (kept_count_ - 1)] = {index, static_cast<std::uint16_t>(size)};
    if (newest_ != kNone && index < newest_) return;
    newest_ = index;
    newest_number_ = number;
  }
  std::span<Equation> equations() { return std::span(store_->equations).first(equation_count_); }
  // The packets from `first` on that are not kept, and how many more columns they need.
  struct Missing {
    std::size_t packets = 0;
    std::size_t columns = 0;
  };
  Missing missing_of(Index first, std::size_t count) const;
  std::size_t column_of(Index index);
  // Sets `equation` to the symbol of `frame`, less all its known packets; false if it contradicts
  // them.
  bool begin(const RepairFrame& frame, Index first, Equation& equation);
  // Adds the equation to the others in reduced echelon form; false if it follows from them.
  bool insert(Equation& equation);
  // Chooses a pivot and eliminates it from all other equations; false if there is no unknown.
  bool choose_pivot(Equation& equation);
  void add(std::uint8_t factor, const Equation& from, Equation& to);
  void scale(std::uint8_t factor, Equation& equation);
  void give_back(const ReceivedPackets& received);
  void give_back(Equation& equation, const ReceivedPackets& received);
  void on_known(std::size_t column, ConstBytes symbol);
  void drop(Equation& equation);
  void drop_all();
  void forget_all();
  void forget_unneeded();

  const FecCodec& codec_;
  RepairBudget& budget_;
  std::size_t stride_;
  std::size_t kept_count_;
  std::unique_ptr<Store> store_;
  Instant last_used_;
  Index newest_ = kNone;
  std::uint64_t newest_number_ = 0;
  std::size_t equation_count_ = 0;
  std::size_t unknown_count_ = 0;
  std::size_t repaired_first_ = 0, repaired_count_ = 0;
  bool rest_waits_ = false;   // some of these packets are deferred
  bool known_waits_ = false;  // at least one of the unknowns is kept
  Counters counters_;
  std::uint64_t used_before_ = 0;  // value of `used` at the last clear()
};

}  // namespace satrelay::stp
