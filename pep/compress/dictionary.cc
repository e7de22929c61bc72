#include "pep/compress/dictionary.h"

#include <algorithm>
#include <utility>

#include "pep/base/check.h"
#include "pep/compress/block_codec.h"
#include "pep/compress/parameters.h"
#include "pep/crypto/hkdf.h"

namespace satrelay::compress {
namespace {

ZSTD_compressionParameters parameters_of(int level, ConstBytes dictionary) {
  return compress::parameters_of(level, kMaxPlainBlock, dictionary.size());
}

// Returns nullptr if `content` is not a dictionary in zstd's format. `content` must outlive the
// tables.
EncodingTables encoding_tables(int level, ConstBytes content) {
  return EncodingTables(ZSTD_createCDict_advanced(content.data(), content.size(), ZSTD_dlm_byRef,
                                                  ZSTD_dct_fullDict, parameters_of(level, content),
                                                  ZSTD_defaultCMem));
}

DecodingTables decoding_tables(ConstBytes content) {
  return DecodingTables(ZSTD_createDDict_advanced(content.data(), content.size(), ZSTD_dlm_byRef,
                                                  ZSTD_dct_fullDict, ZSTD_defaultCMem));
}

}  // namespace

void FreeDictionary::operator()(ZSTD_CDict_s* dictionary) const { ZSTD_freeCDict(dictionary); }
void FreeDictionary::operator()(ZSTD_DDict_s* dictionary) const { ZSTD_freeDDict(dictionary); }

Dictionary::Dictionary(ConstBytes content)
    : content_(content.begin(), content.end()),
      fingerprint_(load_u64(crypto::sha256({content}).data())),
      tables_(decoding_tables(content_)) {}

std::shared_ptr<const Dictionary> Dictionary::make(ConstBytes content) {
  if (content.empty() || content.size() > kMostBytes) return nullptr;
  const std::shared_ptr<const Dictionary> made(new Dictionary(content));
  // A dictionary that is fit for decoding may still be unfit for compression.
  const bool good = made->tables_ != nullptr && encoding_tables(1, content) != nullptr;
  return good ? made : nullptr;
}

DictionaryLevels::DictionaryLevels(std::shared_ptr<const Dictionary> dictionary, int lowest,
                                   int highest)
    : dictionary_(std::move(dictionary)), lowest_(lowest) {
  const ConstBytes content = dictionary_->content();
  for (int level = lowest; level <= highest; ++level) {
    levels_.push_back(level == 0 ? nullptr : encoding_tables(level, content));
    SATRELAY_CHECK(level == 0 || levels_.back() != nullptr);
    context_size_ =
        std::max(context_size_, ZSTD_estimateCCtxSize_usingCParams(parameters_of(level, content)));
  }
}

const ZSTD_CDict_s* DictionaryLevels::at(int level) const {
  const auto index = static_cast<std::size_t>(level - lowest_);
  SATRELAY_CHECK(index < levels_.size() && levels_[index] != nullptr);
  return levels_[index].get();
}

}  // namespace satrelay::compress
