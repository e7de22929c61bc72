// The receiving half of one code: keeps copies of the last packets that it covers, and gives back
// those that were lost as soon as the repairs suffice.
//
// What is missing are the unknowns of linear equations, one a repair. They are solved as they come,
// by Gauss and Jordan: each keeps one unknown that no other has, and one with no second unknown is
// a packet. Nothing is calculated while nothing is lost.
//
// Memory is taken for the first packet that the code covers, all at once, and given back when none
// has come for a while. A packet is kept until one with an index kKept higher takes its
// place, a repair until it has given back a packet, its packets are no longer kept, or a second is
// over.
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
#include "pep/stp/packets/received_packets.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class FecReceiver {
 public:
  // Repairs that wait for others, and packets that they stand for.
  static constexpr std::size_t kMostEquations = 160;
  static constexpr std::size_t kMostUnknowns = 256;
  // After this what is missing has been sent again long since.
  static constexpr Duration kTimeout = Duration::seconds(1);
  // How long a gap among protected packets is left to repair before it is reported at once.
  static constexpr Duration kPatience = Duration::milliseconds(20);
  // After this without a packet of the code nothing is kept any more.
  static constexpr Duration kIdle = Duration::seconds(30);

  struct Packet {
    std::uint64_t number = 0;
    ConstBytes frames;
  };
  struct Counters {
    std::uint64_t used = 0;       // packets given back
    std::uint64_t wasted = 0;     // repairs of which nothing came
    std::uint64_t overload = 0;   // repairs for which there was no time
    std::uint64_t malformed = 0;  // symbols that contradict their packets
  };

  // `kept`: packets, a power of two. `codec` and `budget` outlive this.
  FecReceiver(const FecCodec& codec, RepairBudget& budget, std::size_t kept,
              std::size_t max_datagram);

  // A covered packet arrived and is recorded, with `frames` behind its CODED. If repairs have
  // waited for it and the call's budget is spent, they wait for settle_known().
  void handle_packet(std::uint16_t index, std::uint64_t number, ConstBytes frames,
                     const ReceivedPackets& received, Instant now);
  // A packet with `frame` arrived and is recorded.
  void handle_repair(const RepairFrame& frame, const ReceivedPackets& received, Instant now);
  // Whether something is left for the next call: packets that were put off, or one that has come of
  // which repairs have yet to be told. settle_known() tells those of one.
  bool work_waits() const { return rest_waits_ || known_waits_; }
  void leave_work() { rest_waits_ = known_waits_ = false; }
  void settle_known(const ReceivedPackets& received);
  // What the last call gave back: packets that were lost; valid until the next call, unless they
  // are put off.
  std::span<const Packet> repaired() const {
    if (repaired_count_ == repaired_first_) return {};
    return std::span(store_->repaired).subspan(repaired_first_, repaired_count_ - repaired_first_);
  }
  // All but the first `used` of these wait: until they have been used, no repair is handled.
  void deferred_repaired(std::size_t used) {
    repaired_first_ += used;
    rest_waits_ = true;
  }
  void end_repaired() { rest_waits_ = false; }
  bool rest_waits() const { return rest_waits_; }

  // Drops repairs whose time is over, and in the end what is kept.
  void expire(Instant now);
  Instant next_timeout() const;
  // When nothing is kept any more, if no packet comes.
  Instant idle_at() const { return store_ == nullptr ? Instant::never() : last_used_ + kIdle; }
  const Counters& counters() const { return counters_; }
  std::uint64_t used_in_session() const { return counters_.used - used_before_; }
  bool holds_memory() const { return store_ != nullptr; }
  // A repair came for which there is neither time nor place to wait.
  void refuse_repair() { ++counters_.overload; }
  void clear();

 private:
  using Index = std::uint64_t;  // of a packet in the code, as far as it is known here
  static constexpr Index kNone = ~Index{0};
  static constexpr Index kRound = 0x10000;
  struct Kept {
    Index index = kNone;
    std::uint16_t size = 0;  // of the symbol
  };
  // A repair less what is known of its packets: the sum of factor times unknown.
  struct Equation {
    std::byte* symbol = nullptr;
    std::size_t size = 0;   // padded
    std::size_t pivot = 0;  // the unknown that no other has, and whose factor is 1
    Instant since;
    std::array<std::uint8_t, kMostUnknowns> factors{};
  };

  Index unwrap(std::uint16_t index) const;
  // What needs memory; there is one where a packet or a repair is looked at.
  struct Store {
    Store(std::size_t kept_count, std::size_t stride);

    std::vector<Kept> kept;
    std::unique_ptr<std::byte[]> kept_symbols;
    std::unique_ptr<std::byte[]> equation_symbols;
    std::byte* spare;                           // one symbol more
    std::vector<Equation> equations;            // the first equation_count_ of them
    std::array<Index, kMostUnknowns> unknowns;  // by column; kNone: free
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
  // So far ahead no repair is; it is of packets that are no longer kept.
  bool is_too_late(Index first) const { return newest_ != kNone && first > newest_ + kRound / 2; }
  void keep(Index index, std::uint64_t number, std::size_t size) {
    store_->kept[index & (kept_count_ - 1)] = {index, static_cast<std::uint16_t>(size)};
    if (newest_ != kNone && index < newest_) return;
    newest_ = index;
    newest_number_ = number;
  }
  std::span<Equation> equations() { return std::span(store_->equations).first(equation_count_); }
  // Those of the packets from `first` on that are not kept; and how many columns they need more.
  struct Missing {
    std::size_t packets = 0;
    std::size_t columns = 0;
  };
  Missing missing_of(Index first, std::size_t count) const;
  std::size_t column_of(Index index);
  // The symbol of `frame` less all of its packets that are known; false if it contradicts them.
  bool begin(const RepairFrame& frame, Index first, Equation& equation);
  // Into reduced echelon form, in which it is the last of the others; false if it says nothing new.
  bool insert(Equation& equation);
  // Chooses a pivot and takes it out of all others; false if there is no unknown.
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
  bool rest_waits_ = false;   // of those
  bool known_waits_ = false;  // at least one of the unknowns is kept
  Counters counters_;
  std::uint64_t used_before_ = 0;  // clear()
};

}  // namespace satrelay::stp
