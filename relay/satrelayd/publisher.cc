#include "relay/satrelayd/publisher.h"

#include <utility>
#include <vector>

namespace satrelay::satrelayd {
namespace {

constexpr Duration kInterval = Duration::milliseconds(100);
constexpr Duration kRequestInterval = Duration::milliseconds(5);

ops::PortSnapshot snapshot_of(const dpdk::Port& port, const Worker::Drops& drops) {
  dpdk::PortStats stats = port.stats();
  stats.rx_no_buffer += drops.no_buffer;
  stats.tx_unsent += drops.bridge_overflow;
  const dpdk::LinkState link = port.link();
  return {.name = port.name(),
          .device = port.description(),
          .mac = port.mac(),
          .mtu = port.mtu(),
          .link_up = link.up,
          .gone = link.gone,
          .link_megabits = link.megabits,
          .stats = stats};
}

class Live final : public ops::LiveView {
 public:
  Live(const gateway::Gateway& gateway, Instant now) : gateway_(gateway), now_(now) {}
  std::vector<gateway::FlowSnapshot> flows(std::size_t first, std::size_t count) const override {
    return gateway_.flows(first, count, now_);
  }
  std::optional<gateway::FlowSnapshot> flow(std::uint64_t id) const override {
    return gateway_.flow(id, now_);
  }
  std::vector<gateway::RuleSnapshot> rules(std::size_t first, std::size_t count) const override {
    return gateway_.rules(first, count);
  }
  std::vector<gateway::ClassSnapshot> classes() const override { return gateway_.classes(); }
  gateway::Explanation explain(const gateway::PolicyKey& key) const override {
    return gateway_.explain(key, now_);
  }

 private:
  const gateway::Gateway& gateway_;
  Instant now_;
};

}  // namespace

Publisher::Publisher(const gateway::Gateway& gateway, std::array<const dpdk::Port*, 2> ports,
                     const Worker& worker, ops::SnapshotBoard& board)
    : gateway_(gateway), ports_(ports), worker_(worker), board_(board) {}

void Publisher::run(Instant now) {
  if (now >= next_request_check_) {
    next_request_check_ = now + kRequestInterval;
    if (board_.is_asked()) board_.answer(Live(gateway_, now));
  }
  if (now < next_) return;
  next_ = now + kInterval;
  ops::Snapshot snapshot{.status = gateway_.status(now),
                         .peers = gateway_.peers(),
                         .counters = gateway_.counters(),
                         .ports = {}};
  snapshot.ports = {snapshot_of(*ports_[0], worker_.drops(gateway::PortId::kLan)),
                    snapshot_of(*ports_[1], worker_.drops(gateway::PortId::kWan))};
  board_.publish(std::move(snapshot));
}

}  // namespace satrelay::satrelayd
