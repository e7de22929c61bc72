// Chooses the next class of traffic on a carrier and, within a class, the next source: the bridged
// frames or the session of a peer.
//
// Classes with guaranteed rate left go first. The class that has waited longest for it precedes the
// others (virtual clock: Zhang, SIGCOMM '90). The rest of the carrier is shared by weight, and is
// not counted against a class's guarantee. The sources of a class share its turns in proportion to
// the hosts that wait in them. A host of bridged frames is a source by itself (held_frames.h).
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
  // `rate`: rate of the carrier. All guaranteed rates together never exceed
  // config::kMostGuaranteedPercent of it. If the carrier becomes slower than that, all shrink in
  // proportion.
  ClassOrder(BitRate rate, std::size_t sources);

  void set(const std::array<ClassRates, schedule::kClasses>& rates, Instant now);
  void set_rate(BitRate rate, Instant now);
  // This worker's share, from now on. set() and set_rate() still give the values of the whole
  // carrier.
  void take_share(const LinkShare& share, Instant now);
  // The share has expired: this worker has `part` of kWholeLink of all rates.
  void fall_back(std::uint32_t part, Instant now);

  // The class that sends next, of `waiting`; nullopt if none may send now.
  std::optional<schedule::ClassId> next(schedule::ClassSet waiting, Instant now) const;
  // The classes that their maximum does not hold back.
  schedule::ClassSet open(Instant now) const;
  bool has_maxima() const { return limited_ != 0; }
  // When the first of `classes` is no longer held back. `classes` must not be empty.
  Instant opens_at(schedule::ClassSet classes) const;
  // The rate that the class gets while all other classes with a weight wait too, by configuration
  // or by this worker's share.
  BitRate expected_rate(schedule::ClassId id) const;

  // The start tag of a source of the class: the smallest goes first.
  std::uint64_t start(schedule::ClassId id, std::size_t source) const {
    return classes_[id].sources.start(source);
  }
  // How far the source's start tag is ahead of the class's virtual time; 0: it is served at once
  // (pep/schedule/fair_tags.h).
  std::uint64_t lead(schedule::ClassId id, std::size_t source) const {
    return classes_[id].sources.lead(source);
  }
  // Call for all bytes that leave. `bytes`: as the carrier counts them. `booked`: bytes that are
  // booked to the source (pep/schedule/host_share.h). `hosts`: hosts that wait in the source; 0
  // counts as 1. Returns how far the virtual time of the class's sources has moved on.
  std::uint64_t on_sent(schedule::ClassId id, std::size_t source, ByteCount bytes, ByteCount booked,
                        std::size_t hosts, Instant now) {
    Class& c = classes_[id];
    const std::uint64_t passed =
        c.sources.on_served(source, booked.value(), std::max<std::size_t>(hosts, 1));
    book(c, id, bytes, now);
    return passed;
  }
  // The same for a bridged frame. Its host keeps a tag of its own, which was `lead` ahead.
  void on_bridged(schedule::ClassId id, std::uint64_t lead, ByteCount bytes, Instant now) {
    classes_[id].sources.pass(lead);
    book(classes_[id], id, bytes, now);
  }

  // Bridged frames leave the connections of their class an eighth, however many hosts they seem to
  // come from: any station can forge source addresses. bridged_may_have_turn(): whether a bridged
  // frame may have the turn while both wait. Call on_bridged_beside_relayed() for bridged bytes
  // that left while both waited, and on_relayed() for all relayed bytes.
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
  // Bytes of their share that bridged frames may have left unused.
  static constexpr std::size_t kShareBurst = 3'000;
  struct Class {
    ClassRates rates;
    std::uint32_t weight = 0;  // from `rates`, or from the share
    BitRate expected;          // from the share
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
  // At the present rate of the carrier.
  BitRate guaranteed(const Class& c) const;

  BitRate rate_;
  bool is_shared_ = false;
  std::uint64_t all_guaranteed_ = 0;  // bit/s, as configured
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet limited_ = 0;  // classes that have a maximum
  schedule::FairTags tags_{schedule::kClasses};
};

}  // namespace satrelay::gateway
