#include "relay/satpanel/webhooks/webhooks.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <random>
#include <thread>
#include <utility>

#include "relay/client/reply.h"
#include "relay/ops/log/log.h"
#include "relay/satpanel/wall_clock.h"
#include "relay/satpanel/webhooks/delivery_queue.h"
#include "relay/satpanel/webhooks/signature.h"
#include "relay/satpanel/webhooks/webhook_sender.h"

namespace satrelay::panel {
namespace {

constexpr std::size_t kEventsAtATime = 200;

}  // namespace

// Delivers events to one receiver.
class Webhooks::Courier {
 public:
  Courier(Hook hook, const std::string& gateway)
      : hook_(std::move(hook)),
        webhook_sender_(hook_.url, hook_.ca_file),
        queue_(gateway, std::random_device()()),
        thread_([this] { run(); }) {}

  ~Courier() {
    is_over_ = true;
    {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    }
    thread_.join();
    const metrics::WebhookCounters counters = queue_.counters();
    if (counters.waiting_events == 0) return;
    ops::log_warning(
        fmt::format("webhook {}: {} events were not sent", hook_.name, counters.waiting_events));
  }

  void push(const Json& event) {
    if (!wants(hook_, event)) return;
    const std::lock_guard lock(mutex_);
    queue_.push(event);
    changed_.notify_all();
  }

  void miss(std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    queue_.miss(count);
  }

  Json counters() const {
    const std::lock_guard lock(mutex_);
    const metrics::WebhookCounters now = queue_.counters();
    Json told{{"name", hook_.name}};
    for (const auto& field : metrics::WebhookCounters::kFields)
      told[field.name] = value_of(now, field);
    return told;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      if (const Delivery* delivery = queue_.poll_delivery(Clock::now())) {
        lock.unlock();
        const Answer answer = try_once(*delivery);
        lock.lock();
        if (is_over_) return;
        tell(answer, *delivery);
        queue_.handle_answer(answer, Clock::now());
        continue;
      }
      const auto next = queue_.next_timeout();
      if (next == DeliveryQueue::Instant::max()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, next);
      }
    }
  }

  Answer try_once(const Delivery& delivery) {
    try {
      const std::string timestamp = std::to_string(wall_clock_ms() / 1000);
      return webhook_sender_.post(
          {"Content-Type: application/json", "Idempotency-Key: " + delivery.key,
           "X-Satrelay-Timestamp: " + timestamp,
           "X-Satrelay-Signature: sha256=" +
               sign(hook_.secret, {.timestamp = timestamp, .body = delivery.body})},
          delivery.body, is_over_);
    } catch (const std::exception& error) {
      return {.reason = error.what()};
    }
  }

  // Logs each refused event. Also logs when a receiver begins to fail, and when it works again.
  void tell(const Answer& answer, const Delivery& delivery) const {
    const bool was_failing = queue_.counters().is_failing != 0;
    if (answer.kind == Answer::Kind::kRefused) {
      ops::log_error(fmt::format("webhook {}: event {} is refused: {}", hook_.name, delivery.key,
                                 answer.reason));
    } else if (answer.kind == Answer::Kind::kFailed && !was_failing) {
      ops::log_warning(fmt::format("webhook {}: {}; events wait, and will be sent again",
                                   hook_.name, answer.reason));
    } else if (answer.kind == Answer::Kind::kTaken && was_failing) {
      ops::log_info(fmt::format("webhook {}: accepts events again", hook_.name));
    }
  }

  using Clock = std::chrono::steady_clock;

  const Hook hook_;
  std::atomic<bool> is_over_ = false;
  WebhookSender webhook_sender_;  // used only by the thread
  mutable std::mutex mutex_;      // guards the following members
  std::condition_variable changed_;
  DeliveryQueue queue_;
  std::thread thread_;
};

Webhooks::Webhooks(std::vector<Hook> hooks, const std::string& gateway, const Observer& observer)
    : observer_(observer), since_ms_(wall_clock_ms() - kOldestMs) {
  for (Hook& hook : hooks) {
    if (hook.url.starts_with("http:")) {
      ops::log_warning(
          fmt::format("webhook {}: http is signed, and not encrypted; https is", hook.name));
    }
    couriers_.push_back(std::make_unique<Courier>(std::move(hook), gateway));
  }
  take_news();
}

Webhooks::~Webhooks() = default;

void Webhooks::take_news() {
  const std::lock_guard lock(mutex_);
  while (true) {
    const Observer::EventPage page = observer_.events(next_, kEventsAtATime);
    const std::uint64_t missed = page.next - page.events.size() - next_;
    // The first call cannot have missed an event. Later, it is not known which receivers should
    // have got the missed events, so each receiver counts all of them.
    if (page.has_missed && next_ > 1) {
      for (const auto& courier : couriers_) courier->miss(missed);
    }
    next_ = page.next;
    if (page.events.empty()) return;
    for (const Json& event : page.events) {
      if (ctl::number(event, "time_ms").value_or(0) < since_ms_) continue;
      for (const auto& courier : couriers_) courier->push(event);
    }
  }
}

Json Webhooks::counters() const {
  Json all = Json::array();
  for (const auto& courier : couriers_) all.push_back(courier->counters());
  return all;
}

}  // namespace satrelay::panel
