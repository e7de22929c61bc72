// The receiving half of one code. It keeps copies of the last packets that the code covers, and
// recovers lost packets as soon as there are enough repairs.
//
// The missing packets are the unknowns of linear equations, one for each repair. The equations are
// solved by Gauss-Jordan elimination as they arrive: each equation keeps one unknown that no other
// equation has. An equation with a single unknown gives a packet. As long as no packet is lost,
// nothing is calculated.
//
// All memory is allocated for the first covered packet or repair, and freed when none has arrived
// for a while. A packet is kept until a packet with an index that is higher by `kept` replaces it.
// A repair is kept until it has recovered a packet, until a newer repair replaces it, or for one
// second.
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
  // Maximum numbers of repairs that wait for further repairs, and of missing packets that these
  // repairs cover.
  static constexpr std::size_t kMostEquations = 160;
  static constexpr std::size_t kMostUnknowns = 256;
  // Repairs are dropped after this time, as the missing packets have long been retransmitted.
  static constexpr Duration kTimeout = Duration::seconds(1);
  // If repairs do not fill a gap among covered packets within this time, the gap is reported at
  // once.
  static constexpr Duration kPatience = Duration::milliseconds(20);
  // All memory is freed after this time without a packet or repair of the code.
  static constexpr Duration kIdle = Duration::seconds(30);

  struct Packet {
    std::uint64_t number = 0;
    ConstBytes frames;
  };
  struct Counters {
    std::uint64_t used = 0;       // packets that were recovered
    std::uint64_t wasted = 0;     // repairs that recovered no packet
    std::uint64_t overload = 0;   // repairs that were dropped for lack of time
    std::uint64_t malformed = 0;  // symbols that contradict the packets that they cover
  };

  // `kept` is the number of packets to keep, a power of two. `codec` and `budget` must outlive this
  // object.
  FecReceiver(const FecCodec& codec, RepairBudget& budget, std::size_t kept,
              std::size_t max_datagram);

  // Handles a covered packet that has arrived and is recorded in `received`. `frames` are the
  // frames after its CODED. If waiting repairs cover this packet, it is inserted into their
  // equations. If the budget of the call is used up, that is left to settle_known().
  void handle_packet(std::uint16_t index, std::uint64_t number, ConstBytes frames,
                     const ReceivedPackets& received, Instant now);
  // Handles the REPAIR `frame` of a packet that is recorded in `received`.
  void handle_repair(const RepairFrame& frame, const ReceivedPackets& received, Instant now);
  // Whether work is left for the next call. There are two kinds: recovered packets that were
  // deferred, and late packets that are still unknowns of equations. Each call of settle_known()
  // inserts one late packet into the equations.
  bool work_waits() const { return rest_waits_ || known_waits_; }
  void leave_work() { rest_waits_ = known_waits_ = false; }
  void settle_known(const ReceivedPackets& received);
  // The lost packets that the last call recovered. Valid until the next call, or as long as they
  // are deferred.
  std::span<const Packet> repaired() const {
    if (repaired_count_ == repaired_first_) return {};
    return std::span(store_->repaired).subspan(repaired_first_, repaired_count_ - repaired_first_);
  }
  // Defers the packets of repaired() except the first `used`. No repair may be handled until the
  // caller has used the deferred packets.
  void deferred_repaired(std::size_t used) {
    repaired_first_ += used;
    rest_waits_ = true;
  }
  void end_repaired() { rest_waits_ = false; }
  bool rest_waits() const { return rest_waits_; }

  // Drops repairs that have waited too long, and frees all memory after kIdle.
  void expire(Instant now);
  Instant next_timeout() const;
  // When all memory will be freed, if no packet or repair arrives.
  Instant idle_at() const { return store_ == nullptr ? Instant::never() : last_used_ + kIdle; }
  const Counters& counters() const { return counters_; }
  std::uint64_t used_in_session() const { return counters_.used - used_before_; }
  bool holds_memory() const { return store_ != nullptr; }
  // Counts a repair that was dropped: there was no time to use it, and no free slot to keep it.
  void refuse_repair() { ++counters_.overload; }
  void clear();

 private:
  using Index = std::uint64_t;  // a packet's number in the code, unwrapped
  static constexpr Index kNone = ~Index{0};
  static constexpr Index kRound = 0x10000;
  struct Kept {
    Index index = kNone;
    std::uint16_t size = 0;  // size of the symbol in bytes
  };
  // A repair after its known packets were subtracted. The rest is a sum of unknown packets, each
  // multiplied by a factor.
  struct Equation {
    std::byte* symbol = nullptr;
    std::size_t size = 0;   // padded size of the symbol in bytes
    std::size_t pivot = 0;  // the unknown that no other equation has; its factor is 1
    Instant since;
    std::array<std::uint8_t, kMostUnknowns> factors{};
  };

  Index unwrap(std::uint16_t index) const;
  // All large memory. It is allocated for the first packet or repair, and freed when none has
  // arrived for kIdle.
  struct Store {
    Store(std::size_t kept_count, std::size_t stride);

    std::vector<Kept> kept;
    std::unique_ptr<std::byte[]> kept_symbols;
    std::unique_ptr<std::byte[]> equation_symbols;
    std::byte* spare;                 // space for one more symbol
    std::vector<Equation> equations;  // the first equation_count_ are in use
    // The packet index of each column; kNone if the column is free.
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
  // Whether the packets from `first` on are no longer kept. In this case, unwrap() has returned an
  // index far above the newest one.
  bool is_too_late(Index first) const { return newest_ != kNone && first > newest_ + kRound / 2; }
  void keep(Index index, std::uint64_t number, std::size_t size) {
    store_->kept[index & (kept_count_ - 1)] = {index, static_cast<std::uint16_t>(size)};
    if (newest_ != kNone && index < newest_) return;
    newest_ = index;
    newest_number_ = number;
  }
  std::span<Equation> equations() { return std::span(store_->equations).first(equation_count_); }
  // How many packets from `first` on are not kept, and how many new columns they need.
  struct Missing {
    std::size_t packets = 0;
    std::size_t columns = 0;
  };
  Missing missing_of(Index first, std::size_t count) const;
  std::size_t column_of(Index index);
  // Sets `equation` to the symbol of `frame` minus all known packets. Returns false if the symbol
  // contradicts these packets.
  bool begin(const RepairFrame& frame, Index first, Equation& equation);
  // Adds the equation, and keeps all equations in reduced row echelon form. Returns false if the
  // equation follows from the others.
  bool insert(Equation& equation);
  // Chooses a pivot, and eliminates it from all other equations. Returns false if the equation has
  // no unknown.
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
  bool rest_waits_ = false;   // some of the recovered packets are deferred
  bool known_waits_ = false;  // a packet that is an unknown of an equation has arrived late
  Counters counters_;
  std::uint64_t used_before_ = 0;  // value of `used` at the last clear()
};

}  // namespace satrelay::stp
