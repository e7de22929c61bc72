// Finds the capacity of a link if none was announced, and limits the rate to it (docs/stp.md
// section 12). Loss is never taken for congestion.
//
//   Starting --a train shows less than its speed--> Cruising <--queue gone-- Draining
//      |                                             |  ^                       ^
//      +-----------------delay grows-----------------+--|-----------------------+
//                                                    |  |                       |
//                          grows again, or queue stays  no other sender   much is lost
//                                                    v  |                       |
//                                                   Sharing---------------------+
//
// Packet trains measure how much the link carries, so the finder notices when the capacity rises or
// falls. Each mode is a class in the folder finder, and all modes share the model of the link. The
// finder passes each sample to the instruments of the model, passes their results to the mode, and
// then changes the mode if necessary.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/capacity/finder/cruising_mode.h"
#include "pep/control/capacity/finder/draining_mode.h"
#include "pep/control/capacity/finder/finder_mode.h"
#include "pep/control/capacity/finder/link_model.h"
#include "pep/control/capacity/finder/rare_reports.h"
#include "pep/control/capacity/finder/sharing_mode.h"
#include "pep/control/capacity/finder/starting_mode.h"
#include "pep/control/machine_excuse.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class CapacityFinder final : public RateController {
 public:
  using State = FinderMode::Kind;

  // Never sends more than `ceiling`.
  explicit CapacityFinder(BitRate ceiling);
  // The mode refers to the model, so a finder cannot be copied.
  CapacityFinder(const CapacityFinder&) = delete;
  CapacityFinder& operator=(const CapacityFinder&) = delete;

  void on_start(const StartSample& sample) override;
  void on_feedback(const FeedbackSample& told) override;
  void on_capacity(BitRate capacity) override;
  Priority on_sent(Purpose purpose, ByteCount accounted, Instant now) override;
  BitRate rate() const override;
  BitRate sustained_rate() const override { return link_.sustained_rate(); }
  BitRate capacity() const override;
  ByteCount lead() const override;
  ByteCount train() const override;
  Instant holds_until() const override;
  std::optional<CutCause> cut_cause() const override;
  State state() const { return static_cast<State>(mode_.index()); }
  Duration queue() const { return link_.queue.length(); }

 private:
  FinderMode& mode();
  // Returns whether the mode has changed.
  bool change(const FinderMode::Change& to, const FeedbackSample& sample);
  void note_path(const FeedbackSample& sample);
  void on_finding(PacketTrain::Finding finding, const FeedbackSample& sample);
  void on_miss(const FeedbackSample& sample);
  void order_train(Instant now);

  LinkModel link_;
  // The alternatives are in the order of State.
  std::variant<StartingMode, CruisingMode, DrainingMode, SharingMode> mode_;
  PunctualSamples punctual_;
  RareReports rare_;
  bool is_cut_ = false;  // the rate was cut since the last train was ordered
  ByteCount packet_ = ByteCount(1538);
  std::uint64_t sent_packets_ = 0;
  // Time at which data was last sent. never() if that time is so long ago that the capacity is out
  // of date.
  Instant idle_since_;
  Instant next_train_;
};

}  // namespace satrelay::control
