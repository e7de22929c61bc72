// Counters of TCP endpoints. The owner of the endpoints hands one struct to all of them.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"

namespace satrelay::tcp {

struct Counters {
  std::uint64_t segments_in = 0, segments_out = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t retransmitted_segments = 0, retransmission_timeouts = 0, fast_recoveries = 0;
  std::uint64_t duplicate_bytes_in = 0;
  std::uint64_t out_of_order_segments_in = 0, out_of_window_segments_in = 0;
  std::uint64_t unstored_bytes_in = 0, scattered_bytes_in = 0;
  std::uint64_t reports_dropped = 0;
  std::uint64_t path_errors_in = 0, path_errors_rejected = 0;
  std::uint64_t paws_rejected = 0;
  std::uint64_t challenge_acks = 0;
  std::uint64_t tail_loss_probes = 0, needless_retransmissions = 0;
  std::uint64_t congestion_echoes = 0, congestion_marks_in = 0;
  std::uint64_t path_mtu_reductions = 0;
  std::uint64_t zero_window_probes = 0;
  std::uint64_t keep_alives_in = 0, keep_alives_out = 0;
  std::uint64_t urgent_marks_in = 0, urgent_marks_out = 0;
  std::uint64_t urgent_marks_merged = 0, urgent_marks_refused = 0;

  static constexpr std::array<CounterField<Counters>, 29> kFields{{
      {"segments_in", &Counters::segments_in, "segments received"},
      {"segments_out", &Counters::segments_out, "segments sent"},
      {"bytes_in", &Counters::bytes_in, "new payload stored", CounterUnit::kBytes},
      {"bytes_out", &Counters::bytes_out, "payload sent, retransmissions included",
       CounterUnit::kBytes},
      {"retransmitted_segments", &Counters::retransmitted_segments, "segments retransmitted"},
      {"retransmission_timeouts", &Counters::retransmission_timeouts,
       "retransmission timers that expired"},
      {"fast_recoveries", &Counters::fast_recoveries, "losses found without a timeout"},
      {"duplicate_bytes_in", &Counters::duplicate_bytes_in, "payload received twice",
       CounterUnit::kBytes},
      {"out_of_order_segments_in", &Counters::out_of_order_segments_in,
       "segments received out of order"},
      {"out_of_window_segments_in", &Counters::out_of_window_segments_in,
       "segments outside the window: answered with an ACK, not used"},
      {"unstored_bytes_in", &Counters::unstored_bytes_in,
       "payload dropped for lack of memory: the host retransmits it", CounterUnit::kBytes},
      {"scattered_bytes_in", &Counters::scattered_bytes_in,
       "payload dropped behind too many gaps: the host retransmits it", CounterUnit::kBytes},
      {"reports_dropped", &Counters::reports_dropped,
       "SACK blocks dropped: too many are kept already"},
      {"path_errors_in", &Counters::path_errors_in, "ICMP errors about a segment in flight"},
      {"path_errors_rejected", &Counters::path_errors_rejected,
       "ICMP errors about a segment that is not in flight"},
      {"paws_rejected", &Counters::paws_rejected, "segments with an old timestamp (RFC 7323)"},
      {"challenge_acks", &Counters::challenge_acks, "challenge ACKs sent (RFC 5961)"},
      {"tail_loss_probes", &Counters::tail_loss_probes, "probes for the last segments of a flight"},
      {"needless_retransmissions", &Counters::needless_retransmissions,
       "segments retransmitted that had arrived (RFC 2883)"},
      {"congestion_echoes", &Counters::congestion_echoes, "windows reduced for an ECN echo"},
      {"congestion_marks_in", &Counters::congestion_marks_in, "data that arrived with a CE mark"},
      {"path_mtu_reductions", &Counters::path_mtu_reductions,
       "times that an ICMP error made segments smaller"},
      {"zero_window_probes", &Counters::zero_window_probes, "probes of a closed window"},
      {"keep_alives_in", &Counters::keep_alives_in, "keep-alive probes of hosts"},
      {"keep_alives_out", &Counters::keep_alives_out, "keep-alive probes sent to hosts"},
      {"urgent_marks_in", &Counters::urgent_marks_in, "urgent pointers received from hosts"},
      {"urgent_marks_out", &Counters::urgent_marks_out, "urgent pointers to be sent to hosts"},
      {"urgent_marks_merged", &Counters::urgent_marks_merged,
       "urgent pointers replaced by a later one, because too many waited"},
      {"urgent_marks_refused", &Counters::urgent_marks_refused,
       "urgent pointers of peers that are impossible"},
  }};
};
static_assert(lists_every_counter<Counters>());

}  // namespace satrelay::tcp
