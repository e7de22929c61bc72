#include "relay/gateway/uplink/class_order.h"

#include <algorithm>

#include "config/model/traffic_class.h"
#include "relay/gateway/shares/fallbacks.h"

namespace satrelay::gateway {
namespace {

using schedule::ClassId;
using schedule::ClassSet;

// How far a class may be ahead of its guaranteed rate, and of its maximum. The first allows for
// bursts of speech, and the second for gaps between two polls.
constexpr Duration kGuaranteedBurst = Duration::milliseconds(20);
constexpr Duration kMaximumBurst = Duration::milliseconds(4);

// Minimum rate of a worker's pacer in fall_back(). A pacer with the rate zero would never allow a
// packet again.
constexpr BitRate kLeastPart = BitRate::bits_per_second(8);

// The overhead is zero, since the sizes already include the overhead of the carrier.
control::Pacer pacer(BitRate rate, Duration burst) {
  return {rate, control::LinkOverhead{0}, burst};
}

template <typename Visit>
void for_each_class(ClassSet set, Visit&& visit) {
  for (; set != 0; set &= set - 1) visit(schedule::lowest_class(set));
}

}  // namespace

ClassOrder::ClassOrder(BitRate rate, std::size_t sources) : rate_(rate) {
  for (Class& c : classes_) c.sources = schedule::FairTags(sources);
}

BitRate ClassOrder::guaranteed(const Class& c) const {
  const BitRate most = rate_.scaled(config::kMostGuaranteedPercent, 100);
  if (all_guaranteed_ <= most.to_bits_per_second()) return c.rates.guaranteed;
  return c.rates.guaranteed.scaled(most.to_bits_per_second(), all_guaranteed_);
}

void ClassOrder::apply(Class& c, Instant now) const {
  const auto set = [&](std::optional<control::Pacer>& to, BitRate rate, Duration burst) {
    if (rate.is_zero()) {
      to.reset();
    } else if (!to) {
      to.emplace(pacer(rate, burst));
    } else if (!is_shared_) {
      to->set_rate(rate, now);
    }
  };
  set(c.guaranteed, guaranteed(c), kGuaranteedBurst);
  set(c.maximum, c.rates.maximum, kMaximumBurst);
}

void ClassOrder::set(const std::array<ClassRates, schedule::kClasses>& rates, Instant now) {
  limited_ = 0;
  all_guaranteed_ = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    classes_[i].rates = rates[i];
    if (!is_shared_) classes_[i].weight = rates[i].weight;
    if (!rates[i].maximum.is_zero()) limited_ |= schedule::class_bit(static_cast<ClassId>(i));
    all_guaranteed_ += rates[i].guaranteed.to_bits_per_second();
  }
  for (Class& c : classes_) apply(c, now);
}

void ClassOrder::set_rate(BitRate rate, Instant now) {
  if (rate == rate_) return;
  rate_ = rate;
  for (Class& c : classes_) apply(c, now);
}

void ClassOrder::take_share(const LinkShare& share, Instant now) {
  is_shared_ = true;
  for_each_class(share.set, [&](ClassId id) {
    Class& c = classes_[id];
    const ClassShare& part = share.classes[id];
    c.weight = part.weight;
    c.expected = part.expected;
    if (c.guaranteed && !part.guaranteed.is_zero()) c.guaranteed->take_share(part.guaranteed, now);
    if (c.maximum && !part.maximum.is_zero()) c.maximum->take_share(part.maximum, now);
  });
}

void ClassOrder::fall_back(std::uint32_t part, Instant now) {
  const auto set = [&](std::optional<control::Pacer>& pacer, BitRate rate) {
    if (pacer) pacer->take_share(std::max(rate.scaled(part, kWholeLink), kLeastPart), now);
  };
  for (Class& c : classes_) {
    set(c.guaranteed, guaranteed(c));
    set(c.maximum, c.rates.maximum);
  }
}

ClassSet ClassOrder::open(Instant now) const {
  ClassSet open = schedule::kEveryClass;
  for_each_class(limited_, [&](ClassId id) {
    if (!classes_[id].maximum->can_send(now)) open &= ~schedule::class_bit(id);
  });
  return open;
}

Instant ClassOrder::opens_at(ClassSet classes) const {
  Instant first = Instant::never();
  for_each_class(classes, [&](ClassId id) {
    const auto& maximum = classes_[id].maximum;
    first = earlier(first, maximum ? maximum->next_send() : Instant());
  });
  return first;
}

std::optional<ClassId> ClassOrder::next(ClassSet waiting, Instant now) const {
  waiting &= open(now);
  if (waiting == 0) return std::nullopt;
  if ((waiting & (waiting - 1)) == 0) return schedule::lowest_class(waiting);
  std::optional<ClassId> best;
  Instant longest = Instant::never();
  for_each_class(waiting, [&](ClassId id) {
    const auto& pacer = classes_[id].guaranteed;
    if (!pacer || !pacer->can_send(now) || pacer->free_at() >= longest) return;
    best = id;
    longest = pacer->free_at();
  });
  if (best) return best;
  for_each_class(waiting, [&](ClassId id) {
    const bool shares = classes_[id].rates.weight > 0;
    if (best) {
      const bool best_shares = classes_[*best].rates.weight > 0;
      if (shares != best_shares ? best_shares : tags_.start(*best) <= tags_.start(id)) return;
    }
    best = id;
  });
  return best;
}

BitRate ClassOrder::expected_rate(ClassId id) const {
  const Class& c = classes_[id];
  if (is_shared_) return c.expected;
  std::uint64_t weights = 0;
  std::uint64_t left = rate_.to_bits_per_second();
  for (const Class& each : classes_) {
    weights += each.rates.weight;
    left -= std::min(left, guaranteed(each).to_bits_per_second());
  }
  std::uint64_t bits = guaranteed(c).to_bits_per_second();
  if (c.rates.weight > 0) bits += left / weights * c.rates.weight;
  const BitRate rate = BitRate::bits_per_second(bits);
  return c.rates.maximum.is_zero() ? rate : std::min(rate, c.rates.maximum);
}

}  // namespace satrelay::gateway
