// The stream of a flow: its opening, its class, the bytes of both hosts and its end.
#include "relay/gateway/flows/bytes/stream_side.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "relay/gateway/peers/stream_context.h"
#include "tests/unit/pep/compress/dictionary_samples.h"
#include "tests/unit/relay/gateway/stream_side_fixture.h"

namespace satrelay::gateway::stream_side_test {
namespace {

using compress::BlockKind;
using Opening = StreamSide::Opening;
using Bytes = std::vector<std::byte>;

// --- opening -------------------------------------------------------------------------------------

TEST_F(StreamSideTest, TheFarGatewayLearnsOfAFlowWhenItsStreamOpens) {
  open();
  EXPECT_TRUE(f_.state.has_stream());
  EXPECT_EQ(session().streams().context(f_.stream), StreamContext::of_flow(kSlot).number());
  exchange();
  const auto opened = far_events(stp::Event::Kind::kOpened);
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_EQ(opened[0].stream, f_.stream);
  const auto told = parse_open_metadata(peer_.far().streams().metadata(f_.stream));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->client, f_.key.local);
  EXPECT_EQ(told->client_port, f_.key.local_port);
  EXPECT_EQ(told->class_name, "b");
}

TEST_F(StreamSideTest, AFlowWaitsForAPeerThatHasYetToAnswer) {
  stp::Config stp;
  stp.boot_epoch = 1;
  stp.streams.host_shares = &carrier_.host_shares;
  peer_.lanes.push_back(std::make_unique<Lane>(peer_.lanes.front()->peer, carrier_, stp, peer_,
                                               peer_, LaneId(1), LaneAddress{}, 16, now_));
  f_.lane = LaneId(1);
  EXPECT_EQ(side_->open(kSlot, f_, now_), Opening::kLater);
  EXPECT_EQ(f_.state, FlowState::kAwaitsPeer);
}

TEST_F(StreamSideTest, ThereIsNoStreamToAPeerThatHasStopped) {
  peer_.far().close(now_);
  exchange();
  EXPECT_EQ(side_->open(kSlot, f_, now_), Opening::kPeerGone);
  EXPECT_EQ(f_.state, FlowState::kAwaitsPeer);
}

TEST_F(StreamSideTest, WithoutPlaceForAStreamResourcesAreToBlameAndNotThePeer) {
  while (session().streams().open({}, 0, now_)) continue;
  EXPECT_EQ(side_->open(kSlot, f_, now_), Opening::kNoResources);
  EXPECT_EQ(f_.state, FlowState::kAwaitsPeer);
}

TEST_F(StreamSideTest, AStreamOfThePeerBecomesTheFlows) {
  f_.stream = opened_by_far();
  f_.state.open_stream();
  side_->adopt(kSlot, f_, f_.stream);
  EXPECT_EQ(session().streams().context(f_.stream), StreamContext::of_flow(kSlot).number());
  EXPECT_EQ(f_.traffic_class, *classes_.find("b"));
}

// --- classes -------------------------------------------------------------------------------------

TEST_F(StreamSideTest, WhatTheHostSaysWaitsInTheClassThatTheFlowNames) {
  open();
  EXPECT_EQ(f_.traffic_class, *classes_.find("b"));
  host_.say_some(100, now_);
  side_->feed(f_, now_);
  EXPECT_EQ(session().waiting(), schedule::class_bit(*classes_.find("b")));
}

TEST_F(StreamSideTest, WhereBothHaveOpenedBothStreamsAreInTheClass) {
  open_both();
  exchange();
  ASSERT_EQ(session().streams().write(*f_.inbound(), sample(10), now_), 10U);
  EXPECT_EQ(session().waiting(), schedule::class_bit(*classes_.find("b")));
}

TEST_F(StreamSideTest, AfterAReloadAFlowIsInTheClassThatItsNameMeansNow) {
  open();
  host_.say_some(100, now_);
  side_->feed(f_, now_);
  classes_.replace(named("ac"));
  side_->join_class(f_);
  EXPECT_EQ(f_.traffic_class, TrafficClasses::kRelayed);
  EXPECT_EQ(session().waiting(), schedule::class_bit(TrafficClasses::kRelayed));
}

TEST_F(StreamSideTest, HostsTakeTurnsByTheAddressOnTheSideThatIsConfigured) {
  HostedFlow other{host_arena_, now_, "203.0.113.6"};
  OpenMetadata metadata;
  metadata.class_name = "b";
  other.flow.set_metadata(metadata);
  open();
  ASSERT_EQ(side_->open(kSlot + 1, other.flow, now_), Opening::kOpen);
  for (HostedFlow* host : {&host_, &other}) {
    host->say_some(100, now_);
    side_->feed(host->flow, now_);
  }
  EXPECT_EQ(session().waiting_hosts(f_.traffic_class), 2U);
  config_.fair_hosts = config::FairHosts::kRemote;
  begin();
  side_->join_class(f_);
  side_->join_class(other.flow);
  EXPECT_EQ(session().waiting_hosts(f_.traffic_class), 1U) << "both speak to the same server";
}

// --- from the host -------------------------------------------------------------------------------

TEST_F(StreamSideTest, WhatTheHostSaysArrivesAndIsAskedForNoMore) {
  open();
  const Bytes said = sample(100);
  f_.heat(now_);  // as each frame of the host does
  host_.say(said, now_);
  side_->feed(f_, now_);
  EXPECT_EQ(far_heard(), block(BlockKind::kRaw, said));
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(session().waiting(), 0U);
  EXPECT_EQ(f_.bytes.from_lan, 100U);
  EXPECT_EQ(f_.heat(now_).departures.lately(Duration::milliseconds(500), now_), 100U)
      << "for the host's window";
  EXPECT_EQ(side_->counters().plain_bytes, 100U);
}

TEST_F(StreamSideTest, HowLongAByteHasWaitedIsCountedInTheClassOfItsFlow) {
  open();
  f_.heat(now_);
  host_.say(sample(100), now_);
  f_.hot()->wait.begin(f_.bytes.from_lan, f_.endpoint.received().readable(), now_);
  now_ += Duration::milliseconds(30);
  side_->feed(f_, now_);
  far_heard();
  const Histogram& waits = classes_[*classes_.find("b")].relayed_waits;
  EXPECT_EQ(waits.count(), 1U);
  EXPECT_EQ(waits.sum(), 35'000U) << "the link asks 5 ms later";
  EXPECT_EQ(classes_[*classes_.find("a")].relayed_waits.count(), 0U);
}

TEST_F(StreamSideTest, WhatWaitsForTheLinkIsCountedInTheClassOfItsFlow) {
  const auto a = *classes_.find("a");
  const auto b = *classes_.find("b");
  open();
  host_.say_some(100, now_);
  side_->feed(f_, now_);
  EXPECT_EQ(side_->waiting(b), 100U);
  EXPECT_EQ(side_->waiting(a), 0U);
  far_heard();
  EXPECT_EQ(side_->waiting(b), 0U);
  EXPECT_EQ(classes_[b].use.plain_bytes, 100U);
  EXPECT_EQ(classes_[b].use.encoded_bytes, f_.bytes.encoded);
  EXPECT_EQ(classes_[a].use.plain_bytes, 0U);
}

// Else the flow would be trimmed again and again at one instant.
TEST_F(StreamSideTest, AFlowOfWhichBytesWaitStaysTrimmed) {
  open();
  f_.heat(now_);
  host_.say_some(100, now_);
  side_->feed(f_, now_);
  f_.state.note_trimmed();
  f_.cool();
  side_->feed(f_, now_);
  EXPECT_TRUE(f_.state.is_trimmed());
  EXPECT_EQ(f_.waiting(), 100U);
}

TEST_F(StreamSideTest, WhatWaitsGoesAlongIntoAnotherClassAndIsForgottenWithItsFlow) {
  open();
  const auto b = f_.traffic_class;
  host_.say_some(100, now_);
  side_->feed(f_, now_);
  classes_.replace(named("ac"));
  side_->join_class(f_);
  EXPECT_EQ(side_->waiting(b), 0U);
  EXPECT_EQ(side_->waiting(TrafficClasses::kRelayed), 100U);
  side_->reset(f_, stp::ResetReason::kHostReset, now_);
  EXPECT_EQ(side_->waiting(TrafficClasses::kRelayed), 0U);
}

TEST_F(StreamSideTest, TheStreamEndsBehindTheLastByteOfTheHost) {
  open();
  host_.say_some(100, now_);
  host_.close(now_);
  side_->feed(f_, now_);
  EXPECT_EQ(f_.state.host_end(), FlowState::HostEnd::kOpen) << "it has more";
  EXPECT_EQ(far_heard().size(), compress::kBlockHeaderSize + 100);
  EXPECT_EQ(f_.state.host_end(), FlowState::HostEnd::kInStream);
  EXPECT_TRUE(peer_.far().streams().received_end(f_.stream));
}

TEST_F(StreamSideTest, AHostThatHasSaidAllEndsTheStreamAtOnce) {
  open();
  side_->feed(f_, now_);
  EXPECT_EQ(f_.state.host_end(), FlowState::HostEnd::kOpen);
  host_.close(now_);
  side_->feed(f_, now_);
  EXPECT_EQ(f_.state.host_end(), FlowState::HostEnd::kInStream);
  exchange();
  EXPECT_TRUE(peer_.far().streams().received_end(f_.stream));
}

TEST_F(StreamSideTest, ACompressedBlockTakesAQuarterOfAStreamsShareOfTheLane) {
  f_.rule->rule.compress = config::Compress::kOn;
  open();
  ASSERT_EQ(session().streams().count(), 1U);
  plan_.lane_receive_limit = {40'000, kPromised};
  begin();
  host_.say_some(50'000, now_);
  side_->produce(f_, *windows_, now_);
  EXPECT_EQ(f_.bytes.from_lan, 10'000U);
  ASSERT_TRUE(session().streams().open({}, 0, now_));
  side_->produce(f_, *windows_, now_);
  EXPECT_EQ(f_.bytes.from_lan, 15'000U) << "with one stream more";
}

TEST_F(StreamSideTest, ACompressedBlockTakesAQuarterOfWhatIsGrantedToAFlow) {
  f_.rule->rule.compress = config::Compress::kOn;
  open();
  plan_.flow_receive_limit = {20'000, kPromised};
  begin();
  host_.say_some(50'000, now_);
  side_->produce(f_, *windows_, now_);
  EXPECT_EQ(f_.bytes.from_lan, 5'000U);
}

TEST_F(StreamSideTest, HoweverSmallItsShareACompressedBlockHas480Bytes) {
  f_.rule->rule.compress = config::Compress::kOn;
  open();
  plan_.lane_receive_limit = {100, kPromised};
  begin();
  host_.say_some(1'000, now_);
  side_->produce(f_, *windows_, now_);
  EXPECT_EQ(f_.bytes.from_lan, 480U);
}

TEST_F(StreamSideTest, HoweverSmallItsShareABlockThatStaysAsItIsHas8KiB) {
  open();
  plan_.lane_receive_limit = {100, kPromised};
  begin();
  host_.say_some(10'000, now_);
  side_->produce(f_, *windows_, now_);
  EXPECT_EQ(f_.bytes.from_lan, 8'192U);
}

TEST_F(StreamSideTest, HoweverLargeItsShareABlockHas64KiB) {
  open();
  plan_.lane_receive_limit = plan_.flow_receive_limit = {4 * kPromised, 4 * kPromised};
  begin();
  host_.say_some(100'000, now_);
  side_->produce(f_, *windows_, now_);
  EXPECT_EQ(f_.bytes.from_lan, 64U * 1024);
}

TEST_F(StreamSideTest, AFlowOfManyBlocksIsAskedUntilTheLastOne) {
  open();
  plan_.lane_receive_limit = {40'000, kPromised};
  begin();
  host_.say_some(50'000, now_);
  side_->feed(f_, now_);
  EXPECT_EQ(far_heard().size(), 50'000 + 5 * compress::kBlockHeaderSize);
  EXPECT_EQ(asked_, 5);
}

TEST_F(StreamSideTest, WhatTheHostSaysWaitsUntilThereIsMemoryForTheStream) {
  open();
  host_.say_some(100, now_);
  side_->feed(f_, now_);
  const auto others = use_up(peer_.arena());
  side_->produce(f_, *windows_, now_);
  EXPECT_EQ(f_.bytes.from_lan, 0U);
  EXPECT_EQ(f_.endpoint.received().readable(), 100U) << "nothing is lost";
  EXPECT_EQ(session().waiting(), 0U) << "nor asked for in vain";
  for (const BlockIndex block : others) peer_.arena().release(block);
  EXPECT_EQ(far_heard().size(), compress::kBlockHeaderSize + 100);
}

// --- to the host ---------------------------------------------------------------------------------

TEST_F(StreamSideTest, WhatTheFarHostSaysIsHandedOnAndThenItsEnd) {
  open();
  far_says(sample(1'000));
  EXPECT_TRUE(deliver());
  EXPECT_EQ(host_.heard, sample(1'000));
  EXPECT_FALSE(f_.state.has_passed_far_end());
  far_ends();
  EXPECT_TRUE(deliver());
  EXPECT_TRUE(f_.state.has_passed_far_end());
  EXPECT_TRUE(host_.heard_end);
  EXPECT_TRUE(deliver()) << "and that is all";
}

TEST_F(StreamSideTest, WhereBothHaveOpenedTheFarHostsBytesComeByTheInboundStream) {
  open_both();
  far_says(sample(1'000));
  far_ends();
  EXPECT_TRUE(deliver());
  EXPECT_EQ(host_.heard, sample(1'000));
  EXPECT_TRUE(host_.heard_end);
}

TEST_F(StreamSideTest, TheEndWaitsForWhatTheHostHasYetToTake) {
  open();
  far_says(sample(60'000));
  far_ends();
  EXPECT_TRUE(deliver());
  EXPECT_LT(host_.heard.size(), 60'000U);
  EXPECT_FALSE(f_.state.has_passed_far_end());
  EXPECT_TRUE(f_.timers.retry_at.is_never()) << "its acknowledgment calls";
  for (int i = 0; i < 20; ++i) {
    host_.say({}, now_);
    EXPECT_TRUE(deliver());
  }
  EXPECT_EQ(host_.heard, sample(60'000));
  EXPECT_TRUE(host_.heard_end);
}

TEST_F(StreamSideTest, AStreamThatBreaksTheFormatIsTold) {
  open();
  far_writes(Bytes(compress::kBlockHeaderSize, std::byte{0xff}), f_.stream);
  EXPECT_FALSE(deliver());
}

TEST_F(StreamSideTest, AHostThatIsGoneGetsNothingAndNothingIsWrongWithThat) {
  open();
  f_.endpoint.abort(now_);
  far_writes(Bytes(compress::kBlockHeaderSize, std::byte{0xff}), f_.stream);
  EXPECT_TRUE(deliver());
  EXPECT_EQ(session().streams().received(f_.stream)->readable(), compress::kBlockHeaderSize);
}

TEST_F(StreamSideTest, WithoutMemoryForTheHostItIsTriedAgainSoon) {
  open();
  far_says(sample(5'000));
  use_up(host_arena_);
  EXPECT_TRUE(deliver());
  EXPECT_TRUE(host_.heard.empty());
  EXPECT_EQ(f_.timers.retry_at, now_ + Duration::milliseconds(10));
}

TEST_F(StreamSideTest, WithNoMoreMemoryThanItsOwnTheRestIsTriedSoon) {
  ASSERT_TRUE(f_.endpoint.memory().own());
  open();
  far_says(sample(5'000));
  use_up(host_arena_);
  EXPECT_TRUE(deliver());
  EXPECT_EQ(host_.heard.size(), kReserve);
  EXPECT_EQ(f_.timers.retry_at, now_ + Duration::milliseconds(10));
}

// --- dictionaries --------------------------------------------------------------------------------

class StreamSideWithADictionary : public StreamSideTest {
 protected:
  void SetUp() override {
    config_.compress_level = 1;
    begin();
    std::vector<config::TrafficClass> configured = named("b");
    configured[0].dictionary = content();
    classes_.replace(configured, ClassDictionaries(configured, config_.compress_level));
    side_->offer_dictionaries(now_);
    f_.rule->rule.compress = config::Compress::kOn;
    exchange();
  }
  static const Bytes& content() {
    static const Bytes trained = compress::trained_dictionary(1);
    return trained;
  }
  static Bytes answer() {
    Random random(2);
    Bytes bytes = compress::bytes_of(compress::web_answer(random));
    bytes.resize(200);
    return bytes;
  }
  // The dictionary that the far gateway is offered.
  Bytes offer() {
    const auto opened = far_events(stp::Event::Kind::kOpened);
    EXPECT_EQ(opened.size(), 1U);
    if (opened.empty()) return Bytes(9);
    const ConstBytes message = peer_.far().streams().metadata(opened[0].stream);
    EXPECT_GE(message.size(), 9U);
    return {message.end() - 9, message.end()};
  }
  // The far gateway offers the same dictionary, under `number`.
  void far_offers(std::uint8_t number) {
    Bytes message(6 + 9);
    ByteWriter writer(message);
    writer.u8(0xc4);
    writer.u32(1);  // sequence
    writer.u8(1);   // one dictionary
    writer.u8(number);
    writer.u64(dictionary_->fingerprint());
    ASSERT_TRUE(peer_.far().streams().open(message, 0, now_));
    exchange();
    while (const auto event = session().poll_event()) {
      if (event->kind == stp::Event::Kind::kOpened) {
        EXPECT_TRUE(peer_.lanes.front()->control_messages.handle_opened(event->stream, now_));
      }
    }
  }
  const std::shared_ptr<const compress::Dictionary> dictionary_ =
      compress::Dictionary::make(content());
};

TEST_F(StreamSideWithADictionary, PeersAreOfferedItAndMayUseIt) {
  const Bytes offered = offer();
  EXPECT_EQ(load_u64(offered.data() + 1), dictionary_->fingerprint());
  open();
  const compress::DictionaryLevels levels(dictionary_, 1, 1);
  compress::BlockEncoder encoder(1);
  encoder.make_room_for(levels);
  Bytes body(1 + answer().size());
  body[0] = offered[0];  // the dictionary's number
  const auto size =
      encoder.compress(answer(), MutableBytes(body).subspan(1), compress::Mode::kOn, &levels);
  ASSERT_TRUE(size);
  body.resize(1 + *size);
  far_writes(block(BlockKind::kDictionary, body), f_.stream);
  EXPECT_TRUE(deliver());
  EXPECT_EQ(host_.heard, answer());
}

TEST_F(StreamSideWithADictionary, BlocksAreMadeWithThatOfTheFlowsClassUnderThePeersNumber) {
  far_offers(17);
  side_->offer_dictionaries(now_);
  open();
  host_.say(answer(), now_);
  side_->feed(f_, now_);
  const Bytes heard = far_heard();
  ASSERT_GT(heard.size(), compress::kBlockHeaderSize);
  const auto header = compress::parse_block_header(heard);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->kind, BlockKind::kDictionary);
  const ConstBytes body = ConstBytes(heard).subspan(compress::kBlockHeaderSize);
  EXPECT_EQ(body[0], std::byte{17});
  Bytes plain(compress::kMaxPlainBlock);
  const auto size = compress::BlockDecoder().decompress(body.subspan(1), plain, dictionary_.get());
  ASSERT_TRUE(size);
  plain.resize(*size);
  EXPECT_EQ(plain, answer());
}

TEST_F(StreamSideWithADictionary, BlocksForAPeerWithoutItAreMadeWithout) {
  open();
  Bytes said(1'000, std::byte{7});
  host_.say(said, now_);
  side_->feed(f_, now_);
  const auto header = compress::parse_block_header(far_heard());
  ASSERT_TRUE(header);
  EXPECT_EQ(header->kind, BlockKind::kZstd);
}

// --- ending --------------------------------------------------------------------------------------

class EndOfAStream : public StreamSideTest {
 protected:
  // Both hosts have sent all their bytes, and both gateways have them.
  void end_both() {
    host_.say_some(100, now_);
    host_.close(now_);
    side_->feed(f_, now_);
    far_says(sample(200));
    far_ends();
    f_.state.set_host_end(FlowState::HostEnd::kDelivered);
  }
  bool is_known(stp::StreamId stream) { return session().streams().context(stream).has_value(); }
};

TEST_F(EndOfAStream, ResetEndsBothStreamsAndTheFarGatewayIsToldWhy) {
  open_both();
  exchange();
  static_cast<void>(far_events(stp::Event::Kind::kOpened));
  const std::vector<stp::StreamId> streams{f_.stream, *f_.inbound()};
  side_->reset(f_, stp::ResetReason::kHostReset, now_);
  EXPECT_TRUE(f_.state.has_lost_stream());
  EXPECT_FALSE(f_.inbound());
  exchange();
  const auto resets = far_events(stp::Event::Kind::kReset);
  ASSERT_EQ(resets.size(), 2U);
  for (const stp::StreamId stream : streams) {
    EXPECT_FALSE(is_known(stream));
    EXPECT_EQ(peer_.far().streams().received(stream), nullptr);
  }
  for (const stp::Event& reset : resets) EXPECT_EQ(reset.reason, stp::ResetReason::kHostReset);
}

TEST_F(EndOfAStream, OfAStreamThatIsNotTheFlowsTheSessionIsToldNothing) {
  open();
  for (const FlowState state : {FlowState::kHandshake, FlowState::kRefused}) {
    f_.state = state;
    side_->reset(f_, stp::ResetReason::kHostReset, now_);
    EXPECT_TRUE(f_.state.has_lost_stream());
    EXPECT_TRUE(is_known(f_.stream));
  }
}

TEST_F(EndOfAStream, ItIsReleasedWhenAllIsDone) {
  open();
  end_both();
  EXPECT_TRUE(deliver());
  side_->release_if_done(f_, now_);
  EXPECT_TRUE(f_.state.has_lost_stream());
  EXPECT_FALSE(is_known(f_.stream));
}

TEST_F(EndOfAStream, ItIsKeptUntilThePeerHasEverything) {
  open();
  end_both();
  EXPECT_TRUE(deliver());
  f_.state.set_host_end(FlowState::HostEnd::kInStream);
  side_->release_if_done(f_, now_);
  EXPECT_TRUE(f_.state.has_stream());
  EXPECT_TRUE(is_known(f_.stream));
}

TEST_F(EndOfAStream, ItIsKeptUntilTheFarHostHasSaidAll) {
  open();
  host_.close(now_);
  side_->feed(f_, now_);
  exchange();
  f_.state.set_host_end(FlowState::HostEnd::kDelivered);
  side_->release_if_done(f_, now_);
  EXPECT_TRUE(f_.state.has_stream());
}

TEST_F(EndOfAStream, ItIsKeptUntilTheHostHasBeenHandedEverything) {
  open();
  end_both();
  side_->release_if_done(f_, now_);
  ASSERT_TRUE(f_.state.has_stream());
  EXPECT_TRUE(deliver());
  side_->release_if_done(f_, now_);
  EXPECT_TRUE(f_.state.has_lost_stream());
}

TEST_F(EndOfAStream, WhereACloseIsConfirmedItIsKeptUntilBothHostsHaveEverything) {
  open();
  f_.modes.close = config::CloseMode::kConfirmed;
  end_both();
  EXPECT_TRUE(deliver());
  side_->release_if_done(f_, now_);
  EXPECT_TRUE(f_.state.has_stream());
  host_.say({}, now_);  // the host acknowledges
  peer_.far().streams().confirm(f_.stream, {.answered = true, .ended = true}, now_);
  exchange();
  side_->release_if_done(f_, now_);
  EXPECT_TRUE(f_.state.has_lost_stream());
}

TEST_F(EndOfAStream, WhereBothHaveOpenedTheInboundStreamIsFinishedLast) {
  open_both();
  end_both();
  EXPECT_TRUE(deliver());
  const stp::StreamId inbound = *f_.inbound();
  exchange();
  EXPECT_FALSE(peer_.far().streams().received_end(inbound));
  side_->release_if_done(f_, now_);
  EXPECT_TRUE(f_.state.has_lost_stream());
  EXPECT_FALSE(f_.inbound());
  EXPECT_FALSE(is_known(f_.stream));
  EXPECT_FALSE(is_known(inbound));
  exchange();
  EXPECT_TRUE(peer_.far().streams().received_end(inbound));
}

}  // namespace
}  // namespace satrelay::gateway::stream_side_test
