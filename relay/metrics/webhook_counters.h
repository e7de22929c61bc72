// Counters of one webhook's events since the panel started.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"

namespace satrelay::metrics {

struct WebhookCounters {
  std::uint64_t delivered_events = 0, failed_tries = 0;
  std::uint64_t refused_events = 0, dropped_events = 0;
  std::uint64_t waiting_events = 0, is_failing = 0;

  static constexpr std::array<CounterField<WebhookCounters>, 6> kFields{{
      {"delivered_events", &WebhookCounters::delivered_events, "events that the receiver accepted"},
      {"failed_tries", &WebhookCounters::failed_tries, "failed attempts, which are repeated"},
      {"refused_events", &WebhookCounters::refused_events,
       "events given up, because the receiver refused them"},
      {"dropped_events", &WebhookCounters::dropped_events,
       "events dropped, because too many waited, or one for too long"},
      {"waiting_events", &WebhookCounters::waiting_events, "events that wait", CounterUnit::kNumber,
       CounterKind::kGauge},
      {"is_failing", &WebhookCounters::is_failing, "1 if the last attempt has failed",
       CounterUnit::kNumber, CounterKind::kGauge},
  }};
};
static_assert(lists_every_counter<WebhookCounters>());

}  // namespace satrelay::metrics
