// The queue of link.yaml, given as a size or as a time. loader_test.cc tests the other keys.
#include "config/link/read_sat_link.h"

#include <gtest/gtest.h>

#include <string>

#include "config/readers/loader.h"
#include "config/text/error.h"

namespace satrelay::config::read_sat_link_test {
namespace {

SatLink link_with(const std::string& directions) {
  return parse_sat_link("ports: {a: {interface: sata}, b: {interface: satb}}\n" + directions + "\n",
                        "l.yaml");
}

TEST(ReadSatLink, AQueueIsASizeOrATimeAtTheRateOfItsDirection) {
  const SatLink link = link_with(
      "a_to_b: {queue: 1.5 s, rate: 10Mbit}\n"
      "b_to_a: {rate: 1Mbit, queue: 50ms}\n"
      "changes: [{at: 1s, rate: 100kbit}]");
  EXPECT_EQ(link.a_to_b.queue, ByteCount(1'875'000));
  EXPECT_EQ(link.b_to_a.queue, ByteCount(6'250));
  EXPECT_EQ(link_with("both: {rate: unlimited, queue: 625kB}").a_to_b.queue, ByteCount(625'000));
}

TEST(ReadSatLink, ATimeNeedsARate) {
  try {
    link_with("both: {rate: unlimited, queue: 100ms}");
    ADD_FAILURE() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "l.yaml:2:32: both.queue: \"100ms\" is a time, and the rate is unlimited; write a "
                 "size, like 625kB");
  }
}

}  // namespace
}  // namespace satrelay::config::read_sat_link_test
