#include "config/link/trace_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "config/readers/loader.h"
#include "config/text/error.h"

namespace satrelay::config::trace_file_test {
namespace {

class TraceFile : public ::testing::Test {
 protected:
  TraceFile() { std::filesystem::create_directory(folder_); }
  ~TraceFile() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  // The message, without the file's name in front.
  template <typename Read>
  std::string error_of(const std::string& text, Read&& read) {
    const std::filesystem::path file = write("trace", text);
    try {
      read(file);
    } catch (const ConfigError& error) {
      return std::string(error.what()).substr(file.string().size());
    }
    return "no error";
  }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("satrelay-trace-" + std::to_string(::getpid()));
};

TEST_F(TraceFile, ReadsLostFrames) {
  const LossTrace trace =
      read_loss_trace(write("loss", "# of a long night\nperiod 1000\n3\n 17 # rain\n\n999\n"));
  EXPECT_EQ(trace.lost, (std::vector<std::uint64_t>{3, 17, 999}));
  EXPECT_EQ(trace.period, 1000U);
}

TEST_F(TraceFile, RefusesWhatIsNoLossTrace) {
  const auto error = [this](const std::string& text) { return error_of(text, read_loss_trace); };
  EXPECT_EQ(error("1\nx\n"), ":2: is not a frame number; write a whole number, or period and one");
  EXPECT_EQ(error("-1\n"), ":1: is not a frame number; write a whole number, or period and one");
  EXPECT_EQ(error("5\n5\n"),
            ":2: is not above the number before it; write them in ascending order");
  EXPECT_EQ(error("period 0\n"), ":1: write one period, of at least one frame");
  EXPECT_EQ(error("period 5\n7\n"), ": frame 7 lies beyond the period of 5; write a longer period");
}

TEST_F(TraceFile, ReadsDelays) {
  const auto steps = read_delay_trace(write("delay", "0s 12500us\n15s 30ms\n"));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].at, Duration::seconds(15));
  EXPECT_EQ(steps[1].delay, Duration::milliseconds(30));
}

TEST_F(TraceFile, RefusesWhatIsNoDelayTrace) {
  const auto error = [this](const std::string& text) { return error_of(text, read_delay_trace); };
  EXPECT_EQ(error(""), ": has no step; write lines like 15s 30ms");
  EXPECT_EQ(error("15s\n"), ":1: is not a step; write a time and a delay, like 15s 30ms");
  EXPECT_EQ(error("15s 30\n").substr(0, 23), ":1: \"30\" is not a time;");
  EXPECT_EQ(error("1s 20ms\n1s 30ms\n"),
            ":2: is not later than the step before it; write them in ascending order");
  EXPECT_EQ(error("1s 20s\n"), ":1: is a delay above 10s; write a shorter one");
}

TEST_F(TraceFile, ALinkFindsItsTracesBesideItself) {
  write("loss", "10\n");
  write("delay", "1s 30ms\n2s 20ms\n");
  const SatLink link =
      load_sat_link(write("l.yaml",
                          "ports: {a: {interface: sata}, b: {interface: satb}}\n"
                          "both: {rate: 50Mbit, delay: 275ms}\n"
                          "traces: {a_to_b: {loss: loss}, both: {delay: delay}}\n"));
  ASSERT_TRUE(link.a_to_b.loss_trace);
  EXPECT_EQ(link.a_to_b.loss_trace->lost, (std::vector<std::uint64_t>{10}));
  EXPECT_FALSE(link.b_to_a.loss_trace);
  for (const LinkDirection* direction : {&link.a_to_b, &link.b_to_a}) {
    ASSERT_EQ(direction->delay_steps.size(), 2U);
    EXPECT_EQ(direction->delay_steps[1].at, Duration::seconds(2));
    EXPECT_EQ(direction->delay_steps[1].delay, Duration::milliseconds(20));
  }
}

TEST_F(TraceFile, AMistakeIsToldWithThePlaceWhereItIs) {
  const auto error = [&](const std::string& name) {
    try {
      load_sat_link(write("l.yaml",
                          "ports: {a: {interface: sata}, b: {interface: satb}}\n"
                          "both: {rate: 50Mbit, loss: 1%}\n"
                          "traces: {both: {loss: " +
                              name + "}}\n"));
    } catch (const ConfigError& wrong) {
      return std::string(wrong.what()).substr(folder_.string().size());
    }
    return std::string("no error");
  };
  write("loss", "7\n");
  EXPECT_EQ(
      error("loss"),
      "/l.yaml:3:23: traces.both.loss: contradicts the direction's loss; write one of the two");
  write("loss", "x\n");
  EXPECT_EQ(error("loss"),
            "/loss:1: is not a frame number; write a whole number, or period and one");
  EXPECT_EQ(error("gone"), "/gone: cannot be read: No such file or directory");
}

}  // namespace
}  // namespace satrelay::config::trace_file_test
