// The satellite link that satlink and the laboratory emulate, as plain values: link.yaml.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::config {

struct GilbertElliott {
  double good_to_bad = 0;  // probability, at each frame, that the good state ends
  double bad_to_good = 1;
  double loss_good = 0;  // probability that a frame is lost in the good state
  double loss_bad = 1;
};

enum class LinkWays : std::uint8_t { kBoth, kAToB, kBToA };

// Steps of a link's properties, in the order of `at`. `at` is the time since the start of the
// program, or of the virtual time.
struct RateStep {
  Duration at;
  BitRate rate;
};
struct DelayStep {
  Duration at;
  Duration delay;
};
struct LossStep {
  Duration at;
  double loss = 0;
};
struct LinkOutage {
  Duration at;
  Duration length;
};

// The frames to lose. Frames are numbered from 0 in the order in which they are sent. Frames that
// are lost in an outage have no number.
struct LossTrace {
  std::vector<std::uint64_t> lost;  // numbers of frames, ascending
  std::uint64_t period = 0;         // frames after which the trace repeats; 0 means never
};

enum class QueueDiscipline : std::uint8_t {
  kTailDrop,  // a frame that arrives at a full queue is dropped
  // TP-S section 2.4: frames are sent in order of arrival. If the queue is full, the lowest class
  // loses its newest frames first. The classes, lowest first: start/low, start/high, low, high.
  kPriority,
};

// Whether a frame may overtake earlier frames after the delay has become shorter.
enum class DelayOrder : std::uint8_t {
  kOvertaking,  // later frames may arrive first, as over a path that has become shorter
  kKept,        // no frame arrives before an earlier frame
};

struct LinkDirection {
  BitRate rate;                    // zero means unlimited
  Duration delay;                  // one-way delay
  ByteCount queue = ByteCount(0);  // longest queue; 0 means 100 ms at the rate, but at least 64 KiB
  std::uint16_t mtu = 0;           // longer IP packets are lost on the link; 0 means no limit
  double loss = 0;                 // probability per frame, 0 to 1
  std::optional<GilbertElliott> gilbert_elliott;  // instead of `loss`
  std::optional<LossTrace> loss_trace;            // instead of `loss` and `gilbert_elliott`
  Duration jitter;                                // uniform in [0, jitter]; the order is kept
  double reorder = 0;  // fraction of frames that arrive `reorder_by` late
  Duration reorder_by = Duration::milliseconds(10);
  double duplicate = 0;
  double corrupt = 0;                  // share of frames with one flipped bit
  std::vector<RateStep> rate_steps;    // replace `rate`
  std::vector<DelayStep> delay_steps;  // replace `delay`
  std::vector<LossStep> loss_steps;    // replace `loss`, `gilbert_elliott` and `loss_trace`
  DelayOrder delay_order = DelayOrder::kOvertaking;
  std::vector<LinkOutage> outages;  // frames sent during an outage are lost
  QueueDiscipline discipline = QueueDiscipline::kTailDrop;
};

struct SatLink {
  Port a;
  Port b;
  LinkDirection a_to_b;
  LinkDirection b_to_a;
  std::uint32_t overhead = kOverheadEthernet;
  // Memory for frames in flight. 0 means that the size is computed from rates and delays.
  ByteCount memory = ByteCount(0);
  std::uint64_t seed = 1;
  Worker worker;
  std::string control_socket;  // empty if there is none
  std::string stats_socket_prefix = "satlink";
  LogLevel log_level = LogLevel::kInfo;
};

}  // namespace satrelay::config
