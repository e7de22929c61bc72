#include "pep/compress/codec_work.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "pep/base/random.h"
#include "pep/compress/block_codec.h"
#include "pep/compress/effort.h"

namespace satrelay::compress::codec_work_test {
namespace {

using Bytes = std::vector<std::byte>;

TEST(CodecWork, NoBlockUpToLevelNineTakesMoreThanItMay) {
  Work before = 0;
  for (int level = kLowestLevel; level <= kHighestBoundedLevel; ++level) {
    if (level == 0) continue;
    const std::size_t largest = largest_block(level);
    EXPECT_LE(encoding_work(level, largest), kMostEncodingWork) << level;
    EXPECT_GE(largest, std::size_t{32} * 1024) << level;
    EXPECT_GE(encoding_work(level, 10'000), before) << "a higher level is no less work: " << level;
    before = encoding_work(level, 10'000);
  }
  for (const int level : {10, 15, 19}) EXPECT_EQ(largest_block(level), kMaxPlainBlock);
  EXPECT_LE(decoding_work(kMaxPlainBlock, kMaxPlainBlock, kMostParts), kMostEncodingWork);
}

Bytes log_lines(std::uint64_t seed) {
  Random random(seed);
  const std::vector<std::string> agents = {
      "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Firefox/115.0", "curl/7.88.1",
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/120.0.0.0"};
  std::string lines;
  while (lines.size() < kMaxPlainBlock) {
    lines += "10.0." + std::to_string(random.below(256)) + '.' + std::to_string(random.below(256)) +
             " [12/Mar/2024:10:" + std::to_string(random.below(60)) + "] \"GET /articles/" +
             std::to_string(random.below(100'000)) + "\" " + std::to_string(random.below(100'000)) +
             ' ' + agents[random.below(agents.size())] + '\n';
  }
  const ConstBytes bytes = std::as_bytes(std::span(lines)).first(kMaxPlainBlock);
  return {bytes.begin(), bytes.end()};
}

// Smaller blocks and a shorter search, which bound the work, cost little in size against zstd's own
// level.
TEST(CodecWork, BoundedWorkCostsAtMostThreePercentOfTheRatio) {
  Bytes out(kMaxPlainBlock);
  for (int level = 1; level <= kHighestBoundedLevel; ++level) {
    BlockEncoder encoder(level);
    std::size_t ours = 0;
    std::size_t zstds = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const Bytes plain = log_lines(seed);
      for (std::size_t at = 0; at < plain.size(); at += largest_block(level)) {
        const ConstBytes block =
            ConstBytes(plain).subspan(at, std::min(largest_block(level), plain.size() - at));
        ours += encoder.compress(block, out, Mode::kOn).value_or(block.size());
      }
      zstds += ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), level);
    }
    EXPECT_LE(static_cast<double>(ours), 1.03 * static_cast<double>(zstds)) << level;
  }
}

// Each of zstd's blocks within a frame may bring its own tables.
TEST(CodecWork, AFrameOfVeryManyPartsIsRefused) {
  const auto frame_of = [](std::size_t parts) {
    // A single segment of `parts` bytes. Each byte is a block of one repeated octet.
    Bytes frame;
    for (const unsigned octet : {0x28U, 0xb5U, 0x2fU, 0xfdU, 0xa0U}) {
      frame.push_back(static_cast<std::byte>(octet));
    }
    for (int shift = 0; shift < 32; shift += 8) {
      frame.push_back(static_cast<std::byte>(parts >> shift));
    }
    for (std::size_t i = 1; i <= parts; ++i) {
      frame.push_back(static_cast<std::byte>(0x0aU | (i == parts ? 1U : 0U)));
      frame.resize(frame.size() + 2);
      frame.push_back(std::byte{0x41});
    }
    return frame;
  };
  BlockDecoder decoder;
  Bytes out(kMaxPlainBlock);
  EXPECT_EQ(decoder.decompress(frame_of(kMostParts), out), kMostParts);
  EXPECT_FALSE(decoder.decompress(frame_of(kMostParts + 1), out));
  const auto shape = look_at_frame(frame_of(3));
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->parts, 3U);
  EXPECT_EQ(shape->plain, 3U);
}

}  // namespace
}  // namespace satrelay::compress::codec_work_test
