// Whose turn a carrier is, of the classes of traffic and, within a class, of the sources that send
// in it: the bridged frames and each peer's session.
//
// Classes whose guaranteed rate is not used up go first, the one that has waited longest for it
// before the others (virtual clock: Zhang, SIGCOMM '90). What is left is shared by weight, and what
// a class has got of that is not counted against its guarantee. The sources of a class share its
// turns in proportion to the hosts that wait in them; a host of bridged frames is a source by
// itself (held_frames.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/pacer.h"
#include "pep/schedule/capped_share.h"
#include "pep/schedule/class_set.h"
#include "pep/schedule/fair_tags.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/uplink/held_frames.h"

namespace satrelay::gateway {

class ClassOrder {
 public:
  // `rate`: of the carrier. Guaranteed rates are never more than config::kMostGuaranteedPercent of
  // it together: when it becomes slower than that, all shrink alike.
  ClassOrder(BitRate rate, std::size_t sources);

  void set(const std::array<ClassRates, schedule::kClasses>& rates, Instant now);
  void set_rate(BitRate rate, Instant now);
  // What this worker has of it, from now on; set() and set_rate() are about all of it, still.
  void take_share(const LinkShare& share, Instant now);
  // The share has expired: so much of kWholeLink is this worker's of all rates.
  void fall_back(std::uint32_t part, Instant now);

  // Of those that wait, the one whose turn it is; nullopt if none may send now.
  std::optional<schedule::ClassId> next(schedule::ClassSet waiting, Instant now) const;
  // Those that are not held back by their maximum.
  schedule::ClassSet open(Instant now) const;
  bool has_maxima() const { return limited_ != 0; }
  // When the first of these is no longer held back; not of an empty set.
  Instant opens_at(schedule::ClassSet classes) const;
  // What the class gets while all others that have a weight wait too, as far as is configured.
  BitRate expected_rate(schedule::ClassId id) const;

  // Where a source of the class stands: the smallest goes first.
  std::uint64_t start(schedule::ClassId id, std::size_t source) const {
    return classes_[id].sources.start(source);
  }
  // How far it stands behind who would be served at once (pep/schedule/fair_tags.h).
  std::uint64_t lead(schedule::ClassId id, std::size_t source) const {
    return classes_[id].sources.lead(source);
  }
  // To be told of all that leaves, in bytes as the carrier counts them, and what of it is booked to
  // the source (pep/schedule/host_share.h). `hosts`: that wait in the source, at least 1. By how
  // much the virtual time of the class's sources has moved on.
  std::uint64_t on_sent(schedule::ClassId id, std::size_t source, ByteCount bytes, ByteCount booked,
                        std::size_t hosts, Instant now) {
    Class& c = classes_[id];
    const std::uint64_t passed =
        c.sources.on_served(source, booked.value(), std::max<std::size_t>(hosts, 1));
    book(c, id, bytes, now);
    return passed;
  }
  // The same of a bridged frame, whose host keeps a tag of its own, and stood so far behind.
  void on_bridged(schedule::ClassId id, std::uint64_t lead, ByteCount bytes, Instant now) {
    classes_[id].sources.pass(lead);
    book(classes_[id], id, bytes, now);
  }

  // Bridged frames leave the connections of their class an eighth, however many hosts they say they
  // are of: anybody can write a source address. While both wait: whether a bridged frame may have
  // the turn; to be told of bridged bytes that left while both waited, and of all relayed ones.
  bool bridged_may_have_turn(schedule::ClassId id) const {
    return classes_[id].bridged_share.preferred();
  }
  void on_bridged_beside_relayed(schedule::ClassId id, ByteCount bytes) {
    classes_[id].bridged_share.on_preferred(bytes.value(), HeldFrames::kFirstShare);
  }
  void on_relayed(schedule::ClassId id, std::uint64_t bytes) {
    classes_[id].bridged_share.on_other(bytes, HeldFrames::kFirstShare);
  }

 private:
  static constexpr std::size_t kShareBurst = 3'000;  // bytes that it may have left unused
  struct Class {
    ClassRates rates;
    std::uint32_t weight = 0;  // of these, or of the share
    BitRate expected;          // of the share
    std::optional<control::Pacer> guaranteed, maximum;
    schedule::FairTags sources{0};
    schedule::CappedShare bridged_share{kShareBurst};
  };
  void book(Class& c, schedule::ClassId id, ByteCount bytes, Instant now) {
    const auto size = static_cast<std::size_t>(bytes.value());
    if (c.maximum) c.maximum->on_sent(size, now);
    if (c.guaranteed && c.guaranteed->can_send(now)) {
      c.guaranteed->on_sent(size, now);
    } else {
      tags_.on_served(id, bytes.value(), std::max<std::uint32_t>(c.weight, 1));
    }
  }
  void apply(Class& c, Instant now) const;
  BitRate guaranteed(const Class& c) const;  // of what the carrier carries now

  BitRate rate_;
  bool is_shared_ = false;
  std::uint64_t all_guaranteed_ = 0;  // bit/s, as configured
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet limited_ = 0;  // have a maximum
  schedule::FairTags tags_{schedule::kClasses};
};

}  // namespace satrelay::gateway
