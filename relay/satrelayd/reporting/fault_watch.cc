#include "relay/satrelayd/reporting/fault_watch.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "relay/doctor/fault_book.h"
#include "relay/doctor/judgements.h"
#include "relay/doctor/own_facts.h"
#include "relay/doctor/run_times.h"
#include "relay/dpdk/device/eal.h"
#include "relay/dpdk/loop/clock.h"
#include "relay/ops/log/log.h"

namespace satrelay::satrelayd {
namespace {

namespace judge = ctl::doctor;
using std::chrono::milliseconds;

// How soon the thread notices a change.
constexpr milliseconds kLookForChanges(500);
// A silent peer and a gateway on the wrong port are heard at least this often.
constexpr milliseconds kBetweenCounts(4000);
constexpr milliseconds kEndsWithin(100);

std::atomic<bool> left_a_thread = false;

// An event has room for the first line of a text.
std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string detail_of(const judge::FaultBook::Change& change) {
  if (change.gives_way) {
    return "from the events only: a worse one takes its place; satrelayctl doctor shows it";
  }
  return change.is_over ? "" : first_line_of(change.finding.seen);
}

ops::Event fault_event(const judge::FaultBook::Change& change) {
  const machine::Finding& finding = change.finding;
  ops::Event event{.kind = change.is_over ? ops::EventKind::kFaultOver : ops::EventKind::kFault,
                   .subject = finding.subject,
                   .detail = detail_of(change)};
  event.fault = ops::Fault{.check = finding.check,
                           .severity = finding.severity,
                           .cause = change.is_over ? "" : finding.cause,
                           .cure = change.is_over ? "" : finding.cure,
                           .page = finding.page};
  return event;
}

}  // namespace

// The thread uses nothing else, so that it may outlive the object that has started it.
struct FaultWatch::Shared {
  Shared(const std::string& file, std::shared_ptr<const GatewayChanges> all_changes,
         std::function<void(ops::Event)> teller)
      : changes(std::move(all_changes)),
        tell(std::move(teller)),
        facts({.file = file,
               .socket = dpdk::Eal::stats_socket(),
               .window = kBetweenCounts,
               .is_stopped = [this] { return has_stopped(); },
               .pause = [this](milliseconds time) { return pause(time); }}),
        times(dpdk::now()) {}

  bool has_stopped() {
    const std::lock_guard lock(mutex);
    return stopped;
  }
  // Returns false if the thread has to end.
  bool pause(milliseconds time) {
    std::unique_lock lock(mutex);
    return !changed.wait_for(lock, time, [this] { return stopped; });
  }
  void run();
  void look(Instant now);
  void look_or_throw(Instant now);

  std::mutex mutex;  // guards the following members, and is held while the thread tells something
  std::condition_variable changed;
  bool stopped = false;
  bool ended = false;

  const std::shared_ptr<const GatewayChanges> changes;
  const std::function<void(ops::Event)> tell;
  // Only the thread uses these.
  judge::OwnFacts facts;
  judge::RunTimes times;
  judge::FaultBook book;
  std::uint64_t noted_changes = 0;
  bool fails = false;
};

void FaultWatch::Shared::run() {
  while (pause(kLookForChanges)) {
    const Instant now = dpdk::now();
    const std::uint64_t all = changes->reloads + changes->others;
    if (std::exchange(noted_changes, all) != all) times.note_change(now);
    if (times.is_due(now)) look(now);
  }
  const std::lock_guard lock(mutex);
  ended = true;
  changed.notify_all();
}

void FaultWatch::Shared::look(Instant now) {
  times.begin(now);
  try {
    look_or_throw(now);
    fails = false;
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex);
    if (stopped) return;
    times.note_failure(dpdk::now());
    if (std::exchange(fails, true)) return;
    ops::log_warning(std::string("cannot look for faults: ") + error.what());
  }
}

void FaultWatch::Shared::look_or_throw(Instant now) {
  const judge::Facts found = facts.read(*changes->running(), now);
  const auto now_changed = book.look(judge::judge(found), found.gateway->events);
  for (const judge::FaultBook::Change& change : now_changed) {
    ops::Event event = fault_event(change);
    const std::lock_guard lock(mutex);
    if (stopped) return;
    tell(std::move(event));
  }
}

FaultWatch::FaultWatch(const std::string& file, std::shared_ptr<const GatewayChanges> changes,
                       std::function<void(ops::Event)> tell)
    : shared_(std::make_shared<Shared>(file, std::move(changes), std::move(tell))) {
  auto owned = std::make_unique<std::shared_ptr<Shared>>(shared_);
  if (dpdk::start_control_thread(thread_, "doctor", enter, owned.get()) != 0) {
    throw std::runtime_error("cannot start the thread doctor");
  }
  [[maybe_unused]] const auto* given = owned.release();
}

dpdk::ThreadResult FaultWatch::enter(void* shared) {
  const std::unique_ptr<std::shared_ptr<Shared>> owned(
      static_cast<std::shared_ptr<Shared>*>(shared));
  (*owned)->run();
  return {};
}

void FaultWatch::stop() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stopped = true;
  shared_->changed.notify_all();
}

FaultWatch::~FaultWatch() {
  stop();
  std::unique_lock lock(shared_->mutex);
  const bool ended =
      shared_->changed.wait_for(lock, kEndsWithin, [this] { return shared_->ended; });
  lock.unlock();
  if (ended) {
    pthread_join(thread_, nullptr);
  } else {
    left_a_thread = true;
    pthread_detach(thread_);
  }
}

bool FaultWatch::has_left_a_thread() { return left_a_thread; }

}  // namespace satrelay::satrelayd
