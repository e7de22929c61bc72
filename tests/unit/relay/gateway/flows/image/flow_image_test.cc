#include "relay/gateway/flows/image/flow_image.h"

#include <memory>
#include <utility>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/stream_image.h"
#include "pep/stp/wire/crc32c.h"
#include "tests/unit/relay/gateway/stream_side_fixture.h"

namespace satrelay::gateway::flow_image_test {
namespace {

using Octets = std::vector<std::byte>;

class FlowImageTest : public StreamSideTest {
 protected:
  static constexpr std::size_t kVersionAt = 4, kChecksumAt = 12, kHeader = 16;

  // A flow with bytes in each of its stores, and with all of the parts that few flows have.
  void SetUp() override {
    StreamSideTest::SetUp();
    open();
    host_.say_some(3'000, now_);
    side_->feed(f_, now_);
    exchange();
    far_says(sample(2'000));
    host_.say_some(5'000, now_);
    ASSERT_TRUE(deliver());
    far_says(sample(2'000));
    wire::TcpHeader behind_a_gap;  // it acknowledges none of the delivered bytes
    behind_a_gap.sequence = 1'001 + 8'000 + 1'460;
    behind_a_gap.acknowledgment = 1;
    behind_a_gap.flags = wire::TcpFlags::kAck;
    behind_a_gap.window = host_.window;
    f_.endpoint.handle_segment(behind_a_gap, sample(700), now_);
    ASSERT_FALSE(f_.endpoint.received().out_of_order().empty());
    ASSERT_GT(f_.endpoint.sending().unacknowledged(), 0U);
    FlowRare& rare = f_.make_rare();
    rare.urgent = std::make_unique<UrgentState>();
    rare.deferred_reset = std::make_unique<DeferredReset>();
    rare.questions = std::make_unique<HostQuestions>();
    rare.far_window = 7;
    f_.heat(now_);
    f_.journal_place = 3;
  }

  Octets written(Flow& f) { return FlowImage::write(f, session(), now_); }
  FlowImage::Read read(ConstBytes octets) {
    return FlowImage::read(octets, ground_, session(), now_);
  }
  static Octets changed(Octets octets, std::size_t at, unsigned with) {
    octets[at] ^= static_cast<std::byte>(with);
    return octets;
  }
  // With the checksum of what the octets are.
  static Octets sealed(Octets octets) {
    std::uint32_t checksum = stp::crc32c_finish(
        stp::crc32c_update(stp::kCrc32cStart, ConstBytes(octets).subspan(kHeader)));
    for (std::size_t i = 0; i < sizeof(checksum); ++i) {
      octets[kChecksumAt + i] = static_cast<std::byte>(checksum);
      checksum >>= 8U;
    }
    return octets;
  }

  FlowGround ground_{f_};
};

TEST_F(FlowImageTest, AFlowComesBack) {
  const std::uint64_t readable = f_.endpoint.received().readable();
  const std::uint64_t in_stream = session().streams().unacknowledged(f_.stream);
  const std::uint64_t from_far = session().streams().received(f_.stream)->readable();
  ASSERT_GT(readable, 0U);
  ASSERT_GT(from_far, 0U);
  const std::size_t used = host_arena_.used_blocks();
  const Octets octets = written(f_);
  FlowImage::Read flow = read(octets);
  ASSERT_EQ(flow.fault, FlowImageFault::kNone);
  EXPECT_EQ(flow.flow->endpoint.received().readable(), readable);
  EXPECT_EQ(session().streams().unacknowledged(flow.flow->stream), in_stream);
  EXPECT_EQ(session().streams().received(flow.flow->stream)->readable(), from_far);
  EXPECT_EQ(flow.flow->metadata().class_name, "b");
  EXPECT_EQ(flow.flow->rare().far_window, 7U);
  EXPECT_EQ(host_arena_.used_blocks(), used);
  EXPECT_EQ(written(*flow.flow), octets);
  flow.flow.reset();
  EXPECT_EQ(host_arena_.used_blocks(), used) << "the image has the blocks";
}

// Deadlines follow the clock of the reader.
TEST_F(FlowImageTest, TimesAreRelativeToNow) {
  f_.timers.retry_at = now_ + Duration::seconds(2);
  const Octets octets = written(f_);
  now_ += Duration::seconds(3600);
  const FlowImage::Read flow = read(octets);
  ASSERT_EQ(flow.fault, FlowImageFault::kNone);
  EXPECT_EQ(flow.flow->timers.retry_at, now_ + Duration::seconds(2));
  EXPECT_TRUE(flow.flow->timers.armed.is_never());
  EXPECT_EQ(written(*flow.flow), octets);
}

TEST_F(FlowImageTest, ADamagedImageIsRefused) {
  const Octets octets = written(f_);
  for (std::size_t size = 0; size < octets.size(); ++size) {
    const FlowImageFault expected =
        size < kHeader ? FlowImageFault::kNoImage : FlowImageFault::kDamaged;
    ASSERT_EQ(read(ConstBytes(octets).first(size)).fault, expected) << size;
  }
  Octets longer = octets;
  longer.push_back({});
  EXPECT_EQ(read(longer).fault, FlowImageFault::kDamaged);
  EXPECT_EQ(read(changed(octets, 0, 1)).fault, FlowImageFault::kNoImage);
  EXPECT_EQ(read(changed(octets, kVersionAt, 3)).fault, FlowImageFault::kOtherVersion);
  for (std::size_t at = kHeader; at < octets.size(); ++at) {
    ASSERT_EQ(read(changed(octets, at, 0x10)).fault, FlowImageFault::kDamaged) << at;
  }
  EXPECT_EQ(read(octets).fault, FlowImageFault::kNone) << "nothing has changed";
}

TEST_F(FlowImageTest, AnImageOfAnotherFlowIsRefused) {
  const Octets octets = written(f_);
  FlowGround other = ground_;
  ++other.key.local_port;
  EXPECT_EQ(FlowImage::read(octets, other, session(), now_).fault, FlowImageFault::kOtherFlow);
  other = ground_;
  other.lane = other.lane.next();
  EXPECT_EQ(FlowImage::read(octets, other, session(), now_).fault, FlowImageFault::kOtherFlow);
  const FlowImage::Read flow = read(octets);
  ASSERT_EQ(flow.fault, FlowImageFault::kNone);
  session().streams().reset(flow.flow->stream, stp::ResetReason::kTimeout, now_);
  exchange();
  ASSERT_EQ(session().streams().count(), 0U);
  written(*flow.flow);
  EXPECT_EQ(read(octets).fault, FlowImageFault::kOtherFlow) << "its stream is gone";
}

// If octets change, and the checksum agrees, the reader reads no further than the image, takes no
// block that the image does not have, and makes no flow that cannot be destroyed.
TEST_F(FlowImageTest, ContradictionsAreRefused) {
  const Octets octets = written(f_);
  Octets accounts;
  Image::writer(accounts, now_)(host_arena_);
  const std::size_t used = host_arena_.used_blocks();
  Random random(1);
  std::size_t refused = 0, read_on = 0;
  for (int i = 0; i < 8'000; ++i) {
    Octets other = octets;
    for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
      std::byte& octet = other[kHeader + random.below(octets.size() - kHeader)];
      octet ^= static_cast<std::byte>(1 + random.below(0xff));
    }
    FlowImage::Read flow = read(sealed(other));
    if (flow.fault != FlowImageFault::kNone) {
      ++refused;
      ASSERT_EQ(host_arena_.used_blocks(), used);
      continue;
    }
    ++read_on;
    Octets given_up;
    Image stream = Image::writer(given_up, now_);
    stp::StreamImage(session(), f_.stream).write(stream);
    flow.flow.reset();
    ASSERT_LE(host_arena_.used_blocks(), used);
    Image before = Image::reader(accounts, now_);
    before(host_arena_);
    ASSERT_TRUE(before.complete());
  }
  EXPECT_GT(refused, 500U);
  EXPECT_GT(read_on, 500U);
  Octets longer = octets;
  longer.push_back({});
  longer[8] = static_cast<std::byte>(longer.size() - kHeader);
  longer[9] = static_cast<std::byte>((longer.size() - kHeader) >> 8U);
  EXPECT_EQ(read(sealed(longer)).fault, FlowImageFault::kMalformed);
  EXPECT_EQ(read(octets).fault, FlowImageFault::kNone) << "nothing has changed";
}

// A host's number, a class and a place of the journal belong to the gateway that reads.
TEST_F(FlowImageTest, PlacesInTablesAreTheReaders) {
  const Octets octets = written(f_);
  FlowGround other = ground_;
  other.host = 7;
  other.traffic_class = 2;
  other.journal_place = 9;
  const FlowImage::Read flow = FlowImage::read(octets, other, session(), now_);
  ASSERT_EQ(flow.fault, FlowImageFault::kNone);
  EXPECT_EQ(flow.flow->lan.host, 7U);
  EXPECT_EQ(flow.flow->traffic_class, 2);
  EXPECT_EQ(flow.flow->journal_place, 9U);
}

// No reader can tell an image of another build from its own, except by its version.
TEST_F(FlowImageTest, OtherOctetsNeedAnotherVersion) {
  constexpr std::uint32_t kVersionOfHash = 2, kHash = 1'566'587'420;
  const Octets octets = written(f_);
  Image image = Image::reader(ConstBytes(octets).subspan(kChecksumAt), now_);
  EXPECT_EQ(std::pair(FlowImage::kVersion, image.same(std::uint32_t{0})),
            std::pair(kVersionOfHash, kHash))
      << "The image of this flow has other octets than before. Raise FlowImage::kVersion, and put "
         "the new version and the new hash here. If the same members only have other values, as "
         "the engine behaves differently, put only the hash here.";
}

}  // namespace
}  // namespace satrelay::gateway::flow_image_test
