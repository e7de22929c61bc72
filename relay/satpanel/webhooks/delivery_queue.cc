#include "relay/satpanel/webhooks/delivery_queue.h"

#include <fmt/format.h>

#include <utility>

#include "relay/client/reply.h"

namespace satrelay::panel {

using Json = nlohmann::ordered_json;

void DeliveryQueue::push(Json event) {
  waiting_.push_back(std::move(event));
  if (waiting_.size() <= kMostWaiting) return;
  waiting_.pop_front();
  miss(1);
}

void DeliveryQueue::miss(std::uint64_t count) {
  left_out_ += count;
  counters_.dropped_events += count;
}

void DeliveryQueue::compose() {
  Json event = std::move(waiting_.front());
  waiting_.pop_front();
  const std::string key = fmt::format("{}-{}", ctl::identifier(event, "boot_epoch"),
                                      ctl::number(event, "number").value_or(0));
  event["gateway"] = gateway_;
  event["dropped"] = left_out_;
  left_out_of_current_ = left_out_;
  current_ = Delivery{key, event.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

const Delivery* DeliveryQueue::poll_delivery(Instant now) {
  if (now < next_try_) return nullptr;
  if (!current_) {
    if (waiting_.empty()) return nullptr;
    compose();
  }
  return &*current_;
}

void DeliveryQueue::end_delivery() {
  current_.reset();
  first_failure_.reset();
  next_try_ = Instant::min();
  backoff_.reset();
  counters_.is_failing = 0;
}

void DeliveryQueue::handle_answer(const Answer& answer, Instant now) {
  switch (answer.kind) {
    case Answer::Kind::kTaken:
      left_out_ -= left_out_of_current_;
      ++counters_.delivered_events;
      end_delivery();
      return;
    case Answer::Kind::kRefused:
      ++counters_.refused_events;
      end_delivery();
      return;
    case Answer::Kind::kFailed:
      break;
  }
  ++counters_.failed_tries;
  counters_.is_failing = 1;
  next_try_ = now + backoff_.wait(answer.retry_after);
  if (!first_failure_) first_failure_ = now;
  if (now - *first_failure_ < kLongestTrying) return;
  // Drop the event, but keep next_try_: the receiver still fails, so the next event must also wait.
  current_.reset();
  first_failure_.reset();
  miss(1);
}

DeliveryQueue::Instant DeliveryQueue::next_timeout() const {
  return current_ || !waiting_.empty() ? next_try_ : Instant::max();
}

metrics::WebhookCounters DeliveryQueue::counters() const {
  metrics::WebhookCounters counters = counters_;
  counters.waiting_events = waiting_.size() + (current_ ? 1 : 0);
  return counters;
}

}  // namespace satrelay::panel
