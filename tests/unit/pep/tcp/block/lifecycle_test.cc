#include "pep/tcp/block/lifecycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace satrelay::tcp::test::lifecycle_test {
namespace {

constexpr State kStates[] = {State::kClosed,      State::kSynSent,  State::kSynReceived,
                             State::kEstablished, State::kFinWait1, State::kFinWait2,
                             State::kCloseWait,   State::kClosing,  State::kLastAck,
                             State::kTimeWait};

// A way from kClosed to each state.
std::vector<State> way_to(State state) {
  switch (state) {
    case State::kClosed:
      return {};
    case State::kSynSent:
    case State::kSynReceived:
      return {state};
    case State::kEstablished:
      return {State::kSynSent, state};
    case State::kFinWait1:
    case State::kCloseWait:
      return {State::kSynReceived, State::kEstablished, state};
    case State::kFinWait2:
    case State::kClosing:
      return {State::kSynReceived, State::kEstablished, State::kFinWait1, state};
    case State::kLastAck:
      return {State::kSynReceived, State::kEstablished, State::kCloseWait, state};
    case State::kTimeWait:
      return {State::kSynReceived, State::kEstablished, State::kFinWait1, State::kFinWait2, state};
  }
  return {};
}

Lifecycle in(State state) {
  Lifecycle lifecycle;
  for (const State next : way_to(state)) lifecycle.set_state(next);
  return lifecycle;
}

// The states that RFC 9293 section 3.3.2 lets follow, beside kClosed. LAST-ACK leads to TIME-WAIT
// if an ACK was held (ending.cc).
std::vector<State> followers(State state) {
  switch (state) {
    case State::kClosed:
      return {State::kSynSent, State::kSynReceived};
    case State::kSynSent:
      return {State::kSynReceived, State::kEstablished};
    case State::kSynReceived:
      return {State::kEstablished};
    case State::kEstablished:
      return {State::kFinWait1, State::kCloseWait};
    case State::kFinWait1:
      return {State::kFinWait2, State::kClosing};
    case State::kFinWait2:
    case State::kClosing:
    case State::kLastAck:
      return {State::kTimeWait};
    case State::kCloseWait:
      return {State::kLastAck};
    case State::kTimeWait:
      return {};
  }
  return {};
}

TEST(Lifecycle, EachStateHasItsFollowersAndNoOthers) {
  for (const State from : kStates) {
    const std::vector<State> allowed = followers(from);
    for (const State to : kStates) {
      const bool follows = to == State::kClosed || std::ranges::count(allowed, to) > 0;
      EXPECT_EQ(is_transition(from, to), follows) << to_string(from) << " to " << to_string(to);
    }
  }
}

TEST(Lifecycle, AForbiddenStepEndsTheProgram) {
  Lifecycle established = in(State::kEstablished);
  EXPECT_DEATH(established.set_state(State::kTimeWait), "");
  Lifecycle over = in(State::kTimeWait);
  over.close(CloseReason::kNone);
  EXPECT_DEATH(over.set_state(State::kEstablished), "");
}

TEST(Lifecycle, KnowsWhereItIs) {
  for (const State state : kStates) {
    const Lifecycle lifecycle = in(state);
    EXPECT_EQ(lifecycle.state(), state);
    EXPECT_TRUE(std::ranges::equal(lifecycle.trace(), way_to(state))) << to_string(state);
    EXPECT_EQ(lifecycle.has_begun(), state != State::kClosed);
    EXPECT_EQ(lifecycle.is_synchronised(),
              state != State::kClosed && state != State::kSynSent && state != State::kSynReceived);
    EXPECT_FALSE(lifecycle.is_over());
  }
}

TEST(Lifecycle, EndsFromAnyStateWithAReason) {
  for (const State state : kStates) {
    if (state == State::kClosed) continue;
    Lifecycle lifecycle = in(state);
    lifecycle.close(CloseReason::kTimeout);
    EXPECT_TRUE(lifecycle.is_over());
    EXPECT_FALSE(lifecycle.is_synchronised());
    EXPECT_EQ(lifecycle.reason(), CloseReason::kTimeout);
    EXPECT_EQ(lifecycle.trace().back(), State::kClosed);
  }
}

}  // namespace
}  // namespace satrelay::tcp::test::lifecycle_test
