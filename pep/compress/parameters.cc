#include "pep/compress/parameters.h"

#include <algorithm>

#include "pep/compress/codec_work.h"

namespace satrelay::compress {
namespace {

constexpr int kFirstOfOurs = 6;
constexpr unsigned kHashLog = 16;
constexpr unsigned kMinMatch = 5;

bool is_ours(int level) { return level >= kFirstOfOurs && level <= kHighestBoundedLevel; }

// Our first level (6) tries more positions for a match. Our other levels (7 to 9) look two octets
// ahead for a longer match. Looking ahead takes the same time, and finds more matches in text with
// ascending numbers, such as record numbers.
constexpr unsigned search_log(int level) { return level == kFirstOfOurs ? 4 : 3; }
constexpr ZSTD_strategy strategy(int level) {
  return level == kFirstOfOurs ? ZSTD_lazy : ZSTD_lazy2;
}

}  // namespace

ZSTD_compressionParameters parameters_of(int level, std::size_t plain, std::size_t dictionary) {
  ZSTD_compressionParameters parameters = ZSTD_getCParams(level, plain, dictionary);
  if (!is_ours(level)) return parameters;
  parameters.hashLog = std::min(kHashLog, parameters.windowLog + 1);
  parameters.searchLog = search_log(level);
  parameters.minMatch = kMinMatch;
  parameters.strategy = strategy(level);
  return ZSTD_adjustCParams(parameters, plain, dictionary);
}

void apply_level(ZSTD_CCtx* context, int level) {
  // Zero makes zstd use its own value for the level.
  const bool ours = is_ours(level);
  const auto set = [&](ZSTD_cParameter parameter, unsigned value) {
    ZSTD_CCtx_setParameter(context, parameter, ours ? static_cast<int>(value) : 0);
  };
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  set(ZSTD_c_hashLog, kHashLog);
  set(ZSTD_c_searchLog, search_log(level));
  set(ZSTD_c_minMatch, kMinMatch);
  set(ZSTD_c_strategy, strategy(level));
}

}  // namespace satrelay::compress
