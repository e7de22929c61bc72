// Dictionaries of zstd (RFC 8878 section 5). A dictionary holds content that is frequent in the
// traffic of a class, so that even a short block finds content to refer to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/base/bytes.h"

// Forward declarations of zstd's types. This header needs only their names.
// NOLINTBEGIN(readability-identifier-naming)
struct ZSTD_CDict_s;
struct ZSTD_DDict_s;
// NOLINTEND(readability-identifier-naming)

namespace satrelay::compress {

struct FreeDictionary {
  void operator()(ZSTD_CDict_s* dictionary) const;
  void operator()(ZSTD_DDict_s* dictionary) const;
};
using EncodingTables = std::unique_ptr<ZSTD_CDict_s, FreeDictionary>;
using DecodingTables = std::unique_ptr<ZSTD_DDict_s, FreeDictionary>;

// A dictionary as made by `zstd --train`, with the tables for decoding. Immutable.
class Dictionary {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{128} * 1024;

  // Returns nullptr if `content` is not a dictionary, or is longer than kMostBytes.
  static std::shared_ptr<const Dictionary> make(ConstBytes content);

  // The first 64 bits of the content's SHA-256, by which gateways distinguish dictionaries.
  std::uint64_t fingerprint() const { return fingerprint_; }
  ConstBytes content() const { return content_; }
  const ZSTD_DDict_s* tables() const { return tables_.get(); }

 private:
  explicit Dictionary(ConstBytes content);

  std::vector<std::byte> content_;
  std::uint64_t fingerprint_ = 0;
  DecodingTables tables_;  // refers to content_
};

// A dictionary with encoding tables for each level of a range. The tables of a level take up to 0.4
// ms and 1.5 MB to make (above level 10, up to 7 ms and 2 MB). Immutable.
class DictionaryLevels {
 public:
  // `lowest` and `highest` are levels of zstd. Level 0 does not exist and is left out.
  DictionaryLevels(std::shared_ptr<const Dictionary> dictionary, int lowest, int highest);

  const std::shared_ptr<const Dictionary>& dictionary() const { return dictionary_; }
  const ZSTD_CDict_s* at(int level) const;
  // Bytes that a context needs to compress a block of up to kMaxPlainBlock bytes with this
  // dictionary.
  std::size_t context_size() const { return context_size_; }

 private:
  std::shared_ptr<const Dictionary> dictionary_;
  int lowest_;
  std::vector<EncodingTables> levels_;
  std::size_t context_size_ = 0;
};

}  // namespace satrelay::compress
