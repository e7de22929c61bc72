#include "relay/satrelayd/reporting/publisher.h"

#include <vector>

#include "relay/dpdk/loop/clock.h"

namespace satrelay::satrelayd {
namespace {

constexpr Duration kRequestInterval = Duration::milliseconds(5);

class Live final : public ops::LiveView {
 public:
  Live(const Engines& engines, Instant now) : engines_(engines), now_(now) {}
  std::vector<gateway::FlowSnapshot> flows(std::size_t first, std::size_t count) const override {
    return engines_.flows(first, count, now_);
  }
  std::optional<gateway::FlowSnapshot> flow(std::uint64_t id) const override {
    return engines_.flow(id, now_);
  }
  std::vector<gateway::RuleSnapshot> rules(std::size_t first, std::size_t count) const override {
    return engines_.rules(first, count);
  }
  std::vector<gateway::ClassSnapshot> classes() const override { return engines_.classes(); }
  std::vector<gateway::BridgedSnapshot> bridged() const override { return engines_.bridged(now_); }
  gateway::Explanation explain(const gateway::PolicyKey& key) const override {
    return engines_.explain(key, now_);
  }

 private:
  const Engines& engines_;
  Instant now_;
};

}  // namespace

void Publisher::run(Instant now) {
  if (now >= next_request_check_) {
    next_request_check_ = now + kRequestInterval;
    if (board_.is_asked()) {
      const WorkerPool::Pause rest(worker_pool_);
      if (rest.is_complete()) {
        // Read the clock again: the other workers have continued since this round began.
        board_.answer(Live(engines_, dpdk::now()));
      } else {
        // Wait longer before the next attempt, since each attempt stops all other workers for a
        // while.
        next_request_check_ = now + WorkerReporter::kInterval;
      }
    }
  }
  own_.run(now);
}

}  // namespace satrelay::satrelayd
