#include "relay/gateway/flows/bytes/splice.h"

#include <algorithm>
#include <utility>

#include "relay/gateway/flows/bytes/urgent.h"
#include "relay/gateway/flows/deferred_reset.h"

namespace satrelay::gateway {
namespace {

// Maximum number of pieces of memory in one raw block.
constexpr std::size_t kMostPieces = 64;
// A block begins only if there is room for this many bytes, or for all readable bytes if they are
// fewer. So the share of headers stays small.
constexpr std::size_t kLeastWritten = 128;
// Smaller blocks are sent raw, as compression would cost more than it gains.
constexpr std::size_t kSmallestCompressed = 256;
constexpr std::size_t kSmallestWithDictionary = 64;

// If bytes do not shrink, compression pauses for a number of bytes that doubles each time. So a
// long run of random bytes does not cost a probe for each block. If later bytes are compressible, a
// probe finds that out after at most the longest pause.
constexpr std::size_t kSample = 4096;
constexpr std::uint32_t kShortestRun = 64 * 1024;
constexpr std::uint32_t kLongestRun = 1024 * 1024;

// It is worth while to decompress a block again if at least this many plain bytes can be delivered.
constexpr std::size_t kWorthDecoding = 8 * 1024;

void note_incompressible(Flow& flow) {
  if (flow.bytes.from_lan < flow.block.try_compression_at) return;  // compression was not tried
  flow.block.incompressible_run =
      std::clamp(flow.block.incompressible_run * 2, kShortestRun, kLongestRun);
  flow.block.try_compression_at = flow.bytes.from_lan + flow.block.incompressible_run;
}

constexpr std::size_t kMarksBlockSize = compress::kBlockHeaderSize + compress::kMarksSize;

bool tell_marks(Flow& flow, stp::Session& session, Instant now) {
  std::array<std::byte, kMarksBlockSize> block{};
  compress::write_block_header({compress::BlockKind::kMarks, compress::kMarksSize}, block);
  block[compress::kBlockHeaderSize] = static_cast<std::byte>(flow.marks.host.traffic_class);
  block[compress::kBlockHeaderSize + 1] = static_cast<std::byte>(flow.marks.host.hop_limit);
  const ConstBytes parts[] = {block};
  if (!session.streams().write_whole(flow.stream, parts, now)) return false;
  flow.marks.told = flow.marks.host;
  return true;
}

constexpr std::size_t kUrgentBlockSize = compress::kBlockHeaderSize + compress::kUrgentSize;

bool tell_urgent(Flow& flow, stp::Session& session, std::uint64_t mark, Instant now) {
  std::array<std::byte, kUrgentBlockSize> block{};
  compress::write_block_header({compress::BlockKind::kUrgent, compress::kUrgentSize}, block);
  store_u32(&block[compress::kBlockHeaderSize],
            static_cast<std::uint32_t>(mark - flow.endpoint.received().consumed()));
  const ConstBytes parts[] = {block};
  if (!session.streams().write_whole(flow.stream, parts, now)) return false;
  flow.make_rare().urgent->in_stream = mark;
  return true;
}

constexpr std::size_t kResetBlockSize = compress::kBlockHeaderSize + compress::kResetSize;

bool tell_reset(Flow& flow, stp::Session& session, Instant now) {
  std::array<std::byte, kResetBlockSize> block{};
  compress::write_block_header({compress::BlockKind::kReset, compress::kResetSize}, block);
  const ConstBytes parts[] = {block};
  if (!session.streams().write_whole(flow.stream, parts, now)) return false;
  flow.make_rare().deferred_reset->stage = DeferredReset::Stage::kInStream;
  return true;
}

// Writes a block that the peer must get even if no byte of the host waits.
SpliceResult tell_without_bytes(Flow& flow, stp::Session& session, Instant now) {
  const bool owes_marks = flow.owes_marks();
  if (!owes_marks && !owes_reset_block(flow)) return SpliceResult::kDone;
  const std::size_t needed = owes_marks ? kMarksBlockSize : kResetBlockSize;
  if (session.streams().send_room(flow.stream) < needed) {
    session.streams().wait_for_room(flow.stream, needed, now);
    return SpliceResult::kDone;
  }
  const bool told = owes_marks ? tell_marks(flow, session, now) : tell_reset(flow, session, now);
  return told ? SpliceResult::kDone : SpliceResult::kNoMemory;
}

void take_marks(Flow& flow, ConstBytes body) {
  flow.marks.far = {.traffic_class = static_cast<std::uint8_t>(load_u8(body.data()) & 0xfcU),
                    .hop_limit = load_u8(&body[1])};
  if (flow.origin == Origin::kLan) flow.make_rare().marks_told = true;
}

// Returns false if the block is malformed.
bool take_urgent(Flow& flow, ConstBytes body) {
  const std::uint32_t ahead = load_u32(body.data());
  if (ahead == 0 || ahead > tcp::UrgentMarks::kMostAhead) return false;
  flow.endpoint.mark_urgent(flow.bytes.to_lan + ahead);
  return true;
}

bool carries_bytes(compress::BlockKind kind) {
  using Kind = compress::BlockKind;
  return kind == Kind::kRaw || kind == Kind::kZstd || kind == Kind::kDictionary;
}

// Handles a block that carries no bytes. Returns kDone if reading can continue behind the block.
SpliceResult take_word(Flow& flow, compress::BlockKind kind, ConstBytes body) {
  if (kind == compress::BlockKind::kReset) return SpliceResult::kReset;
  if (kind == compress::BlockKind::kUrgent) {
    return take_urgent(flow, body) ? SpliceResult::kDone : SpliceResult::kMalformed;
  }
  take_marks(flow, body);
  return SpliceResult::kDone;
}

using CompressedHeader =
    std::array<std::byte, compress::kBlockHeaderSize + compress::kDictionaryNumberSize>;

// Writes the header of a compressed block. `dictionary` is the number of the block's dictionary, if
// the block has one.
ConstBytes write_header(std::size_t encoded, std::optional<std::uint8_t> dictionary,
                        CompressedHeader& header) {
  const std::size_t more = dictionary ? compress::kDictionaryNumberSize : 0;
  compress::write_block_header(
      {dictionary ? compress::BlockKind::kDictionary : compress::BlockKind::kZstd,
       static_cast<std::uint32_t>(more + encoded)},
      header);
  header.back() = static_cast<std::byte>(dictionary.value_or(0));
  return ConstBytes(header).first(compress::kBlockHeaderSize + more);
}

// All bytes of the peer's stream have arrived, and the stream ends within a block or a block
// header.
bool is_cut_short(const Flow& flow, const stp::Session& session) {
  if (!session.streams().received_end(flow.inbound_stream())) return false;
  const Reassembler& stored = *session.streams().received(flow.inbound_stream());
  const std::uint64_t readable = stored.readable();
  if (flow.block.remaining > 0) return readable < flow.block.remaining;
  if (readable == 0) return false;
  if (readable < compress::kBlockHeaderSize) return true;
  std::array<std::byte, compress::kBlockHeaderSize> bytes{};
  stored.copy_front(bytes);
  const auto header = compress::parse_block_header(bytes);
  return !header || readable < bytes.size() + header->encoded_size;
}

}  // namespace

Splice::Splice(int compress_level, const Dictionaries& dictionaries, WorkBudget& budget,
               const Stopwatch* stopwatch)
    : dictionaries_(dictionaries),
      budget_(budget),
      chooses_level_(compress_level == config::kAutoLevel),
      stopwatch_(stopwatch),
      encoder_(chooses_level_ ? 1 : compress_level,
               chooses_level_ ? compress::kHighestLevel : compress_level) {}

Splice::Way Splice::choose(SharedDictionary& dictionary, std::size_t size) {
  if (dictionary.levels == nullptr) return Way::kWithout;
  if (size < kSmallestCompressed) return Way::kWith;  // sent raw if compression does not pay
  compress::DictionaryTrial& trial = dictionary.trials.of(size);
  if (trial.is_due()) return Way::kBoth;
  return trial.pays() ? Way::kWith : Way::kWithout;
}

std::optional<Splice::Encoded> Splice::compress(ConstBytes plain, SharedDictionary& dictionary,
                                                Way way) {
  budget_.spend(compress::encoding_work(encoder_.level(), plain.size()) *
                (way == Way::kBoth ? 2 : 1));
  if (way == Way::kBoth) return compress_both_ways(plain, dictionary);
  const bool with = way == Way::kWith;
  const auto size =
      encoder_.compress(plain, *encoded_, compress::Mode::kOn, with ? dictionary.levels : nullptr);
  if (!size) return std::nullopt;
  return Encoded{*size, with};
}

std::optional<Splice::Encoded> Splice::compress_both_ways(ConstBytes plain,
                                                          SharedDictionary& dictionary) {
  constexpr auto kOn = compress::Mode::kOn;
  const auto with = encoder_.compress(plain, *encoded_, kOn, dictionary.levels);
  const auto without = encoder_.compress(plain, *other_encoded_, kOn);
  dictionary.trials.of(plain.size())
      .note(with.value_or(plain.size()), without.value_or(plain.size()));
  if (!with && !without) return std::nullopt;
  if (with && (!without || *with <= *without)) return Encoded{*with, true};
  std::swap(encoded_, other_encoded_);
  return Encoded{*without, false};
}

bool Splice::worth_a_try(const Flow& flow, std::size_t size, std::size_t least, ConstBytes sample) {
  const config::Compress wanted = flow.rule->rule.compress;
  if (wanted == config::Compress::kOff || size < least) return false;
  if (wanted == config::Compress::kOn) return true;
  if (flow.bytes.from_lan < flow.block.try_compression_at) return false;
  budget_.spend(compress::kProbingWork);
  return compress::looks_compressible(sample);
}

Splice::Attempt Splice::compressed_to_stream(Flow& flow, stp::Session& session, std::size_t size,
                                             SharedDictionary& dictionary, std::uint64_t& time_ns,
                                             Instant now) {
  if (chooses_level_) encoder_.set_level(effort_.level(session.path().send_rate()));
  size = std::min(size, compress::largest_block(encoder_.level()));
  const Way way = choose(dictionary, size);
  if (way == Way::kBoth) size = std::min(size, compress::largest_block(encoder_.level()) / 2);
  flow.endpoint.received().copy_front(MutableBytes(*plain_).first(size));
  const Instant begin = stopwatch_ != nullptr ? stopwatch_->read() : now;
  const auto encoded = compress(ConstBytes(*plain_).first(size), dictionary, way);
  const Duration taken = (stopwatch_ != nullptr ? stopwatch_->read() : now) - begin;
  effort_.spend(taken, now);
  time_ns = static_cast<std::uint64_t>(taken.to_nanoseconds());
  if (stopwatch_ != nullptr) block_times_.add(time_ns);
  if (!encoded) return Attempt::kDoesNotPay;
  const bool with = encoded->with_dictionary;
  CompressedHeader bytes{};
  const ConstBytes header =
      write_header(encoded->size, with ? std::optional(dictionary.number) : std::nullopt, bytes);
  const ConstBytes parts[] = {header, ConstBytes(*encoded_).first(encoded->size)};
  if (!session.streams().write_whole(flow.stream, parts, now)) return Attempt::kNoRoom;
  flow.endpoint.consume(size);
  flow.block.incompressible_run = 0;
  count(flow, {.plain_bytes = size,
               .encoded_bytes = header.size() + encoded->size,
               .compressed_blocks = 1,
               .dictionary_blocks = with ? 1U : 0U,
               .time_ns = time_ns});
  return Attempt::kWritten;
}

SpliceResult Splice::to_stream(Flow& flow, stp::Session& session, const Largest& largest,
                               SharedDictionary& dictionary, Instant now) {
  const Reassembler& received = flow.endpoint.received();
  std::uint64_t room = session.streams().send_room(flow.stream);
  const std::uint64_t readable = received.readable();
  const std::uint64_t least = std::min<std::uint64_t>(readable, kLeastWritten);
  if (readable == 0) return tell_without_bytes(flow, session, now);
  const std::uint64_t mark = next_mark(flow, session);
  const bool owes_urgent = mark > 0 && flow.rare().urgent->in_stream != mark;
  const std::uint64_t needed =
      (owes_urgent ? kUrgentBlockSize : 0) + compress::kBlockHeaderSize + least;
  if (room < needed) {
    session.streams().wait_for_room(flow.stream, needed, now);
    return SpliceResult::kDone;
  }
  if (owes_urgent) {
    if (!tell_urgent(flow, session, mark, now)) return SpliceResult::kNoMemory;
    room -= kUrgentBlockSize;
  }
  if (flow.marks.told != flow.marks.host && room > kMarksBlockSize + compress::kBlockHeaderSize) {
    if (!tell_marks(flow, session, now)) return SpliceResult::kNoMemory;
    room -= kMarksBlockSize;
  }
  std::uint64_t most = std::min(readable, room - compress::kBlockHeaderSize);
  // The block ends at the octet of the urgent mark, since the next urgent mark is written into the
  // stream behind that octet.
  if (mark > 0) most = std::min(most, mark - received.consumed());
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most, largest.compressed));

  const std::size_t least_compressed =
      dictionary.levels != nullptr ? kSmallestWithDictionary : kSmallestCompressed;
  ConstBytes sample = received.front();
  if (sample.size() < std::min(size, kSample) &&
      flow.bytes.from_lan >= flow.block.try_compression_at) {
    // There are too few contiguous bytes for a sample before the end of an arena block.
    const MutableBytes gathered = MutableBytes(*plain_).first(std::min(size, kSample));
    received.copy_front(gathered);
    sample = gathered;
  }
  const bool tried = worth_a_try(flow, size, least_compressed, sample);
  std::uint64_t time_ns = 0;
  if (tried) {
    const Attempt attempt = compressed_to_stream(flow, session, size, dictionary, time_ns, now);
    if (attempt == Attempt::kWritten) return SpliceResult::kDone;
    if (attempt == Attempt::kNoRoom) return SpliceResult::kNoMemory;
  }
  // A failed attempt on a small block says nothing about the bytes behind it.
  if (size >= kSmallestCompressed) note_incompressible(flow);
  const auto raw = static_cast<std::size_t>(std::min<std::uint64_t>(most, largest.raw));
  const std::size_t written = raw_to_stream(flow, session, raw, now);
  if (written == 0) return SpliceResult::kNoMemory;
  count(flow, {.plain_bytes = written,
               .encoded_bytes = compress::kBlockHeaderSize + written,
               .skipped_blocks = tried ? 0U : 1U,
               .expanded_blocks = tried ? 1U : 0U,
               .time_ns = time_ns});
  return SpliceResult::kDone;
}

// Returns how many plain bytes were written. These are `size` bytes, fewer if they are stored in
// many pieces, or 0 if the stream has no memory for them.
std::size_t Splice::raw_to_stream(Flow& flow, stp::Session& session, std::size_t size,
                                  Instant now) {
  std::array<ConstBytes, 1 + kMostPieces> parts;
  const std::size_t runs = flow.endpoint.received().front(size, std::span(parts).subspan<1>());
  const auto payload = std::span(parts).subspan(1, runs);
  size = 0;
  for (const ConstBytes run : payload) size += run.size();
  budget_.spend(compress::kBlockWork + copying_work(size));
  std::array<std::byte, compress::kBlockHeaderSize> header{};
  compress::write_block_header({compress::BlockKind::kRaw, static_cast<std::uint32_t>(size)},
                               header);
  parts[0] = header;
  if (!session.streams().write_whole(flow.stream, std::span(parts).first(1 + runs), now)) return 0;
  flow.endpoint.consume(size);
  return size;
}

void Splice::count(Flow& flow, const compress::CodecCounters& block) {
  satrelay::add_to(counters_, block);
  RuleUse& use = flow.rule->use;
  satrelay::add_to(use.codec, block);
  use.bytes_from_lan += block.plain_bytes;
  flow.bytes.from_lan += block.plain_bytes;
  flow.bytes.encoded += block.encoded_bytes;
}

// If no block with bytes is being read, reads the next block headers up to a block with bytes.
// Returns false if reading cannot continue now; `result` says why.
bool Splice::next_block(Flow& flow, InboundReader& inbound, SpliceResult& result) {
  while (flow.block.remaining == 0) {
    if (inbound.readable() < compress::kBlockHeaderSize) return false;
    // A peer may have sent millions of blocks that carry no bytes, so each block counts as work.
    if (budget_.is_spent()) {
      result = SpliceResult::kSpent;
      return false;
    }
    budget_.spend(compress::kBlockWork);
    std::array<std::byte, std::max(kMarksBlockSize, kUrgentBlockSize)> bytes{};
    inbound.copy(MutableBytes(bytes).first(compress::kBlockHeaderSize));
    const auto header = compress::parse_block_header(bytes);
    if (!header) {
      result = SpliceResult::kMalformed;
      return false;
    }
    if (!carries_bytes(header->kind)) {
      const MutableBytes block =
          MutableBytes(bytes).first(compress::kBlockHeaderSize + header->encoded_size);
      if (inbound.readable() < block.size()) return false;
      inbound.copy(block);
      inbound.skip(block.size());
      const ConstBytes body = ConstBytes(block).subspan(compress::kBlockHeaderSize);
      result = take_word(flow, header->kind, body);
      if (result != SpliceResult::kDone) return false;
      continue;
    }
    inbound.skip(compress::kBlockHeaderSize);
    if (flow.bytes.decoded == 0) flow.assume_usual_marks();
    flow.bytes.decoded += compress::kBlockHeaderSize;
    flow.block.kind = header->kind;
    flow.block.remaining = header->encoded_size;
    flow.block.plain_written = 0;
  }
  return true;
}

SpliceResult Splice::to_host(Flow& flow, stp::Session& session, std::uint64_t useful,
                             std::uint64_t& memory, Instant now) {
  InboundReader inbound(session, flow.inbound_stream());
  SpliceResult result = SpliceResult::kDone;
  while (useful > 0 && memory > 0 && next_block(flow, inbound, result)) {
    const std::uint32_t remaining = flow.block.remaining;
    const std::uint64_t before = flow.bytes.to_lan;
    result = flow.block.kind == compress::BlockKind::kRaw
                 ? raw_to_host(flow, inbound, std::min(useful, memory), now)
                 : compressed_to_host(flow, inbound, memory, now);
    const std::uint64_t moved = flow.bytes.to_lan - before;
    flow.rule->use.bytes_to_lan += moved;
    flow.bytes.decoded += remaining - flow.block.remaining;
    memory -= moved;
    useful -= std::min(useful, moved);
    if (result != SpliceResult::kDone || flow.block.remaining == remaining) break;
  }
  inbound.consume(now);
  if (result == SpliceResult::kReset) return result;
  // The stream must not end within a block, since the missing bytes can no longer arrive.
  return is_cut_short(flow, session) ? SpliceResult::kMalformed : result;
}

SpliceResult Splice::drop(Flow& flow, stp::Session& session, Instant now) {
  InboundReader inbound(session, flow.inbound_stream());
  SpliceResult result = SpliceResult::kDone;
  while (next_block(flow, inbound, result) && inbound.readable() > 0) {
    const auto dropped = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(flow.block.remaining, inbound.readable()));
    inbound.skip(dropped);
    flow.block.remaining -= dropped;
  }
  inbound.consume(now);
  return result;
}

SpliceResult Splice::raw_to_host(Flow& flow, InboundReader& inbound, std::uint64_t most,
                                 Instant now) {
  while (flow.block.remaining > 0 && inbound.readable() > 0 && most > 0) {
    if (budget_.is_spent()) return SpliceResult::kSpent;
    ConstBytes run = inbound.front();
    run = run.first(static_cast<std::size_t>(
        std::min<std::uint64_t>({run.size(), flow.block.remaining, most})));
    const std::uint64_t room = flow.endpoint.sending().writable();
    const std::size_t taken = flow.endpoint.write(run);
    budget_.spend(copying_work(taken));
    inbound.skip(taken);
    flow.block.remaining -= static_cast<std::uint32_t>(taken);
    flow.bytes.to_lan += taken;
    most -= taken;
    if (taken == run.size()) continue;
    if (taken == room) return SpliceResult::kDone;
    // Consuming the bytes that were read may free memory.
    if (!inbound.consume(now)) return SpliceResult::kNoMemory;
  }
  return SpliceResult::kDone;
}

// Whether a compressed block may be decompressed now. If only some of its plain bytes can be
// queued, it must be decompressed again later for the rest. That is cheaper than a buffer for each
// flow, but must not happen many times for one block. So the caller waits until the queue for the
// host has room for the largest block, and this function checks the memory. There must be memory
// for the rest of the block or for kWorthDecoding bytes, whichever is less. Alternatively, the
// flow's own memory must have room for the rest of the block, or be half free.
bool Splice::has_room(const Flow& flow, std::uint64_t left, std::uint64_t memory) {
  const std::uint64_t own = flow.endpoint.sending().own_memory();
  const bool has_memory = memory > own && memory >= std::min<std::uint64_t>(left, kWorthDecoding);
  return has_memory || (own > 0 && flow.endpoint.sending().own_room() >= std::min(left, own / 2));
}

SpliceResult Splice::compressed_to_host(Flow& flow, InboundReader& inbound, std::uint64_t most,
                                        Instant now) {
  if (inbound.readable() < flow.block.remaining) {
    inbound.consume(now);
    inbound.need(flow.block.remaining, now);
    return SpliceResult::kDone;
  }
  if (flow.endpoint.sending().writable() < compress::kMaxPlainBlock) return SpliceResult::kDone;
  if (budget_.is_spent()) return SpliceResult::kSpent;
  inbound.consume(now);  // frees the memory of the blocks before this one
  const std::size_t number =
      flow.block.kind == compress::BlockKind::kDictionary ? compress::kDictionaryNumberSize : 0;
  const MutableBytes encoded = MutableBytes(*encoded_).first(flow.block.remaining);
  const MutableBytes start =
      encoded.first(std::min<std::size_t>(encoded.size(), number + compress::kFrameStart));
  inbound.copy(start);
  const auto plain_size = compress::plain_size_of(ConstBytes(start).subspan(number));
  if (!plain_size || *plain_size < flow.block.plain_written) return SpliceResult::kMalformed;
  if (!has_room(flow, *plain_size - flow.block.plain_written, most)) return SpliceResult::kNoMemory;

  inbound.copy(encoded);
  const ConstBytes frame = ConstBytes(encoded).subspan(number);
  const auto shape = compress::look_at_frame(frame);
  if (!shape) return SpliceResult::kMalformed;
  const compress::Dictionary* dictionary = nullptr;
  if (number > 0) {
    dictionary = dictionaries_.find(load_u8(encoded.data()));
    if (dictionary == nullptr) return SpliceResult::kMalformed;
  }
  budget_.spend(compress::decoding_work(frame.size(), shape->plain, shape->parts));
  if (!decoder_.decompress(frame, *plain_, dictionary)) return SpliceResult::kMalformed;
  const ConstBytes plain =
      ConstBytes(*plain_).subspan(flow.block.plain_written, *plain_size - flow.block.plain_written);
  const std::uint64_t room = std::min(flow.endpoint.sending().writable(), most);
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(plain.size(), room));
  const std::size_t taken = flow.endpoint.write(plain.first(wanted));
  flow.block.plain_written += static_cast<std::uint32_t>(taken);
  flow.bytes.to_lan += taken;
  if (taken == plain.size()) {
    inbound.skip(flow.block.remaining);
    flow.block.remaining = 0;
    return SpliceResult::kDone;
  }
  return taken < wanted || taken == most ? SpliceResult::kNoMemory : SpliceResult::kDone;
}

}  // namespace satrelay::gateway
