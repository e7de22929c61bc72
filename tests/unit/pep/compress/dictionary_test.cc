#include "pep/compress/dictionary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pep/compress/block_codec.h"
#include "pep/compress/effort.h"
#include "tests/unit/pep/compress/allocations.h"
#include "tests/unit/pep/compress/dictionary_samples.h"

namespace satrelay::compress::dictionary_test {
namespace {

// A dictionary of `size` bytes: trained tables before as much sample text as fits.
Bytes large_dictionary(std::size_t size) {
  Random random(77);
  std::string samples;
  std::vector<std::size_t> sizes;
  while (samples.size() < 16 * size) {
    const std::string answer = web_answer(random);
    samples += answer;
    sizes.push_back(answer.size());
  }
  Bytes content = bytes_of(samples.substr(0, size));
  Bytes dictionary(size);
  ZDICT_params_t parameters{};
  parameters.compressionLevel = 3;
  const std::size_t made = ZDICT_finalizeDictionary(
      dictionary.data(), dictionary.size(), content.data(), content.size(), samples.data(),
      sizes.data(), static_cast<unsigned>(sizes.size()), parameters);
  EXPECT_FALSE(ZDICT_isError(made)) << ZDICT_getErrorName(made);
  dictionary.resize(made);
  return dictionary;
}

std::string many_answers(std::size_t size) {
  Random random(size);
  std::string text;
  while (text.size() < size) text += web_answer(random);
  text.resize(size);
  return text;
}

TEST(Dictionary, IsKnownByItsContent) {
  const Bytes content = trained_dictionary(1);
  const auto dictionary = Dictionary::make(content);
  ASSERT_NE(dictionary, nullptr);
  EXPECT_EQ(dictionary->fingerprint(), Dictionary::make(content)->fingerprint());
  Bytes other = content;
  other.back() ^= std::byte{1};
  ASSERT_NE(Dictionary::make(other), nullptr);
  EXPECT_NE(Dictionary::make(other)->fingerprint(), dictionary->fingerprint());
}

TEST(Dictionary, WhatIsNoneIsRefused) {
  EXPECT_EQ(Dictionary::make({}), nullptr);
  EXPECT_EQ(Dictionary::make(bytes_of("plain text of some length, and no dictionary")), nullptr);
  const Bytes good = trained_dictionary(1);
  EXPECT_EQ(Dictionary::make(ConstBytes(good).first(9)), nullptr) << "cut short in its tables";
  Bytes long_one = good;
  long_one.resize(Dictionary::kMostBytes + 1);
  EXPECT_EQ(Dictionary::make(long_one), nullptr);
}

TEST(Dictionary, SmallBlocksShrinkTwiceAsFar) {
  const auto dictionary = Dictionary::make(trained_dictionary(1));
  ASSERT_NE(dictionary, nullptr);
  const DictionaryLevels levels(dictionary, kLowestLevel, kHighestLevel);
  BlockEncoder encoder(1, kHighestLevel);
  encoder.make_room_for(levels);
  BlockDecoder decoder;
  Bytes out(kMaxPlainBlock), back(kMaxPlainBlock);
  Random random(2);  // answers that were not part of the training
  std::size_t plain_size = 0, without = 0, with = 0;
  for (int i = 0; i < 200; ++i) {
    const Bytes plain = bytes_of(web_answer(random));
    plain_size += plain.size();
    without += encoder.compress(plain, out, Mode::kOn).value_or(plain.size());
    const auto size = encoder.compress(plain, out, Mode::kOn, &levels);
    ASSERT_TRUE(size);
    with += *size;
    const auto decoded = decoder.decompress(ConstBytes(out).first(*size), back, dictionary.get());
    ASSERT_TRUE(decoded);
    EXPECT_EQ(Bytes(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(*decoded)), plain);
  }
  EXPECT_LT(2 * with, without) << plain_size << " bytes";
  EXPECT_EQ(encoder.counters().dictionary_blocks, 200U);
}

// The context has memory of its own for every level, block and dictionary. No combination may fail
// for lack of memory, and none allocates.
TEST(Dictionary, AnyLevelAndSizeHasRoom) {
  BlockDecoder decoder;
  Bytes out(kMaxPlainBlock), back(kMaxPlainBlock);
  for (const std::size_t size :
       {std::size_t{4096}, std::size_t{64} * 1024, Dictionary::kMostBytes}) {
    const auto dictionary = Dictionary::make(large_dictionary(size));
    ASSERT_NE(dictionary, nullptr);
    const DictionaryLevels levels(dictionary, kLowestLevel, 19);
    BlockEncoder encoder(1, 19);
    encoder.make_room_for(levels);
    for (int level = kLowestLevel; level <= 19; ++level) {
      if (level == 0) continue;
      encoder.set_level(level);
      for (const std::size_t length : {65'536U, 300U, 5'000U, 16'384U, 16'385U, 40'000U, 65'535U}) {
        const Bytes plain = bytes_of(many_answers(length));
        const std::uint64_t before = allocation_count();
        const auto encoded = encoder.compress(plain, out, Mode::kOn, &levels);
        ASSERT_TRUE(encoded) << "level " << level << ", " << length << " bytes";
        const auto decoded =
            decoder.decompress(ConstBytes(out).first(*encoded), back, dictionary.get());
        EXPECT_EQ(allocation_count(), before);
        ASSERT_TRUE(decoded);
        EXPECT_EQ(Bytes(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(*decoded)), plain);
      }
    }
  }
}

TEST(Dictionary, AnotherOneIsNoticed) {
  const Bytes content = trained_dictionary(1);
  Bytes changed = content;
  for (std::size_t i = changed.size() - 8'000; i < changed.size(); ++i) changed[i] ^= std::byte{1};
  const auto right = Dictionary::make(content), wrong = Dictionary::make(changed);
  ASSERT_TRUE(right && wrong);
  const DictionaryLevels levels(right, 1, 1);
  BlockEncoder encoder(1);
  encoder.make_room_for(levels);
  BlockDecoder decoder;
  Bytes out(kMaxPlainBlock), back(kMaxPlainBlock);
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    const auto size = encoder.compress(bytes_of(web_answer(random)), out, Mode::kOn, &levels);
    ASSERT_TRUE(size);
    EXPECT_FALSE(decoder.decompress(ConstBytes(out).first(*size), back, wrong.get()));
    EXPECT_TRUE(decoder.decompress(ConstBytes(out).first(*size), back, right.get()));
  }
}

// If a block does not fit into the output, zstd's context is left in the middle of a stream.
TEST(Dictionary, ABlockThatDoesNotPayLeavesNothingBehind) {
  const Bytes content = trained_dictionary(1);
  Bytes changed = content;
  std::reverse(changed.end() - 2'000, changed.end());
  const auto first = Dictionary::make(content), second = Dictionary::make(changed);
  ASSERT_TRUE(first && second);
  const DictionaryLevels first_levels(first, kLowestLevel, kHighestLevel);
  const DictionaryLevels second_levels(second, kLowestLevel, kHighestLevel);
  BlockEncoder encoder(1, kHighestLevel);
  encoder.make_room_for(first_levels);
  BlockDecoder decoder;
  Bytes out(kMaxPlainBlock), back(kMaxPlainBlock);
  Random random(9);
  for (int i = 0; i < 50; ++i) {
    Bytes noise(200);
    for (std::byte& octet : noise) octet = static_cast<std::byte>(random.next());
    EXPECT_FALSE(
        encoder.compress(noise, out, Mode::kOn, i % 2 == 0 ? &first_levels : &second_levels));
    encoder.set_level(i % 3 == 0 ? 1 : 5);
    const Bytes plain = bytes_of(web_answer(random));
    const auto size =
        encoder.compress(plain, out, Mode::kOn, i % 2 == 0 ? &second_levels : &first_levels);
    ASSERT_TRUE(size);
    const auto decoded = decoder.decompress(ConstBytes(out).first(*size), back,
                                            i % 2 == 0 ? second.get() : first.get());
    ASSERT_TRUE(decoded);
    EXPECT_EQ(Bytes(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(*decoded)), plain);
  }
}

TEST(Dictionary, IsNeededForABlockMadeWithItAndForNoOther) {
  const auto dictionary = Dictionary::make(trained_dictionary(1));
  const DictionaryLevels levels(dictionary, 3, 3);
  BlockEncoder encoder(3);
  encoder.make_room_for(levels);
  BlockDecoder decoder;
  Bytes out(kMaxPlainBlock), back(kMaxPlainBlock);
  Random random(4);
  const Bytes plain = bytes_of(web_answer(random));
  const auto size = encoder.compress(plain, out, Mode::kOn, &levels);
  ASSERT_TRUE(size);
  EXPECT_FALSE(decoder.decompress(ConstBytes(out).first(*size), back));
  // A block without a dictionary is decoded in the same way, whichever dictionary is offered.
  const Bytes text = bytes_of(many_answers(2000));
  const auto plain_one = encoder.compress(text, out, Mode::kOn);
  ASSERT_TRUE(plain_one);
  const auto decoded =
      decoder.decompress(ConstBytes(out).first(*plain_one), back, dictionary.get());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(Bytes(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(*decoded)), text);
}

}  // namespace
}  // namespace satrelay::compress::dictionary_test
