#include "relay/satperf/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace satrelay::satperf::report_test {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSecond = 1'000'000'000;

// One second of a run with both ends known: 5 MB sent, 1% lost and retransmitted, 4.8 MB in order.
BothEnds one_second() {
  Span sender;
  sender.from.time_ns = kSecond;
  sender.to.time_ns = 2 * kSecond;
  sender.from.sent_bytes = 1'000'000;
  sender.to.sent_bytes = 6'000'000;
  sender.to.retransmitted_bytes = 50'000;
  sender.from.packets_out = 1000;
  sender.to.packets_out = 5000;
  sender.to.packets_lost = 40;
  sender.to.rtt_us = 551'234;
  sender.to.cpu_user_us = 30'000;
  sender.to.cpu_system_us = 20'000;
  Span receiver;
  receiver.from.time_ns = 3 * kSecond;
  receiver.to.time_ns = 4 * kSecond;
  receiver.to.delivered_bytes = 4'800'000;
  receiver.to.stored_bytes = 4'900'000;
  receiver.to.first_byte_ns = kSecond;
  receiver.to.last_byte_ns = 3 * kSecond;
  receiver.to.blocks_checked = 73;
  receiver.to.cpu_user_us = 10'000;
  return {sender, receiver};
}

TEST(Report, AnIntervalIsALineOfText) {
  const Report report(Format::kText, LossReport::kOff);
  EXPECT_EQ(report.interval(2 * kSecond, one_second()),
            "    2.0 s   38.4 Mbit/s   39.2 Mbit/s   40.0 Mbit/s    400 kbit/s    1.00%   551.2 ms"
            "       5%       1%\n");
}

TEST(Report, WhatIsNotKnownIsADash) {
  const Report report(Format::kText, LossReport::kOff);
  EXPECT_EQ(report.interval(kSecond / 2, {}),
            "    0.5 s             -             -             -             -        -          -"
            "        -        -\n");
  BothEnds ends = one_second();
  ends.receiver->to.time_ns = ends.receiver->from.time_ns;  // no new record of the far end
  const json line = json::parse(Report(Format::kJson, LossReport::kOff).interval(0, ends));
  EXPECT_TRUE(line["goodput_bps"].is_null());
  EXPECT_TRUE(line["receiver_cpu_ppm"].is_null());
  EXPECT_EQ(line["sent_bps"], 40'000'000);
}

TEST(Report, AnIntervalIsAnObjectOfWholeNumbers) {
  const Report report(Format::kJson, LossReport::kOff);
  const std::string text = report.interval(2 * kSecond, one_second());
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(json::parse(text), json({{"event", "interval"},
                                     {"time_ms", 2000},
                                     {"goodput_bps", 38'400'000},
                                     {"stored_bps", 39'200'000},
                                     {"sent_bps", 40'000'000},
                                     {"retransmitted_bps", 400'000},
                                     {"packets_lost", 40},
                                     {"loss_ppm", 10'000},
                                     {"rtt_us", 551'234},
                                     {"sender_cpu_ppm", 50'000},
                                     {"receiver_cpu_ppm", 10'000}}));
}

TEST(Report, TheSummaryCountsFromTheFirstByteToTheLast) {
  EXPECT_DOUBLE_EQ(goodput(one_second().receiver->to), 19.2e6);
  EXPECT_EQ(goodput(Snapshot()), 0);
  const std::string text =
      Report(Format::kText, LossReport::kOff).summary(one_second(), Outcome::kComplete, "");
  EXPECT_NE(text.find("complete\n"), std::string::npos) << text;
  EXPECT_NE(text.find("40 of 5000 packets lost (0.80%)"), std::string::npos) << text;
  EXPECT_NE(text.find("4.80 MB in order in 2.00 s: 19.2 Mbit/s; 73 blocks checked, 0 damaged"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("loss report"), std::string::npos);
}

TEST(Report, TheLossReportTellsCausesApart) {
  BothEnds ends = one_second();
  ends.receiver->to.bad_crc_packets = 3;
  ends.receiver->to.no_memory_drops = 2;
  const std::string text =
      Report(Format::kText, LossReport::kOn).summary(ends, Outcome::kFailed, "cable cut");
  EXPECT_NE(text.find("failed: cable cut\n"), std::string::npos) << text;
  EXPECT_NE(text.find("sender    lost 40"), std::string::npos) << text;
  EXPECT_NE(text.find("bad CRC 3, malformed 0, bytes without memory 2"), std::string::npos) << text;
}

TEST(Report, TheSummaryInJsonHasAllCountsOfBothEnds) {
  BothEnds ends = one_second();
  const Report report(Format::kJson, LossReport::kOff);
  json summary = json::parse(report.summary(ends, Outcome::kInterrupted, ""));
  EXPECT_EQ(summary["event"], "summary");
  EXPECT_EQ(summary["outcome"], "interrupted");
  EXPECT_TRUE(summary["reason"].is_null());
  EXPECT_EQ(summary["goodput_bps"], 19'200'000);
  EXPECT_EQ(summary["sender"].size(), Snapshot::kFields.size());
  EXPECT_EQ(summary["receiver"]["stored_bytes"], 4'900'000);
  ends.receiver.reset();
  summary = json::parse(report.summary(ends, Outcome::kFailed, "\xff no text"));
  EXPECT_TRUE(summary["receiver"].is_null());
  EXPECT_TRUE(summary["goodput_bps"].is_null());
}

TEST(Report, TheStartSaysWhatWillBeDone) {
  Plan plan;
  plan.rate = BitRate::bits_per_second(50'000'000);
  plan.duration = Duration::seconds(10);
  const std::string text =
      Report(Format::kText, LossReport::kOff).start(plan, End::kClient, "192.0.2.2:7879");
  EXPECT_NE(text.find("sending to 192.0.2.2:7879 at 50Mbit"), std::string::npos) << text;
  EXPECT_NE(text.find("for 10s"), std::string::npos) << text;
  const json start =
      json::parse(Report(Format::kJson, LossReport::kOff).start(plan, End::kServer, "192.0.2.1:1"));
  EXPECT_EQ(start["role"], "receiver");
  EXPECT_EQ(start["controller"], "fixed_rate");
  EXPECT_EQ(start["duration_ms"], 10'000);
  EXPECT_TRUE(start["bytes"].is_null());
}

}  // namespace
}  // namespace satrelay::satperf::report_test
