// The worker that has a flow now finds the flow's record of an earlier run, however many workers
// there are.
#include "relay/gateway/recovery/journal_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/steering/flow_hash.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::journal_slices_test {
namespace {

constexpr unsigned kPlaces = 64;

FlowJournal::Record record_of(std::uint16_t port) {
  FlowJournal::Record record;
  record.to_host.destination = kHostMac;
  record.to_host.source = kGatewayMac;
  record.to_host.type = wire::EtherType::kIpv4;
  record.key = {ip_of("203.0.113.5"), ip_of("198.51.100.5"), port, 80, {}};
  return record;
}

unsigned worker_of(const FlowKey& key, unsigned workers) {
  return flow_hash(key.local, key.remote, key.local_port, key.remote_port) & (workers - 1);
}

class JournalSlicesTest : public testing::Test {
 protected:
  // Writes each record where its worker would.
  void run_before(unsigned workers, unsigned count) {
    const JournalSlices dealt = deal_out(memory_, workers);
    std::vector<FlowJournal> journals(dealt.slices.begin(), dealt.slices.end());
    for (std::uint16_t port = 40'000; ports_.size() < count; ++port) {
      const FlowJournal::Record record = record_of(port);
      FlowJournal& journal = journals[worker_of(record.key, workers)];
      if (journal.keep(record) != FlowJournal::kNowhere) ports_.insert(port);
    }
  }
  // The ports of the records. Each is found by its worker.
  std::set<std::uint16_t> found(const JournalSlices& dealt) {
    std::set<std::uint16_t> ports;
    const auto workers = static_cast<unsigned>(dealt.slices.size());
    for (unsigned worker = 0; worker < workers; ++worker) {
      const FlowJournal journal(dealt.slices[worker]);
      for (FlowJournal::Place place = 0; place < journal.places(); ++place) {
        const auto record = journal.read(place);
        if (!record) continue;
        EXPECT_EQ(worker_of(record->key, workers), worker);
        EXPECT_TRUE(ports.insert(record->key.local_port).second) << "it is there twice";
      }
    }
    return ports;
  }

  alignas(8) std::array<std::byte, kPlaces * FlowJournal::kRecordSize> memory_{};
  std::set<std::uint16_t> ports_;
};

TEST_F(JournalSlicesTest, DealsOutToMoreAndToFewerWorkers) {
  run_before(2, 20);
  for (const unsigned workers : {2U, 4U, 1U, 4U, 2U}) {
    const JournalSlices dealt = deal_out(memory_, workers);
    ASSERT_EQ(dealt.slices.size(), workers);
    EXPECT_EQ(dealt.dropped, 0U);
    EXPECT_EQ(found(dealt), ports_) << workers << " workers";
  }
}

TEST_F(JournalSlicesTest, CountsWhatFindsNoRoom) {
  run_before(1, kPlaces);  // the hash spreads the records unevenly
  std::array<unsigned, 4> of_worker{};
  for (const std::uint16_t port : ports_) ++of_worker[worker_of(record_of(port).key, 4)];
  unsigned beyond = 0;
  for (const unsigned count : of_worker) beyond += count > kPlaces / 4 ? count - kPlaces / 4 : 0;
  const JournalSlices dealt = deal_out(memory_, 4);
  EXPECT_EQ(dealt.dropped, beyond);
  EXPECT_EQ(found(dealt).size(), kPlaces - beyond);
}

TEST_F(JournalSlicesTest, ThereMayBeNone) {
  const JournalSlices dealt = deal_out({}, 4);
  ASSERT_EQ(dealt.slices.size(), 4U);
  EXPECT_TRUE(std::ranges::all_of(dealt.slices, [](MutableBytes slice) { return slice.empty(); }));
}

}  // namespace
}  // namespace satrelay::gateway::journal_slices_test
