#include "relay/satrelayd/startup/engine_set.h"

#include <sys/random.h>

#include <ctime>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "relay/dpdk/loop/clock.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/recovery/journal_slices.h"
#include "relay/ops/log/log.h"

namespace satrelay::satrelayd {
namespace {

constexpr Duration kJournalInterval = Duration::seconds(1);

class KernelEntropy final : public Entropy {
 public:
  void fill(MutableBytes out) override {
    // getrandom(2) always returns all of up to 256 bytes, and keys are shorter than that.
    if (getrandom(out.data(), out.size(), 0) != static_cast<::ssize_t>(out.size())) {
      throw std::runtime_error("the kernel gives no random numbers");
    }
  }
};

// Measures work as elapsed time. This is accurate because the worker has its core almost to itself.
class DeviceClock final : public Stopwatch {
 public:
  Instant read() const override { return dpdk::now(); }
};

// Creates the identity of the first worker. The other workers' identities differ only in `share`.
gateway::Identity make_identity(const MacAddress& wan_mac, Entropy& entropy,
                                const Stopwatch& stopwatch, bool lan_port_sums, std::size_t peers) {
  gateway::Identity identity;
  identity.boot_epoch = wall_clock();
  entropy.fill(std::as_writable_bytes(std::span(identity.secret)));
  identity.common = std::make_shared<gateway::CommonKnowledge>(
      gateway::HashKey{identity.secret[0], identity.secret[1]}, peers);
  identity.wan_mac = wan_mac;
  identity.entropy = &entropy;
  identity.stopwatch = &stopwatch;
  identity.lan_port_sums = lan_port_sums;
  return identity;
}

std::unique_ptr<JournalFile> open_journal(const config::Gateway& config) {
  if (config.journal == config::kNoJournal) return nullptr;
  try {
    const JournalFile::Where where{.file = dpdk::Eal::runtime_directory() + "/flows",
                                   .copy = config.journal};
    auto journal = std::make_unique<JournalFile>(
        where,
        JournalFile::Limits{static_cast<std::uint32_t>(
                                gateway::journal_records(config.limits.flows, config.worker.count)),
                            config.limits.idle_timeout},
        wall_clock());
    ops::log_info(journal->found());
    return journal;
  } catch (const std::exception& error) {
    ops::log_warning(std::string("no journal of the flows: ") + error.what());
    return nullptr;
  }
}

// Logs a failure, such as a full disk, only once for as long as it lasts.
void look_after(JournalFile& journal, bool& was_well) {
  try {
    journal.look_after(wall_clock());
    was_well = true;
  } catch (const std::exception& error) {
    if (was_well) ops::log_warning(std::string("journal of the flows: ") + error.what());
    was_well = false;
  }
}

gateway::JournalSlices deal_out(JournalFile* journal, unsigned workers) {
  gateway::JournalSlices slices =
      gateway::deal_out(journal != nullptr ? journal->records() : MutableBytes(), workers);
  if (slices.dropped > 0) {
    ops::log_warning("journal of the flows: no room for " + std::to_string(slices.dropped) +
                     " flows of an earlier run, because the number of workers has changed");
  }
  return slices;
}

}  // namespace

std::uint64_t wall_clock() {
  std::timespec wall{};
  std::timespec_get(&wall, TIME_UTC);
  return static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(wall.tv_nsec);
}

EngineSet::EngineSet(const config::Gateway& config, Devices& devices)
    : journal_(open_journal(config)),
      entropy_(std::make_unique<KernelEntropy>()),
      clock_(std::make_unique<DeviceClock>()),
      identity_(make_identity(devices.wan.mac(), *entropy_, *clock_, devices.lan.sums_tcp(),
                              config.peers.size())) {
  const unsigned count = config.worker.count;
  const gateway::JournalSlices journals = deal_out(journal_.get(), count);
  std::vector<gateway::Gateway*> each;
  for (unsigned i = 0; i < count; ++i) {
    identity_.share = {.worker = i, .workers = count};
    const std::size_t size = devices.memory.bytes().size() / count;
    gateways_.push_back(std::make_unique<gateway::Gateway>(
        config, identity_, devices.memory.bytes().subspan(i * size, size), dpdk::now(),
        journals.slices[i]));
    each.push_back(gateways_.back().get());
  }
  engines_.emplace(std::move(each));
  if (journal_ == nullptr) return;
  journal_keeper_.emplace("flow-journal", kJournalInterval,
                          [this, was_well = true]() mutable { look_after(*journal_, was_well); });
}

}  // namespace satrelay::satrelayd
