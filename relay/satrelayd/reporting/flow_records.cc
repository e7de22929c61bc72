#include "relay/satrelayd/reporting/flow_records.h"

#include <ctime>
#include <exception>
#include <string>
#include <utility>

#include "relay/dpdk/loop/clock.h"
#include "relay/ops/log/log.h"

namespace satrelay::satrelayd {

FlowRecords::FlowRecords(const config::Gateway& config, std::function<std::uint64_t()> epoch)
    : epoch_(std::move(epoch)) {
  std::vector<records::RecordRing*> rings;
  for (unsigned i = 0; i < config.worker.count; ++i) {
    rings_.push_back(std::make_unique<records::RecordRing>());
    rings.push_back(rings_.back().get());
  }
  std::vector<std::string> peers;
  for (const config::Peer& peer : config.peers) peers.push_back(peer.name);
  writer_.emplace(config.records, std::move(peers), std::move(rings));
}

void FlowRecords::begin() {
  writer_->open_file(dpdk::now());
  thread_.emplace("flow-records", kInterval, [this] { look(); });
}

// Catches exceptions, since an error with records must not cost the hosts their connections. The
// writer reports errors by itself. It throws only if there is no memory even for the report; that
// is logged here.
template <typename Step>
void FlowRecords::attempt(const Step& step) {
  try {
    step();
  } catch (const std::exception& error) {
    if (!std::exchange(is_told_, true)) {
      ops::log_warning(std::string("records of flows: ") + error.what());
    }
  }
}

void FlowRecords::look() {
  attempt([this] { writer_->look(dpdk::now(), epoch_()); });
}

void FlowRecords::finish() {
  thread_.reset();  // ends the thread after a last look()
  attempt([this] { writer_->write_rest(dpdk::now()); });
  const Instant end = dpdk::now() + kLastWords;
  while (!writer_->is_idle() && dpdk::now() < end) {
    const timespec pause{.tv_sec = 0, .tv_nsec = 5'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    look();
  }
  if (const std::uint64_t waiting = report().waiting; waiting > 0) {
    ops::log_warning("records of flows: " + std::to_string(waiting) + " were not written in time");
  }
}

}  // namespace satrelay::satrelayd
