#include "pep/compress/block_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pep/base/random.h"
#include "pep/compress/effort.h"
#include "tests/unit/pep/compress/allocations.h"

namespace satrelay::compress::block_codec_test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(Random& random, std::size_t size) {
  Bytes bytes(size);
  for (auto& b : bytes) b = static_cast<std::byte>(random.next());
  return bytes;
}

// Words in random order. They compress about as well as logs, markup and source code.
Bytes text(Random& random, std::size_t size) {
  constexpr const char* kWords[] = {
      "GET ",     "the ",    "satellite ", "Content-Length: ", "gateway ", "of ",
      "</div>\n", "return ", "link ",      "class=\"x\"",      "0x1f ",    "window\n"};
  std::string words;
  while (words.size() < size) words += kWords[random.below(std::size(kWords))];
  const ConstBytes bytes = std::as_bytes(std::span(words)).first(size);
  return {bytes.begin(), bytes.end()};
}

// The output of a compressor. Its octets are almost evenly distributed, whatever the input was.
Bytes compressed_stream(Random& random, std::size_t size) {
  BlockEncoder encoder(3);
  Bytes stream;
  Bytes out(kMaxPlainBlock);
  while (stream.size() < size) {
    Bytes plain = text(random, kMaxPlainBlock);
    // Noise keeps the frames from becoming tiny.
    for (auto& b : plain) {
      if (random.chance(0.3)) b = static_cast<std::byte>(random.next());
    }
    const auto encoded = encoder.compress(plain, out, Mode::kOn);
    EXPECT_TRUE(encoded);
    stream.insert(stream.end(), out.begin(),
                  out.begin() + static_cast<std::ptrdiff_t>(encoded.value_or(size)));
  }
  stream.resize(size);
  return stream;
}

TEST(BlockHeader, RoundTripAndRefusals) {
  std::byte bytes[kBlockHeaderSize];
  for (const BlockKind kind : {BlockKind::kRaw, BlockKind::kZstd, BlockKind::kDictionary}) {
    for (const std::uint32_t size : {2U, 1000U, 65'536U}) {
      write_block_header({.kind = kind, .encoded_size = size}, bytes);
      const auto header = parse_block_header(bytes);
      ASSERT_TRUE(header);
      EXPECT_EQ(header->kind, kind);
      EXPECT_EQ(header->encoded_size, size);
    }
  }
  write_block_header({.kind = BlockKind::kMarks, .encoded_size = kMarksSize}, bytes);
  ASSERT_TRUE(parse_block_header(bytes));
  EXPECT_EQ(parse_block_header(bytes)->kind, BlockKind::kMarks);
  write_block_header({.kind = BlockKind::kUrgent, .encoded_size = kUrgentSize}, bytes);
  ASSERT_TRUE(parse_block_header(bytes));
  EXPECT_EQ(parse_block_header(bytes)->kind, BlockKind::kUrgent);
  write_block_header({.kind = BlockKind::kReset, .encoded_size = kResetSize}, bytes);
  ASSERT_TRUE(parse_block_header(bytes));
  EXPECT_EQ(parse_block_header(bytes)->kind, BlockKind::kReset);
  EXPECT_FALSE(parse_block_header(ConstBytes(bytes).first(3)));
  for (const std::uint32_t word :
       {0x0000'0000U, 0x0100'0000U, 0x0001'0001U, 0x0101'0001U, 0x00ff'ffffU, 0x0200'0001U,
        0x0200'0003U, 0x0300'0001U, 0x0400'0003U, 0x0400'0005U, 0x0500'0002U, 0x0600'0001U,
        0xff00'0001U}) {
    store_u32(bytes, word);
    EXPECT_FALSE(parse_block_header(bytes)) << word;
  }
}

TEST(Probe, KnowsTextFromNoise) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const std::size_t size = 128 + random.below(kMaxPlainBlock - 127);
    EXPECT_TRUE(looks_compressible(text(random, size))) << size;
  }
  int mistaken = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::size_t size = 128 + random.below(i < 2700 ? 2000 : kMaxPlainBlock - 127);
    if (looks_compressible(random_bytes(random, size))) ++mistaken;
  }
  EXPECT_LE(mistaken, 15);  // by chance, some small blocks look uneven
}

TEST(Probe, LeavesCompressedStreamsAlone) {
  Random random(2);
  const Bytes stream = compressed_stream(random, 1'000'000);
  int mistaken = 0;
  for (std::size_t at = 0; at + kMaxPlainBlock <= stream.size(); at += 10'000) {
    if (looks_compressible(ConstBytes(stream).subspan(at, kMaxPlainBlock))) ++mistaken;
  }
  EXPECT_EQ(mistaken, 0);
}

TEST(Probe, FindsRepetitionsOfUnbiasedBytes) {
  Random random(3);
  const Bytes unit = random_bytes(random, 90);
  Bytes repeated;
  while (repeated.size() < kMaxPlainBlock) {
    repeated.insert(repeated.end(), unit.begin(), unit.end());
  }
  repeated.resize(kMaxPlainBlock);
  EXPECT_TRUE(looks_compressible(repeated));
}

TEST(Probe, TinyInputs) {
  const Bytes zeros(100);
  EXPECT_FALSE(looks_compressible({}));
  EXPECT_FALSE(looks_compressible(ConstBytes(zeros).first(1)));
  EXPECT_TRUE(looks_compressible(zeros));
}

TEST(BlockCodec, RoundTripAtEverySizeClassAndLevel) {
  BlockDecoder decoder;
  Bytes out(kMaxPlainBlock);
  Bytes decoded(kMaxPlainBlock);
  for (const int level : {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 15, 16, 17, 18, 19}) {
    BlockEncoder encoder(level);
    Random random(4);
    for (int i = 0; i < 25; ++i) {
      const std::size_t sizes[] = {128,    129,    1460,   16'383, 16'384,
                                   16'385, 32'768, 65'535, 65'536, 128 + random.below(65'000)};
      const Bytes plain = text(random, sizes[static_cast<std::size_t>(i) % std::size(sizes)]);
      const auto size = encoder.compress(plain, out, Mode::kAuto);
      ASSERT_TRUE(size) << level << " " << plain.size();
      ASSERT_LE(*size, plain.size() - plain.size() / 16);
      const auto back = decoder.decompress(ConstBytes(out).first(*size), decoded);
      ASSERT_EQ(back, plain.size());
      ASSERT_TRUE(std::equal(plain.begin(), plain.end(), decoded.begin()));
    }
  }
}

// The memory that the encoder takes at the beginning serves every sequence of levels and sizes.
TEST(BlockCodec, LevelsChangeFromBlockToBlock) {
  BlockEncoder encoder(1, kHighestLevel);
  BlockDecoder decoder;
  Bytes out(kMaxPlainBlock);
  Bytes decoded(kMaxPlainBlock);
  Random random(6);
  std::vector<std::size_t> sizes;
  const Bytes plain = text(random, kMaxPlainBlock);
  for (const int level : {9, kLowestLevel, 5, 9, 1, kLowestLevel, 9}) {
    encoder.set_level(level);
    for (const std::size_t size : {kMaxPlainBlock, std::size_t{1460}, std::size_t{16'384}}) {
      const auto encoded = encoder.compress(ConstBytes(plain).first(size), out, Mode::kOn);
      ASSERT_TRUE(encoded) << level;
      if (size == kMaxPlainBlock) sizes.push_back(*encoded);
      ASSERT_EQ(decoder.decompress(ConstBytes(out).first(*encoded), decoded), size);
      ASSERT_TRUE(std::equal(plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(size),
                             decoded.begin()));
    }
  }
  EXPECT_LT(sizes[0], sizes[2]);  // level 9 and level 5
  EXPECT_LT(sizes[2], sizes[1]);  // level 5 and the lowest level
  EXPECT_EQ(sizes[0], sizes[6]);
}

TEST(BlockCodec, ModesAndCounters) {
  Random random(5);
  BlockEncoder encoder(1);
  const Bytes words = text(random, 10'000);
  const Bytes noise = random_bytes(random, 10'000);
  Bytes out(10'000);

  EXPECT_FALSE(encoder.compress(words, out, Mode::kOff));
  EXPECT_FALSE(encoder.compress(noise, out, Mode::kAuto));
  EXPECT_FALSE(encoder.compress(ConstBytes(words).first(100), out, Mode::kOn));  // too small
  EXPECT_EQ(encoder.counters().skipped_blocks, 3U);
  EXPECT_EQ(encoder.counters().encoded_bytes, 20'100U + 3 * kBlockHeaderSize);

  EXPECT_FALSE(encoder.compress(noise, out, Mode::kOn));
  EXPECT_EQ(encoder.counters().expanded_blocks, 1U);
  EXPECT_EQ(encoder.counters().encoded_bytes, 30'100U + 4 * kBlockHeaderSize);

  const auto size = encoder.compress(words, out, Mode::kAuto);
  ASSERT_TRUE(size);
  EXPECT_LT(*size, 4000U);
  EXPECT_EQ(encoder.counters().compressed_blocks, 1U);
  EXPECT_EQ(encoder.counters().plain_bytes, 40'100U);
  EXPECT_EQ(encoder.counters().encoded_bytes, 30'100U + *size + 5 * kBlockHeaderSize);
}

TEST(BlockCodec, BlocksAreIndependent) {
  Random random(6);
  BlockEncoder encoder(1);
  BlockDecoder decoder;
  const Bytes plain = text(random, 20'000);
  Bytes first(20'000);
  Bytes second(20'000);
  const auto first_size = encoder.compress(plain, first, Mode::kOn);
  const Bytes other = text(random, 50'000);
  Bytes unused(50'000);
  ASSERT_TRUE(encoder.compress(other, unused, Mode::kOn));
  const auto second_size = encoder.compress(plain, second, Mode::kOn);
  ASSERT_TRUE(first_size);
  EXPECT_EQ(first_size, second_size);
  EXPECT_EQ(first, second);
}

TEST(BlockDecoder, DamagedInputIsHarmless) {
  Random random(7);
  BlockEncoder encoder(1);
  BlockDecoder decoder;
  const Bytes plain = text(random, 8000);
  Bytes encoded(8000);
  encoded.resize(encoder.compress(plain, encoded, Mode::kOn).value());
  Bytes out(kMaxPlainBlock);
  int refused = 0;
  for (std::size_t bit = 0; bit < encoded.size() * 8; ++bit) {
    encoded[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto size = decoder.decompress(encoded, out);
    if (size) {
      EXPECT_LE(*size, kMaxPlainBlock);
    } else {
      ++refused;
    }
    encoded[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_GT(refused, 100);
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    const Bytes cut(encoded.begin(), encoded.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(decoder.decompress(cut, out)) << size;
  }
  for (int i = 0; i < 20'000; ++i) {
    Bytes noise = random_bytes(random, random.below(200));
    if (noise.size() >= 8) std::copy_n(encoded.begin(), random.below(9), noise.begin());
    decoder.decompress(noise, out);
  }
  // The decoder still works after these failures.
  ASSERT_EQ(decoder.decompress(encoded, out), plain.size());
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), out.begin()));
}

TEST(BlockDecoder, RefusesWhatIsNotOneFrameOfABlock) {
  Random random(8);
  BlockEncoder encoder(1);
  BlockDecoder decoder;
  const Bytes plain = text(random, 1000);
  Bytes encoded(1000);
  encoded.resize(encoder.compress(plain, encoded, Mode::kOn).value());
  Bytes out(kMaxPlainBlock);
  Bytes twice = encoded;
  twice.insert(twice.end(), encoded.begin(), encoded.end());
  EXPECT_FALSE(decoder.decompress(twice, out));
  Bytes trailing = encoded;
  trailing.push_back(std::byte{0});
  EXPECT_FALSE(decoder.decompress(trailing, out));

  const auto frame = [](std::initializer_list<unsigned> octets) {
    Bytes bytes;
    for (const unsigned o : octets) bytes.push_back(static_cast<std::byte>(o));
    return bytes;
  };
  // A single segment with a content size of 4 octets, which promises 128 KiB: one block of a
  // repeated octet (RLE).
  EXPECT_FALSE(decoder.decompress(frame({0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0x00, 0x00, 0x02, 0x00,  //
                                         0x03, 0x00, 0x10, 0x41}),
                                  out));
  // The same frame with 64 KiB is a valid block of the largest size.
  EXPECT_EQ(decoder.decompress(frame({0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0x00, 0x00, 0x01, 0x00,  //
                                      0x03, 0x00, 0x08, 0x41}),
                               out),
            kMaxPlainBlock);
  EXPECT_EQ(out.back(), std::byte{0x41});
  // A frame without a content size, one with a content size of zero, and a skippable frame.
  EXPECT_FALSE(
      decoder.decompress(frame({0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x30, 0x0b, 0x00, 0x00, 0x41}), out));
  EXPECT_FALSE(
      decoder.decompress(frame({0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00, 0x01, 0x00, 0x00}), out));
  EXPECT_FALSE(
      decoder.decompress(frame({0x50, 0x2a, 0x4d, 0x18, 0x01, 0x00, 0x00, 0x00, 0x41}), out));
}

TEST(BlockCodec, SteadyStateAllocatesNothing) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  Random random(9);
  BlockEncoder encoder(1);
  BlockDecoder decoder;
  const Bytes words = text(random, kMaxPlainBlock);
  Bytes out(kMaxPlainBlock);
  Bytes decoded(kMaxPlainBlock);
  const std::uint64_t before = allocation_count();
  std::uint64_t compressed = 0;
  // Long runs of small blocks between large ones. They make zstd shrink and regrow a context if
  // zstd owns its memory.
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 400; ++i) {
      const ConstBytes plain = ConstBytes(words).first(i == 0 ? kMaxPlainBlock : 200);
      const auto size = encoder.compress(plain, out, Mode::kAuto);
      if (!size) continue;
      ++compressed;
      decoder.decompress(ConstBytes(out).first(*size), decoded);
    }
  }
  const std::uint64_t after = allocation_count();
  EXPECT_EQ(after - before, 0U);
  EXPECT_EQ(compressed, 2000U);
}

TEST(Allocations, AreCounted) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  const std::uint64_t before = allocation_count();
  const auto bytes = std::make_unique<Bytes>(1000);
  EXPECT_GT(allocation_count(), before);
  EXPECT_EQ(bytes->size(), 1000U);
}

}  // namespace
}  // namespace satrelay::compress::block_codec_test
