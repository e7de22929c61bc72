#include "relay/satrelayd/reporting/reporting.h"

#include <chrono>
#include <utility>
#include <vector>

#include "relay/dpdk/loop/clock.h"
#include "relay/dpdk/loop/stop_signal.h"
#include "relay/ops/log/log.h"
#include "relay/ops/process/run_user.h"
#include "relay/satrelayd/startup/engine_set.h"
#include "relay/version/version.h"

namespace satrelay::satrelayd {
namespace {

constexpr Duration kWatchInterval = Duration::milliseconds(100);
constexpr Duration kLookForHistory = Duration::seconds(1);
constexpr std::chrono::seconds kPatienceOfHistory(1);

}  // namespace

Reporting::Reporting(WorkerSet& workers, const Devices& devices, std::uint64_t boot_epoch,
                     ReportOfRecords report_of_records)
    : report_of_records_(std::move(report_of_records)),
      reports_(workers.reporters(), {&devices.lan, &devices.wan}),
      board_([this] { return reports_.latest(); }),
      latest_events_(boot_epoch),
      events_(latest_events_, {.log = ops::log,
                               .time_ms = [] { return wall_clock() / 1'000'000U; },
                               .name_of_user = ops::name_of_user}),
      telemetry_(board_, latest_events_, history_, report_of_records_, this_build()),
      watch_([this](ops::Event event) { tell(std::move(event)); }),
      watcher_("events", kWatchInterval, [this] { look_for_events(); }),
      historian_("history", kLookForHistory, [this] { keep_history(); }) {}

void Reporting::look_for_events() {
  if (const auto latest = board_.latest()) {
    const auto age = std::chrono::duration_cast<std::chrono::nanoseconds>(latest->age);
    watch_.look(*latest->snapshot, report_of_records_(), Duration::nanoseconds(age.count()),
                dpdk::now());
  }
  events_.write(dpdk::now());
}

void Reporting::keep_history() {
  const auto latest = board_.latest();
  if (!latest || dpdk::now() < next_history_ || dpdk::StopSignal::requested()) return;
  next_history_ = dpdk::now() + ops::History::kInterval;
  const auto classes =
      board_.ask([](const ops::LiveView& view) { return view.classes(); }, kPatienceOfHistory);
  history_.add(*latest->snapshot, classes.value_or(std::vector<gateway::ClassSnapshot>()),
               dpdk::now(), wall_clock() / 1'000'000U);
}

}  // namespace satrelay::satrelayd
