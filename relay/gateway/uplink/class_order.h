// Chooses the class of traffic that sends next on a carrier, and the source in this class: the
// bridged frames, or the session of a lane.
//
// Classes that have not used up their guaranteed rate are first. Among them, the class that has
// waited longest is next (virtual clock: Zhang, SIGCOMM '90). The remaining capacity of the carrier
// is divided by weight. Bytes that a class sends by its weight are not charged to its guarantee.
// Each source of a class gets a part of the class in proportion to the hosts that wait in the
// source. Each host of bridged frames counts as a source (held_frames.h).
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
  // config::kMostGuaranteedPercent of it. If the carrier becomes too slow for that, all guaranteed
  // rates shrink in proportion.
  ClassOrder(BitRate rate, std::size_t sources);

  void set(const std::array<ClassRates, schedule::kClasses>& rates, Instant now);
  void set_rate(BitRate rate, Instant now);
  // From now on, limits this worker to its share. set() and set_rate() must still be called with
  // the values of the whole carrier.
  void take_share(const LinkShare& share, Instant now);
  // Call this when the share has expired. This worker then uses the fraction part / kWholeLink of
  // each rate.
  void fall_back(std::uint32_t part, Instant now);

  // Returns the class of `waiting` that sends next; nullopt if no class may send now.
  std::optional<schedule::ClassId> next(schedule::ClassSet waiting, Instant now) const;
  // The classes that are below their maximum, or have no maximum.
  schedule::ClassSet open(Instant now) const;
  bool has_maxima() const { return limited_ != 0; }
  // Returns the earliest time at which one of `classes` is below its maximum. `classes` must not be
  // empty.
  Instant opens_at(schedule::ClassSet classes) const;
  // The rate that the class gets while all other classes with a weight also have something to send.
  // It is computed from this worker's share or, if there is no share, from the configuration.
  BitRate expected_rate(schedule::ClassId id) const;

  // The start tag of a source. In each class, the source with the smallest tag is next.
  std::uint64_t start(schedule::ClassId id, std::size_t source) const {
    return classes_[id].sources.start(source);
  }
  // How far the source's start tag is ahead of the class's virtual time; 0 means that the source is
  // served at once (pep/schedule/fair_tags.h).
  std::uint64_t lead(schedule::ClassId id, std::size_t source) const {
    return classes_[id].sources.lead(source);
  }
  // Call this for all bytes that a session has sent. `bytes`: their number, with the overhead of
  // the carrier. `booked`: the number of bytes that are charged to the source
  // (pep/schedule/host_share.h). `hosts`: number of hosts that wait in the source; 0 counts as 1.
  // Returns by how much the virtual time of the class's sources has advanced.
  std::uint64_t on_sent(schedule::ClassId id, std::size_t source, ByteCount bytes, ByteCount booked,
                        std::size_t hosts, Instant now) {
    Class& c = classes_[id];
    const std::uint64_t passed =
        c.sources.on_served(source, booked.value(), std::max<std::size_t>(hosts, 1));
    book(c, id, bytes, now);
    return passed;
  }
  // Call this instead of on_sent() for a bridged frame. HeldFrames keeps the tags of the frame's
  // host. `lead`: how far the host was ahead of the class's virtual time.
  void on_bridged(schedule::ClassId id, std::uint64_t lead, ByteCount bytes, Instant now) {
    classes_[id].sources.pass(lead);
    book(classes_[id], id, bytes, now);
  }

  // Any station can forge source addresses, so bridged frames may seem to come from very many
  // hosts. They must still leave an eighth of a class to its relayed connections.
  // bridged_may_have_turn(): whether a bridged frame may be next while relayed connections also
  // wait. Call on_bridged_beside_relayed() for bridged bytes that were sent while relayed
  // connections waited, and on_relayed() for all relayed bytes.
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
  // If bridged frames do not use their share, they may use up to this number of bytes later.
  static constexpr std::size_t kShareBurst = 3'000;
  struct Class {
    ClassRates rates;
    std::uint32_t weight = 0;  // in force: from `rates` or from the worker's share
    BitRate expected;          // the class's expected rate, from the worker's share
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
  // The guaranteed rate of the class at the current rate of the carrier.
  BitRate guaranteed(const Class& c) const;

  BitRate rate_;
  bool is_shared_ = false;
  std::uint64_t all_guaranteed_ = 0;  // bit/s, as configured
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet limited_ = 0;  // classes that have a maximum
  schedule::FairTags tags_{schedule::kClasses};
};

}  // namespace satrelay::gateway
