#include "relay/supervision/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace satrelay::supervision::channel_test {
namespace {

using Outcome = Channel::Outcome;
constexpr Duration kSoon = Duration::milliseconds(20);

TEST(Channel, CarriesWordsInOrderAndReportsTheEnd) {
  ChannelPair pair = make_channel();
  Message heard;
  EXPECT_EQ(pair.supervisor.receive(heard, Duration::zero()), Outcome::kNothingYet);
  EXPECT_TRUE(pair.gateway.send({.word = Word::kReady, .text = {}}));
  EXPECT_TRUE(pair.gateway.send({.word = Word::kPrepare, .text = "lan"}));
  ASSERT_EQ(pair.supervisor.receive(heard, kSoon), Outcome::kMessage);
  EXPECT_EQ(heard.word, Word::kReady);
  ASSERT_EQ(pair.supervisor.receive(heard, kSoon), Outcome::kMessage);
  EXPECT_EQ(heard.word, Word::kPrepare);
  EXPECT_EQ(heard.text, "lan");
  { const Channel gone = std::move(pair.gateway); }
  EXPECT_EQ(pair.supervisor.receive(heard, kSoon), Outcome::kClosed);
  EXPECT_FALSE(pair.supervisor.send({.word = Word::kForward, .text = {}}));
}

TEST(Channel, ALongTextIsCutAndAFullChannelDoesNotBlock) {
  const ChannelPair pair = make_channel();
  EXPECT_TRUE(pair.gateway.send({.word = Word::kRefused, .text = std::string(10'000, 'x')}));
  Message heard;
  ASSERT_EQ(pair.supervisor.receive(heard, kSoon), Outcome::kMessage);
  EXPECT_EQ(heard.text.size(), kMostText);
  int sent = 0;
  while (sent < 1'000'000 && pair.gateway.send({.word = Word::kRound, .text = {}})) ++sent;
  EXPECT_LT(sent, 1'000'000);
}

TEST(Channel, IgnoresWhatIsNoMessage) {
  const ChannelPair pair = make_channel();
  Message heard;
  for (const char octet : {'\0', '\x7f'}) {
    ASSERT_EQ(::send(pair.gateway.descriptor(), &octet, 1, 0), 1);
    EXPECT_EQ(pair.supervisor.receive(heard, kSoon), Outcome::kNothingYet);
  }
}

TEST(InheritedChannel, IsTheSocketThatTheEnvironmentNames) {
  ::unsetenv(kVariable);
  EXPECT_FALSE(inherited_channel());
  const ChannelPair pair = make_channel();
  const int copy = ::fcntl(pair.gateway.descriptor(), F_DUPFD, 0);
  ::setenv(kVariable, std::to_string(copy).c_str(), 1);
  const auto channel = inherited_channel();
  ASSERT_TRUE(channel);
  EXPECT_EQ(channel->descriptor(), copy);
  EXPECT_NE(::fcntl(copy, F_GETFD) & FD_CLOEXEC, 0) << "other programs would inherit it";
  EXPECT_EQ(std::getenv(kVariable), nullptr);
  for (const char* wrong : {"", "x", "1x", "999", "-1"}) {
    ::setenv(kVariable, wrong, 1);
    EXPECT_THROW(inherited_channel(), std::runtime_error) << wrong;
  }
}

}  // namespace
}  // namespace satrelay::supervision::channel_test
