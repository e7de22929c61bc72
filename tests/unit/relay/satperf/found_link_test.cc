#include "relay/satperf/found_link.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace satrelay::satperf::found_link_test {
namespace {

BitRate bits(std::uint64_t n) { return BitRate::bits_per_second(n); }

FoundLink sample() {
  FoundLink link;
  link.sent.add(bits(47'951'234));
  link.received.add(bits(9'712'999));
  link.sent.set_carried(bits(60'000'000));
  link.received.set_carried(bits(60'000'000));
  link.ceiling = bits(1'000'000'000);
  link.rtt_us = 551'234;
  return link;
}

TEST(FoundLink, IsASectionToPasteWithRatesRoundedDown) {
  EXPECT_EQ(links_section(sample()),
            "links:\n  sat: {send_rate: 47900kbit, receive_rate: 9710kbit, overhead: ethernet}\n");
}

TEST(FoundRate, WhatWentOverTheLinkDecidesWithinLimits) {
  FoundRate rate;
  rate.add(bits(100'000'000));
  EXPECT_EQ(rate.rate(), bits(85'000'000));
  rate.set_carried(bits(98'000'000));
  EXPECT_EQ(rate.rate(), bits(98'000'000));
  rate.set_carried(bits(101'000'000));
  EXPECT_EQ(rate.rate(), bits(100'000'000));
}

// The far sender reports each quarter of a second, and once more when all bytes have left.
TEST(CarriedRate, ThePauseBehindTheLastByteIsNoPartOfIt) {
  CarriedRate carried(5'000'000'000, Duration::seconds(6), 38);
  Snapshot sender;
  std::uint64_t packets = 0;
  for (std::uint64_t ms = 0; ms <= 6'500; ms += 10) {
    if (ms < 6'000) packets += 8;
    sender.time_ns = ms * 1'000'000;
    sender.packets_out = packets;
    sender.udp_bytes_out = packets * 1'434;
    if (ms % 250 == 200) carried.look(sender);
  }
  EXPECT_EQ(carried.rate(), bits(9'600'000));
}

TEST(CarriedRate, IsNotKnownBeforeItHasSettled) {
  CarriedRate carried(5'000'000'000, Duration::seconds(5), 38);
  Snapshot sender;
  sender.time_ns = 4'900'000'000;
  carried.look(sender);
  EXPECT_TRUE(carried.rate().is_zero());
}

TEST(FoundLink, OneThatVariesIsToBeFoundByTheGateway) {
  FoundLink link = sample();
  link.overhead = 0;
  link.sent.add(bits(20'000'000));
  EXPECT_TRUE(link.sent.varies());
  EXPECT_FALSE(link.received.varies());
  EXPECT_EQ(links_section(link),
            "links:\n  sat: {capacity: find, send_rate: 47900kbit, receive_rate: 9710kbit, "
            "overhead: ip}\n");
  EXPECT_NE(describe(link, Format::kText).find("20.0 Mbit/s, between 20.0 Mbit/s and 48.0 Mbit/s"),
            std::string::npos)
      << describe(link, Format::kText);
}

TEST(FoundLink, SaysWhereTheLimitWasWhatWasTried) {
  FoundLink link = sample();
  link.ceiling = bits(47'951'234);
  const std::string text = describe(link, Format::kText);
  EXPECT_NE(text.find("the most that was tried"), std::string::npos) << text;
  EXPECT_NE(text.find("551.2 ms"), std::string::npos) << text;
}

TEST(FoundLink, IsOneLineForPrograms) {
  const std::string line = describe(sample(), Format::kJson);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["event"], "found");
  EXPECT_EQ(json["send_bps"], 47'951'234);
  EXPECT_EQ(json["receive_least_bps"], 9'712'999);
  EXPECT_EQ(json["links"], links_section(sample()));
}

}  // namespace
}  // namespace satrelay::satperf::found_link_test
