// The next run finds the flows that were written down, whatever happened at the end of the last
// run.
#include "relay/gateway/recovery/flow_journal.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::flow_journal_test {
namespace {

FlowJournal::Record record_of(std::string_view local, std::string_view remote, std::uint16_t port) {
  FlowJournal::Record record;
  record.to_host.destination = kHostMac;
  record.to_host.source = kGatewayMac;
  record.to_host.type = ip_of(local).is_v4() ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  record.key = {ip_of(local), ip_of(remote), port, 80, {}};
  return record;
}

class FlowJournalTest : public testing::Test {
 protected:
  alignas(8) std::array<std::byte, 3 * FlowJournal::kRecordSize> memory_{};
  FlowJournal journal_{memory_};
};

TEST_F(FlowJournalTest, TheNextRunFindsWhatWasNotReleased) {
  FlowJournal::Record tagged = record_of("203.0.113.5", "198.51.100.5", 40'000);
  tagged.to_host.tag_count = 2;
  tagged.to_host.tags = {{{0x88a8, 7}, {0x8100, 0x6009}}};
  tagged.key.vlans = vlans_of(tagged.to_host);
  const FlowJournal::Record six = record_of("2001:db8::5", "2001:db8:1::5", 40'001);
  const auto first = journal_.keep(tagged);
  const auto second = journal_.keep(record_of("203.0.113.6", "198.51.100.5", 1));
  const auto third = journal_.keep(six);
  journal_.release(second);

  FlowJournal next(memory_);
  ASSERT_EQ(next.places(), 3U);
  ASSERT_TRUE(next.read(first) && next.read(third));
  EXPECT_EQ(next.read(first)->key, tagged.key);
  EXPECT_EQ(next.read(first)->to_host, tagged.to_host);
  EXPECT_EQ(next.read(third)->key, six.key);
  EXPECT_EQ(next.read(third)->to_host, six.to_host);
  EXPECT_FALSE(next.read(second));
  // An old record keeps its place until it is released.
  EXPECT_EQ(next.keep(six), second);
  EXPECT_EQ(next.keep(six), FlowJournal::kNowhere);
  next.release(first);
  EXPECT_EQ(next.keep(six), first);
}

TEST_F(FlowJournalTest, AChangeTakesTheSamePlace) {
  const auto place = journal_.keep(record_of("203.0.113.5", "198.51.100.5", 40'000));
  FlowJournal::Record moved = record_of("203.0.113.5", "198.51.100.5", 40'000);
  moved.to_host.destination = kPeerMac;
  journal_.change(place, moved);
  EXPECT_EQ(FlowJournal(memory_).read(place)->to_host.destination, kPeerMac);
}

TEST_F(FlowJournalTest, ARecordThatWasHalfWrittenIsFree) {
  const auto place = journal_.keep(record_of("203.0.113.5", "198.51.100.5", 40'000));
  for (std::size_t at = 0; at < FlowJournal::kRecordSize; ++at) {
    memory_[place * FlowJournal::kRecordSize + at] ^= std::byte{1};
    EXPECT_FALSE(FlowJournal(memory_).read(place)) << at;
    memory_[place * FlowJournal::kRecordSize + at] ^= std::byte{1};
  }
  EXPECT_TRUE(FlowJournal(memory_).read(place));
}

TEST_F(FlowJournalTest, WithoutMemoryNothingIsKept) {
  FlowJournal none{MutableBytes()};
  EXPECT_EQ(none.places(), 0U);
  const auto place = none.keep(record_of("203.0.113.5", "198.51.100.5", 40'000));
  EXPECT_EQ(place, FlowJournal::kNowhere);
  none.change(place, record_of("203.0.113.5", "198.51.100.5", 40'000));
  none.release(place);
}

}  // namespace
}  // namespace satrelay::gateway::flow_journal_test
