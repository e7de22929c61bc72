#include "relay/satperf/request.h"

#include <gtest/gtest.h>

#include <vector>

#include "relay/satperf/snapshot.h"

namespace satrelay::satperf::request_test {
namespace {

using Kind = RequestParse::Kind;

Request some_request() {
  Request request;
  request.run = 0x1122334455667788;
  Plan& plan = request.plan;
  plan.direction = Direction::kReverse;
  plan.rate = BitRate::bits_per_second(50'000'000);
  plan.return_rate = BitRate::bits_per_second(1'000'000);
  plan.feedback_budget = BitRate::bits_per_second(5'000);
  plan.feedback = stp::FeedbackMode::kMNack;
  plan.controller = config::Controller::kTps;
  plan.overhead = 0;
  plan.segment = 9000;
  plan.bytes = 3'000'000;
  plan.streams = 7;
  plan.crc_interval = 2;
  plan.interval = Duration::milliseconds(250);
  return request;
}

TEST(Request, IsReadAsWritten) {
  const Request request = some_request();
  const RequestParse parse = parse_request(write_request(request));
  ASSERT_EQ(parse.kind, Kind::kGood);
  EXPECT_EQ(parse.request.run, request.run);
  const Plan& plan = parse.request.plan;
  EXPECT_EQ(plan.direction, Direction::kReverse);
  EXPECT_EQ(plan.rate, request.plan.rate);
  EXPECT_EQ(plan.return_rate, request.plan.return_rate);
  EXPECT_EQ(plan.feedback_budget, request.plan.feedback_budget);
  EXPECT_EQ(plan.feedback, stp::FeedbackMode::kMNack);
  EXPECT_EQ(plan.controller, config::Controller::kTps);
  EXPECT_EQ(plan.overhead, 0U);
  EXPECT_EQ(plan.segment, 9000);
  EXPECT_EQ(plan.bytes, 3'000'000U);
  EXPECT_EQ(plan.duration, Duration::zero());
  EXPECT_EQ(plan.streams, 7U);
  EXPECT_EQ(plan.crc_interval, 2U);
  EXPECT_EQ(plan.interval, Duration::milliseconds(250));
}

TEST(Request, EveryTruncationIsRefusedOrForeign) {
  const auto whole = write_request(some_request());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(parse_request(ConstBytes(whole).first(size)).kind, Kind::kGood) << size;
  }
  std::vector<std::byte> longer(whole.begin(), whole.end());
  longer.push_back(std::byte{0});
  EXPECT_EQ(parse_request(longer).kind, Kind::kImpossible);
}

TEST(Request, AnotherVersionIsKnownAsSuch) {
  auto bytes = write_request(some_request());
  bytes[8] = std::byte{kRequestVersion + 1};
  const RequestParse parse = parse_request(ConstBytes(bytes).first(17));
  EXPECT_EQ(parse.kind, Kind::kVersion);
  EXPECT_EQ(parse.request.run, some_request().run);
}

TEST(Request, ImpossibleValuesAreRefused) {
  const auto refused = [](auto&& change) {
    Request request = some_request();
    change(request.plan);
    return parse_request(write_request(request)).kind == Kind::kImpossible;
  };
  EXPECT_TRUE(refused([](Plan& p) { p.rate = BitRate(); }));
  EXPECT_TRUE(refused([](Plan& p) { p.return_rate = BitRate::bits_per_second(1ULL << 62); }));
  EXPECT_TRUE(refused([](Plan& p) { p.feedback_budget = BitRate(); }));
  EXPECT_TRUE(refused([](Plan& p) { p.overhead = 1001; }));
  EXPECT_TRUE(refused([](Plan& p) { p.segment = 575; }));
  EXPECT_TRUE(refused([](Plan& p) { p.bytes = 0; })) << "neither bytes nor time";
  EXPECT_TRUE(refused([](Plan& p) { p.duration = Duration::seconds(1); })) << "both";
  EXPECT_TRUE(refused([](Plan& p) { p.bytes = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](Plan& p) { p.streams = 0; }));
  EXPECT_TRUE(refused([](Plan& p) { p.streams = kMostStreams + 1; }));
  EXPECT_TRUE(refused([](Plan& p) { p.interval = Duration::zero(); }));
  EXPECT_TRUE(refused([](Plan& p) { p.interval = Duration::nanoseconds(-1); }));
  auto bytes = write_request(some_request());
  for (const std::size_t place : {17U, 18U}) {  // no such direction, no such mode
    bytes = write_request(some_request());
    bytes[place] = std::byte{3};
    EXPECT_EQ(parse_request(bytes).kind, Kind::kImpossible) << place;
  }
}

TEST(Request, OtherDatagramsAreForeign) {
  EXPECT_EQ(parse_request({}).kind, Kind::kForeign);
  const auto answer = write_answer({.run = 1, .verdict = Verdict::kBusy});
  EXPECT_EQ(parse_request(answer).kind, Kind::kForeign);
  EXPECT_FALSE(parse_answer(write_request(some_request())));
}

TEST(Answer, IsReadAsWritten) {
  for (std::uint8_t verdict = 0; verdict <= kLastVerdict; ++verdict) {
    const auto answer = parse_answer(write_answer({.run = 9, .verdict = Verdict{verdict}}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->run, 9U);
    EXPECT_EQ(answer->verdict, Verdict{verdict});
  }
}

TEST(Answer, OfALaterVersionOrWithAnUnknownVerdictIsAnotherVersion) {
  auto bytes = write_answer({.run = 9, .verdict = Verdict::kAccepted});
  bytes[8] = std::byte{99};
  ASSERT_TRUE(parse_answer(bytes));
  EXPECT_EQ(parse_answer(bytes)->verdict, Verdict::kVersion);
  bytes = write_answer({.run = 9, .verdict = Verdict{kLastVerdict + 1}});
  EXPECT_EQ(parse_answer(bytes)->verdict, Verdict::kVersion);
  EXPECT_FALSE(parse_answer(ConstBytes(bytes).first(17)));
}

TEST(Record, HoldsEveryMember) {
  Snapshot snapshot;
  std::uint64_t value = 1ULL << 40;
  for (const auto& field : Snapshot::kFields) snapshot.*field.member = ++value;
  EXPECT_EQ(read_record(write_record(snapshot)), snapshot);
}

}  // namespace
}  // namespace satrelay::satperf::request_test
