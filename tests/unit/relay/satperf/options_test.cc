#include "relay/satperf/options.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace satrelay::satperf::options_test {
namespace {

struct Parsed {
  ParsedOptions result;
  std::string out, err;
};

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "satperf");
  std::ostringstream out, err;
  Parsed parsed;
  parsed.result = parse_options(static_cast<int>(words.size()), words.data(), out, err);
  parsed.out = out.str();
  parsed.err = err.str();
  return parsed;
}

TEST(Options, ClientHasDefaultsThatFollowFromTheRate) {
  const auto options = parse({"client", "far.example", "--rate", "1Gbit"}).result.options;
  ASSERT_TRUE(options);
  EXPECT_EQ(options->end, End::kClient);
  EXPECT_EQ(options->server, "far.example");
  EXPECT_EQ(options->port, 7879);
  const Plan& plan = options->plan;
  EXPECT_EQ(plan.direction, Direction::kForward);
  EXPECT_EQ(plan.rate, BitRate::bits_per_second(1'000'000'000));
  EXPECT_EQ(plan.return_rate, plan.rate);
  EXPECT_EQ(plan.feedback_budget, BitRate::bits_per_second(500'000));
  EXPECT_EQ(plan.duration, Duration::seconds(10));
  EXPECT_EQ(plan.bytes, 0U);
  EXPECT_EQ(plan.segment, 1500);
  EXPECT_EQ(plan.overhead, 38U);
}

TEST(Options, EveryOptionOfTheClientIsTaken) {
  const auto options = parse({"client",
                              "::1",
                              "--rate",
                              "50Mbit",
                              "--return-rate",
                              "1Mbit",
                              "--feedback-budget",
                              "5kbit",
                              "--feedback",
                              "hpfp",
                              "--controller",
                              "stp",
                              "--overhead",
                              "ip",
                              "--segment",
                              "9000",
                              "--bytes",
                              "3MB",
                              "--reverse",
                              "--streams",
                              "4",
                              "--interval",
                              "250ms",
                              "--crc-interval",
                              "10",
                              "--bind",
                              "::2",
                              "--port",
                              "99",
                              "--buffer",
                              "8MiB",
                              "--timeout",
                              "2min",
                              "--cpu",
                              "3",
                              "--output",
                              "x.json",
                              "--json",
                              "--loss-report"})
                           .result.options;
  ASSERT_TRUE(options);
  const Plan& plan = options->plan;
  EXPECT_EQ(plan.return_rate, BitRate::bits_per_second(1'000'000));
  EXPECT_EQ(plan.feedback_budget, BitRate::bits_per_second(5'000));
  EXPECT_EQ(plan.feedback, stp::FeedbackMode::kHpfp);
  EXPECT_EQ(plan.controller, config::Controller::kStp);
  EXPECT_EQ(plan.overhead, 0U);
  EXPECT_EQ(plan.segment, 9000);
  EXPECT_EQ(plan.bytes, 3'000'000U);
  EXPECT_EQ(plan.duration, Duration::zero());
  EXPECT_EQ(plan.sender(), End::kServer);
  EXPECT_EQ(plan.streams, 4U);
  EXPECT_EQ(plan.interval, Duration::milliseconds(250));
  EXPECT_EQ(plan.crc_interval, 10U);
  EXPECT_EQ(options->bind, "::2");
  EXPECT_EQ(options->port, 99);
  EXPECT_EQ(options->buffer, ByteCount(8U << 20));
  EXPECT_EQ(options->timeout, Duration::seconds(120));
  EXPECT_EQ(options->cpu, 3U);
  EXPECT_EQ(options->output, "x.json");
  EXPECT_EQ(options->format, Format::kJson);
  EXPECT_EQ(options->losses, LossReport::kOn);
}

TEST(Options, SecondsTakeAUnitOrNone) {
  for (const auto& [text, time] :
       std::vector<std::pair<const char*, Duration>>{{"3", Duration::seconds(3)},
                                                     {"500ms", Duration::milliseconds(500)},
                                                     {"2min", Duration::seconds(120)}}) {
    const auto options =
        parse({"client", "x", "--rate", "1Mbit", "--seconds", text}).result.options;
    ASSERT_TRUE(options) << text;
    EXPECT_EQ(options->plan.duration, time) << text;
  }
}

TEST(Options, FindNeedsNoRateAndTakesAMinute) {
  const auto options = parse({"client", "x", "--find"}).result.options;
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->find);
  EXPECT_EQ(options->plan.controller, config::Controller::kFind);
  EXPECT_EQ(options->plan.rate, BitRate::bits_per_second(1'000'000'000));
  EXPECT_EQ(options->plan.duration, Duration::seconds(25));
  const auto other = parse({"client", "x", "--find", "--rate", "80Mbit", "--seconds", "9"});
  ASSERT_TRUE(other.result.options);
  EXPECT_EQ(other.result.options->plan.rate, BitRate::bits_per_second(80'000'000));
  EXPECT_EQ(other.result.options->plan.duration, Duration::seconds(9));
}

TEST(Options, ServerNeedsNothing) {
  const auto options = parse({"server", "--once"}).result.options;
  ASSERT_TRUE(options);
  EXPECT_EQ(options->end, End::kServer);
  EXPECT_TRUE(options->once);
  EXPECT_FALSE(parse({"server", "--rate", "1Mbit"}).result.options) << "the client says that";
}

TEST(Options, MistakesNameTheOptionAndWhatIsAllowed) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> cases{
      {{}, "subcommand"},
      {{"client", "--rate", "1Mbit"}, "ADDRESS is required"},
      {{"client", "x"}, "--rate is required"},
      {{"client", "x", "--rate", "50Mb"},
       "--rate: \"50Mb\" is not a rate; write a number with bit"},
      {{"client", "x", "--rate", "200Gbit"}, "--rate: \"200Gbit\" is out of range"},
      {{"client", "x", "--rate", "1Mbit", "--bytes", "0B"}, "--bytes: \"0B\" is out of range"},
      {{"client", "x", "--rate", "1Mbit", "--bytes", "5"}, "--bytes: \"5\" is not a size"},
      {{"client", "x", "--rate", "1Mbit", "--bytes", "1MB", "--seconds", "1"}, "--bytes excludes"},
      {{"client", "x", "--rate", "1Mbit", "--segment", "575"}, "576 to 65535"},
      {{"client", "x", "--rate", "1Mbit", "--streams", "0"}, "1 to 1000"},
      {{"client", "x", "--rate", "1Mbit", "--streams", "-1"}, "not a whole number"},
      {{"client", "x", "--rate", "1Mbit", "--overhead", "atm"}, "write ip, ethernet or 0 to 1000"},
      {{"client", "x", "--rate", "1Mbit", "--feedback", "ack"}, "adaptive, hpfp or m-nack"},
      {{"client", "x", "--rate", "1Mbit", "--controller", "cubic"},
       "fixed_rate, hpfp, tps, stp or find"},
      {{"client", "x", "--rate", "1Mbit", "--interval", "1ms"}, "--interval: \"1ms\" is out of"},
      {{"client", "x", "--rate", "1Mbit", "--timeout", "soon"},
       "--timeout: \"soon\" is not a time"},
      {{"client", "x", "--rate", "1Mbit", "--port", "70000"}, "1 to 65535"},
      {{"client", "x", "--rate", "1Mbit", "--what"}, "--what"},
      {{"client", "x", "--find", "--reverse"}, "excludes"},
      {{"client", "x", "--find", "--bytes", "1MB"}, "excludes"},
      {{"client", "x", "--find", "--controller", "tps"}, "excludes"},
      {{"client", "x", "--find", "--rate", "fast"}, "--rate: \"fast\" is not a rate"},
      {{"server", "--buffer", "1kB"}, "--buffer: \"1kB\" is out of range; from 1MiB"},
  };
  for (const auto& [words, message] : cases) {
    const Parsed parsed = parse(words);
    EXPECT_FALSE(parsed.result.options) << message;
    EXPECT_EQ(parsed.result.exit, Exit::kBadOptions) << message;
    EXPECT_NE(parsed.err.find(message), std::string::npos) << parsed.err;
    EXPECT_TRUE(parsed.out.empty()) << parsed.out;
  }
}

TEST(Options, HelpHasExamplesAndIsNoMistake) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"--help"}, {"client", "--help"}, {"server", "--help"}}) {
    const Parsed parsed = parse(words);
    EXPECT_FALSE(parsed.result.options);
    EXPECT_EQ(parsed.result.exit, Exit::kComplete);
    EXPECT_NE(parsed.out.find("satperf client 192.0.2.2 --rate 50Mbit"), std::string::npos);
    EXPECT_NE(parsed.out.find("Exit status"), std::string::npos);
  }
}

}  // namespace
}  // namespace satrelay::satperf::options_test
