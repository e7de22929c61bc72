#include "pep/stp/fec/fec_receiver.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "pep/base/check.h"
#include "pep/base/sequence.h"

namespace satrelay::stp {

namespace {

// The check of one packet or unknown takes three nanoseconds, and an addition takes a hundred.
constexpr std::size_t kLooksInAnAddition = 32;

// The factors of an equation are added and multiplied like symbols.
std::byte* raw(std::array<std::uint8_t, FecReceiver::kMostUnknowns>& factors) {
  return reinterpret_cast<std::byte*>(factors.data());
}
ConstBytes symbol_of(const std::array<std::uint8_t, FecReceiver::kMostUnknowns>& factors) {
  static_assert(FecReceiver::kMostUnknowns % FecCodec::kUnit == 0);
  return std::as_bytes(std::span(factors));
}

}  // namespace

FecReceiver::Store::Store(std::size_t kept_count, std::size_t stride)
    : kept(kept_count),
      // Not initialized: pages that are never used take no memory.
      kept_symbols(new std::byte[kept_count * stride]),
      equation_symbols(new std::byte[(kMostEquations + 1) * stride]),
      spare(equation_symbols.get() + kMostEquations * stride),
      equations(kMostEquations) {
  for (std::size_t i = 0; i < kMostEquations; ++i) {
    equations[i].symbol = equation_symbols.get() + i * stride;
  }
  unknowns.fill(kNone);
}

FecReceiver::FecReceiver(const FecCodec& codec, RepairBudget& budget, std::size_t kept,
                         std::size_t max_datagram)
    : codec_(codec), budget_(budget), stride_(symbol_stride(max_datagram)), kept_count_(kept) {
  SATRELAY_CHECK(std::has_single_bit(kept));
}

void FecReceiver::provide(Instant now) {
  last_used_ = now;
  if (store_ == nullptr) store_ = std::make_unique<Store>(kept_count_, stride_);
}

// Returns the lowest unwrapped index with these 16 bits that is not below the oldest packet that
// can be kept. So a packet older than that gets the index of a future packet.
FecReceiver::Index FecReceiver::unwrap(std::uint16_t index) const {
  if (newest_ == kNone) return kRound + index;
  const Index oldest = newest_ + 1 - kept_count_;
  return oldest + static_cast<std::uint16_t>(index - static_cast<std::uint16_t>(oldest));
}

void FecReceiver::handle_packet(std::uint16_t index, std::uint64_t number, ConstBytes frames,
                                const ReceivedPackets& received, Instant now) {
  if (!rest_waits_) forget_repaired();
  if (kSymbolHeaderSize + frames.size() > stride_) return;
  provide(now);
  const Index at = unwrap(index);
  if (has(at)) return;
  // The packet is older than all kept packets, so it is not kept. Its index looks like a newer one,
  // but its packet number is lower.
  if (newest_ != kNone && at > newest_ && number < newest_number_) return;
  const std::size_t size = write_symbol(kept_symbol(at), number, frames);
  keep(at, number, size);
  if (unknown_count_ == 0) return;
  expire(now);
  // This late packet may be an unknown of an equation.
  const auto* const unknown = std::ranges::find(store_->unknowns, at);
  if (unknown == store_->unknowns.end()) return;
  if (rest_waits_ || budget_.call_is_spent()) {
    known_waits_ = true;
    return;
  }
  on_known(static_cast<std::size_t>(unknown - store_->unknowns.begin()),
           ConstBytes(kept_symbol(at), FecCodec::padded(size)));
  give_back(received);
}

void FecReceiver::settle_known(const ReceivedPackets& received) {
  forget_repaired();
  known_waits_ = false;
  if (store_ == nullptr) return;
  const auto is_kept = [this](Index index) { return index != kNone && has(index); };
  const auto* const known = std::ranges::find_if(store_->unknowns, is_kept);
  // Newer packets may have replaced the late packets in the store. Then no work is left.
  if (known == store_->unknowns.end()) return;
  known_waits_ = true;
  const std::size_t size = kept(*known).size;
  on_known(static_cast<std::size_t>(known - store_->unknowns.begin()),
           ConstBytes(kept_symbol(*known), FecCodec::padded(size)));
  give_back(received);
}

void FecReceiver::handle_repair(const RepairFrame& frame, const ReceivedPackets& received,
                                Instant now) {
  SATRELAY_DCHECK(!rest_waits_);
  forget_repaired();
  expire(now);
  if (frame.symbol.size() > stride_) {
    ++counters_.malformed;
    return;
  }
  // A useless repair may have only a few octets, but each packet that it covers must be checked.
  // The budget is charged for these checks, so a peer cannot cause many of them.
  if (!budget_.has_time(now)) {
    ++counters_.overload;
    return;
  }
  provide(now);
  const Index first = unwrap(frame.first);
  budget_.spend((kMostUnknowns + frame.count) / kLooksInAnAddition);
  const Missing missing = missing_of(first, frame.count);
  if (is_too_late(first) || missing.packets == 0 || missing.packets > kMostEquations) {
    ++counters_.wasted;
    return;
  }
  if (!budget_.take(frame.count, now)) {
    ++counters_.overload;
    return;
  }
  if (unknown_count_ + missing.columns > kMostUnknowns) drop_all();
  if (equation_count_ == kMostEquations) {
    ++counters_.wasted;
    drop(*std::ranges::min_element(equations(), {}, &Equation::since));
    forget_unneeded();
  }
  Equation& equation = store_->equations[equation_count_];
  equation.since = now;
  if (!begin(frame, first, equation)) {
    ++counters_.malformed;
  } else if (insert(equation)) {
    ++equation_count_;
    give_back(received);
  } else {
    ++counters_.wasted;
  }
}

FecReceiver::Missing FecReceiver::missing_of(Index first, std::size_t count) const {
  Missing missing;
  for (Index at = first; at < first + count && missing.packets <= kMostEquations; ++at) {
    if (!has(at)) ++missing.packets;
  }
  // An unknown that has arrived late is in the store until settle_known() handles it. It is not
  // counted here.
  const auto is_among = [=, this](Index unknown) {
    return unknown >= first && unknown < first + count && !has(unknown);
  };
  const auto known = static_cast<std::size_t>(std::ranges::count_if(store_->unknowns, is_among));
  missing.columns = missing.packets - std::min(known, missing.packets);
  return missing;
}

std::size_t FecReceiver::column_of(Index index) {
  auto* const known = std::ranges::find(store_->unknowns, index);
  if (known != store_->unknowns.end())
    return static_cast<std::size_t>(known - store_->unknowns.begin());
  auto* const free = std::ranges::find(store_->unknowns, kNone);
  SATRELAY_CHECK(free != store_->unknowns.end());
  *free = index;
  ++unknown_count_;
  return static_cast<std::size_t>(free - store_->unknowns.begin());
}

bool FecReceiver::begin(const RepairFrame& frame, Index first, Equation& equation) {
  const std::size_t size = frame.symbol.size();
  for (Index at = first; at < first + frame.count; ++at) {
    if (has(at) && kept(at).size > size) return false;
  }
  std::memcpy(equation.symbol, frame.symbol.data(), size);
  equation.size = FecCodec::padded(size);
  std::memset(equation.symbol + size, 0, equation.size - size);
  equation.factors.fill(0);
  for (Index at = first; at < first + frame.count; ++at) {
    const std::uint8_t factor = FecCodec::coefficient(frame.row, static_cast<std::uint16_t>(at));
    if (has(at)) {
      codec_.add(factor, ConstBytes(kept_symbol(at), FecCodec::padded(kept(at).size)),
                 equation.symbol);
    } else {
      equation.factors[column_of(at)] = factor;
    }
  }
  return true;
}

void FecReceiver::add(std::uint8_t factor, const Equation& from, Equation& to) {
  budget_.spend(1);
  if (from.size > to.size) {
    std::memset(to.symbol + to.size, 0, from.size - to.size);
    to.size = from.size;
  }
  codec_.add(factor, ConstBytes(from.symbol, from.size), to.symbol);
  codec_.add(factor, symbol_of(from.factors), raw(to.factors));
}

void FecReceiver::scale(std::uint8_t factor, Equation& equation) {
  budget_.spend(1);
  std::memset(store_->spare, 0, equation.size);
  codec_.add(factor, ConstBytes(equation.symbol, equation.size), store_->spare);
  std::swap(store_->spare, equation.symbol);
  const auto factors = std::exchange(equation.factors, {});
  codec_.add(factor, symbol_of(factors), raw(equation.factors));
}

bool FecReceiver::insert(Equation& equation) {
  for (const Equation& other : equations()) {
    if (const std::uint8_t factor = equation.factors[other.pivot]; factor != 0) {
      add(factor, other, equation);
    }
  }
  return choose_pivot(equation);
}

bool FecReceiver::choose_pivot(Equation& equation) {
  const auto* const first =
      std::ranges::find_if(equation.factors, [](std::uint8_t factor) { return factor != 0; });
  if (first == equation.factors.end()) return false;
  equation.pivot = static_cast<std::size_t>(first - equation.factors.begin());
  if (*first != 1) scale(FecCodec::inverse(*first), equation);
  for (Equation& other : equations()) {
    if (&other == &equation) continue;
    if (const std::uint8_t factor = other.factors[equation.pivot]; factor != 0) {
      add(factor, equation, other);
    }
  }
  return true;
}

void FecReceiver::on_known(std::size_t column, ConstBytes symbol) {
  store_->unknowns[column] = kNone;
  --unknown_count_;
  for (std::size_t i = equation_count_; i-- > 0;) {
    Equation& equation = store_->equations[i];
    const std::uint8_t factor = std::exchange(equation.factors[column], 0);
    if (factor == 0) continue;
    if (symbol.size() > equation.size) {
      std::memset(equation.symbol + equation.size, 0, symbol.size() - equation.size);
      equation.size = symbol.size();
    }
    budget_.spend(1);
    codec_.add(factor, symbol, equation.symbol);
    if (equation.pivot == column && !choose_pivot(equation)) {
      ++counters_.wasted;
      drop(equation);
    }
  }
}

void FecReceiver::give_back(const ReceivedPackets& received) {
  budget_.spend(equation_count_);  // the search takes time, too
  for (std::size_t i = equation_count_; i-- > 0;) {
    Equation& equation = store_->equations[i];
    const auto others = std::ranges::count(equation.factors, 0);
    if (static_cast<std::size_t>(others) == kMostUnknowns - 1) give_back(equation, received);
  }
}

// Recovers the only unknown of the equation.
void FecReceiver::give_back(Equation& equation, const ReceivedPackets& received) {
  const Index index = std::exchange(store_->unknowns[equation.pivot], kNone);
  --unknown_count_;
  const std::size_t length = load_u16(equation.symbol + 4);
  const std::size_t size = kSymbolHeaderSize + length;
  if (length == 0 || size > equation.size) {
    ++counters_.malformed;
    drop(equation);
    return;
  }
  const std::uint64_t number = unwrap_sequence<32>(load_u32(equation.symbol), received.next());
  if (is_within_reach(index)) {
    std::memcpy(kept_symbol(index), equation.symbol, FecCodec::padded(size));
    keep(index, number, size);
  }
  if (received.is_missing(number)) {
    // These bytes are not overwritten before the next call.
    store_->repaired[repaired_count_++] = {number,
                                           ConstBytes(equation.symbol + kSymbolHeaderSize, length)};
    ++counters_.used;
  } else {
    ++counters_.wasted;  // the packet was retransmitted meanwhile
  }
  drop(equation);
}

// Removes the equation. The last equation takes its slot.
void FecReceiver::drop(Equation& equation) {
  --equation_count_;
  std::swap(equation, store_->equations[equation_count_]);
}

void FecReceiver::drop_all() {
  counters_.wasted += equation_count_;
  equation_count_ = 0;
  store_->unknowns.fill(kNone);
  unknown_count_ = 0;
}

// Frees the columns that no equation uses any more.
void FecReceiver::forget_unneeded() {
  std::array<std::uint8_t, kMostUnknowns> needed{};
  for (const Equation& equation : equations()) {
    for (std::size_t i = 0; i < kMostUnknowns; ++i) needed[i] |= equation.factors[i];
  }
  for (std::size_t column = 0; column < kMostUnknowns; ++column) {
    if (store_->unknowns[column] == kNone || needed[column] != 0) continue;
    store_->unknowns[column] = kNone;
    --unknown_count_;
  }
}

void FecReceiver::expire(Instant now) {
  const std::size_t before = equation_count_;
  for (std::size_t i = equation_count_; i-- > 0;) {
    if (now < store_->equations[i].since + kTimeout) continue;
    ++counters_.wasted;
    drop(store_->equations[i]);
  }
  if (equation_count_ != before) forget_unneeded();
  if (store_ != nullptr && now >= idle_at()) forget_all();
}

Instant FecReceiver::next_timeout() const {
  Instant at = Instant::never();
  for (std::size_t i = 0; i < equation_count_; ++i) {
    at = earlier(at, store_->equations[i].since + kTimeout);
  }
  return at;
}

void FecReceiver::forget_all() {
  store_.reset();
  newest_ = kNone;
  equation_count_ = 0;
  unknown_count_ = 0;
  forget_repaired();
  leave_work();
}

void FecReceiver::clear() {
  forget_all();
  used_before_ = counters_.used;
}

}  // namespace satrelay::stp
