#include "pep/stp/connection/peer_events.h"

#include <gtest/gtest.h>

#include <vector>

namespace satrelay::stp::peer_events_test {
namespace {

using Kind = Event::Kind;

std::vector<Kind> rest_of(PeerEvents& events) {
  std::vector<Kind> kinds;
  while (const auto event = events.pop()) kinds.push_back(event->kind);
  return kinds;
}

TEST(PeerEvents, ComeInOrderAndOnce) {
  PeerEvents events;
  EXPECT_TRUE(events.empty());
  events.push(Kind::kPeerRestarted);
  events.push(Kind::kPeerAlive);
  events.push(Kind::kPeerRestarted);
  EXPECT_FALSE(events.empty());
  EXPECT_EQ(rest_of(events),
            (std::vector{Kind::kPeerRestarted, Kind::kPeerAlive, Kind::kPeerRestarted}));
  EXPECT_TRUE(events.empty());
}

// A peer may announce as many capacities as it likes in one burst of packets.
TEST(PeerEvents, CapacitiesDriveNothingOut) {
  PeerEvents events;
  events.push(Kind::kPeerRestarted);
  events.push(Kind::kCapacity);
  events.push(Kind::kPeerAlive);
  for (int i = 0; i < 100; ++i) events.push(Kind::kCapacity);
  EXPECT_EQ(rest_of(events),
            (std::vector{Kind::kPeerRestarted, Kind::kCapacity, Kind::kPeerAlive}));
  events.push(Kind::kCapacity);
  EXPECT_EQ(rest_of(events), std::vector{Kind::kCapacity});
}

}  // namespace
}  // namespace satrelay::stp::peer_events_test
