#include "relay/records/ipfix_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "pep/base/bytes.h"
#include "tests/unit/relay/records/sample_record.h"

namespace satrelay::records::ipfix_message_test {
namespace {

const std::vector<std::string> kPeers{"ship", "base"};
const RecordContext kContext{.peers = kPeers, .epoch = 1'795'639'475ULL * 1'000'000'000};
constexpr std::size_t kLongest = 1'232;

std::uint64_t number_at(ConstBytes bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (const std::byte b : bytes.subspan(at, size))
    value = value << 8 | std::to_integer<unsigned>(b);
  return value;
}

// RFC 7011 section 3.1.
struct Header {
  explicit Header(ConstBytes message)
      : version(number_at(message, 0, 2)),
        length(number_at(message, 2, 2)),
        sequence(number_at(message, 8, 4)),
        domain(number_at(message, 12, 4)),
        first_set(number_at(message, 16, 2)) {}
  std::uint64_t version, length, sequence, domain, first_set;
};

class IpfixMessagesTest : public ::testing::Test {
 protected:
  static bool contains(ConstBytes message, std::string_view text) {
    const ConstBytes wanted = std::as_bytes(std::span(text));
    return !std::ranges::search(message, wanted).empty();
  }
  static bool contains(ConstBytes message, std::uint32_t number) {
    std::array<std::byte, 4> wanted{};
    for (std::size_t i = 0; i < 4; ++i) wanted[i] = static_cast<std::byte>(number >> (24 - 8 * i));
    return !std::ranges::search(message, wanted).empty();
  }
  IpfixMessages messages_{{.observation_domain = 42, .longest = kLongest}};
};

TEST_F(IpfixMessagesTest, TheTemplatesComeAlone) {
  const ConstBytes templates = messages_.templates();
  const Header header(templates);
  EXPECT_EQ(header.version, 10U);
  EXPECT_EQ(header.length, templates.size());
  EXPECT_EQ(header.domain, 42U);
  EXPECT_EQ(header.first_set, 2U) << "a template set";
  EXPECT_TRUE(contains(templates, 29305U)) << "reverse elements of RFC 5103";
  EXPECT_TRUE(contains(templates, 32473U)) << "and ours";
  EXPECT_EQ(messages_.records(), 0U);
}

// RFC 7011 section 3.3.
TEST_F(IpfixMessagesTest, EachSetHasARecordThoughTemplatesAlternate) {
  constexpr std::size_t kLongestHeader = 4;
  std::size_t messages = 0;
  for (std::size_t i = 0; messages < 300; ++i) {
    gateway::FlowRecord record = sample_record(i);
    if (i % 3 == 0) record.client = record.server = *IpAddress::parse("2001:db8::1");
    if (i % 5 == 0) record.far = gateway::LanFigures{};
    record.rule_name = gateway::RecordedName(std::string(i % 33, 'r'));
    const ConstBytes message = messages_.add(record, kContext);
    if (message.empty()) continue;
    ++messages;
    ASSERT_EQ(Header(message).length, message.size());
    std::size_t at = 16;
    while (at < message.size()) {
      const std::uint64_t size = number_at(message, at + 2, 2);
      ASSERT_GT(size, kLongestHeader) << "at " << at << " of " << message.size();
      at += size;
    }
    EXPECT_EQ(at, message.size());
  }
}

TEST_F(IpfixMessagesTest, AMessageIsFullBeforeItIsTooLong) {
  messages_.templates();
  std::size_t added = 0;
  ConstBytes full;
  while (full.empty()) {
    full = messages_.add(sample_record(added), kContext);
    ++added;
  }
  const Header header(full);
  EXPECT_LE(full.size(), kLongest);
  EXPECT_EQ(header.length, full.size());
  EXPECT_EQ(header.first_set, 256U);
  EXPECT_EQ(header.sequence, 0U) << "templates are no records";
  EXPECT_EQ(messages_.records(), added - 1);
  EXPECT_GE(added, 6U);
  const ConstBytes rest = messages_.finish();
  EXPECT_EQ(messages_.records(), 1U);
  EXPECT_EQ(Header(rest).sequence, added - 1) << "counts records (RFC 7011 section 3.1)";
  EXPECT_TRUE(messages_.finish().empty());
}

TEST_F(IpfixMessagesTest, NamesAndNumbersAreInIt) {
  messages_.templates();
  EXPECT_TRUE(messages_.add(sample_record(), kContext).empty());
  const ConstBytes message = messages_.finish();
  for (const char* text : {"web", "bulk", "base", "finished"}) EXPECT_TRUE(contains(message, text));
  EXPECT_TRUE(contains(message, 2'000'000U));
  EXPECT_TRUE(contains(message, 0xcb007105U)) << "203.0.113.5";
}

TEST_F(IpfixMessagesTest, BothVersionsOfIpAreInOneMessage) {
  messages_.templates();
  gateway::FlowRecord record = sample_record();
  messages_.add(record, kContext);
  record.client = *IpAddress::parse("2001:db8::5");
  record.server = *IpAddress::parse("2001:db8:1::5");
  messages_.add(record, kContext);
  const ConstBytes message = messages_.finish();
  EXPECT_EQ(messages_.records(), 2U);
  const std::size_t first_size = number_at(message, 18, 2);
  EXPECT_EQ(number_at(message, 16 + first_size, 2), 257U);
}

TEST_F(IpfixMessagesTest, WhatTheFarGatewayHasToldHasATemplateOfItsOwn) {
  const auto size_of = [&](const gateway::FlowRecord& record, unsigned set) {
    messages_.add(record, kContext);
    const ConstBytes message = messages_.finish();
    EXPECT_EQ(Header(message).first_set, set);
    EXPECT_EQ(contains(message, 0x0badcafeU), record.far.has_value());
    return message.size();
  };
  messages_.templates();
  gateway::FlowRecord record = sample_record();
  gateway::FlowRecord told = record;
  told.far = gateway::LanFigures{.retransmitted = 0x0badcafeU, .repeated = 0};
  EXPECT_EQ(size_of(told, 258), size_of(record, 256) + 8);
  for (gateway::FlowRecord* each : {&record, &told}) {
    each->client = each->server = *IpAddress::parse("2001:db8::5");
  }
  EXPECT_EQ(size_of(told, 259), size_of(record, 257) + 8);
}

TEST(FlowEndReasons, AreThoseOfTheRfc) {
  using gateway::Counter;
  EXPECT_EQ(flow_end_reason(Counter::kFlowsFinished), FlowEndReason::kEndOfFlow);
  EXPECT_EQ(flow_end_reason(Counter::kFlowsResetByHost), FlowEndReason::kEndOfFlow);
  EXPECT_EQ(flow_end_reason(Counter::kFlowsResetIdle), FlowEndReason::kIdleTimeout);
  EXPECT_EQ(flow_end_reason(Counter::kFlowsResetNoResources), FlowEndReason::kLackOfResources);
  EXPECT_EQ(flow_end_reason(Counter::kFlowsResetShutdown), FlowEndReason::kForcedEnd);
}

}  // namespace
}  // namespace satrelay::records::ipfix_message_test
