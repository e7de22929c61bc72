#include "relay/metrics/metric_names.h"

#include <gtest/gtest.h>

namespace satrelay::metrics::metric_names_test {
namespace {

TEST(FamilyName, EndsWithTheBaseUnit) {
  EXPECT_EQ(family_name("peer", "packets_in", CounterUnit::kNumber), "peer_packets_in");
  EXPECT_EQ(family_name("peer", "bytes_in", CounterUnit::kBytes), "peer_in_bytes");
  EXPECT_EQ(family_name("peer", "stream_bytes_out", CounterUnit::kBytes), "peer_stream_out_bytes");
  EXPECT_EQ(family_name("peer", "no_memory_drops", CounterUnit::kBytes),
            "peer_no_memory_drops_bytes");
  EXPECT_EQ(family_name("compression", "time_ns", CounterUnit::kNanoseconds),
            "compression_time_seconds");
  EXPECT_EQ(family_name("x", "wait_us", CounterUnit::kMicroseconds), "x_wait_seconds");
  EXPECT_EQ(family_name("peer", "peer_restarts", CounterUnit::kNumber), "peer_restarts");
  EXPECT_EQ(family_name("", "lan_frames_in", CounterUnit::kNumber), "lan_frames_in");
}

TEST(BaseUnit, IsBytesOrSeconds) {
  EXPECT_EQ(base_unit(CounterUnit::kBytes).name, "bytes");
  EXPECT_EQ(base_unit(CounterUnit::kBytes).divisor, 1);
  EXPECT_EQ(base_unit(CounterUnit::kNanoseconds).divisor, 1e9);
  EXPECT_EQ(base_unit(CounterUnit::kMicroseconds).divisor, 1e6);
  EXPECT_EQ(base_unit(CounterUnit::kNumber).name, "");
}

TEST(ReasonIn, IsWhatFollowsThePrefix) {
  const ReasonGroup bridged = {
      .prefix = "bridged_", .family = "", .help = "", .exception = "bridged_else"};
  EXPECT_EQ(reason_in(bridged, "bridged_not_ip"), "not_ip");
  EXPECT_EQ(reason_in(bridged, "dropped_not_ip"), "");
  EXPECT_EQ(reason_in(bridged, "bridged_else"), "");
  const ReasonGroup refused = {
      .prefix = "flows_refused", .family = "", .help = "", .bare_reason = "by_server"};
  EXPECT_EQ(reason_in(refused, "flows_refused"), "by_server");
  EXPECT_EQ(reason_in(refused, "flows_refused_lane"), "lane");
}

}  // namespace
}  // namespace satrelay::metrics::metric_names_test
