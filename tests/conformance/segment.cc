#include "tests/conformance/segment.h"

#include <algorithm>

namespace satrelay::conformance {
namespace {

constexpr std::size_t kHeaderSize = 20;

class Writer {
 public:
  void u8(std::uint32_t v) { bytes_.push_back(static_cast<std::byte>(v & 0xff)); }
  void u16(std::uint32_t v) {
    u8(v >> 8);
    u8(v);
  }
  void u32(std::uint32_t v) {
    u16(v >> 16);
    u16(v);
  }
  void append(const std::vector<std::byte>& more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

void write_option(const Option& option, Writer& out) {
  const std::uint32_t value = option.value.value_or(0);
  switch (option.kind) {
    case OptionKind::kEndOfList:
      out.u8(0);
      return;
    case OptionKind::kNoOperation:
      out.u8(1);
      return;
    case OptionKind::kMss:
      out.u16(0x0204);
      out.u16(value);
      return;
    case OptionKind::kWindowScale:
      out.u16(0x0303);
      out.u8(value);
      return;
    case OptionKind::kSackPermitted:
      out.u16(0x0402);
      return;
    case OptionKind::kSack:
      out.u8(5);
      out.u8(static_cast<std::uint32_t>(2 + 8 * option.blocks.size()));
      for (const auto& [begin, end] : option.blocks) {
        out.u32(begin);
        out.u32(end);
      }
      return;
    case OptionKind::kTimestamps:
      out.u16(0x080a);
      out.u32(value);
      out.u32(option.echo.value_or(0));
      return;
    case OptionKind::kRaw:
      out.append(option.raw);
      return;
  }
}

// Reads one option. `whole` includes its kind and length.
Option read_option(std::uint8_t kind, ConstBytes whole) {
  const ConstBytes body = whole.subspan(2);
  Option option;
  if (kind == 2 && body.size() == 2) {
    option.kind = OptionKind::kMss;
    option.value = load_u16(body.data());
  } else if (kind == 3 && body.size() == 1) {
    option.kind = OptionKind::kWindowScale;
    option.value = load_u8(body.data());
  } else if (kind == 4 && body.empty()) {
    option.kind = OptionKind::kSackPermitted;
  } else if (kind == 5 && !body.empty() && body.size() % 8 == 0) {
    option.kind = OptionKind::kSack;
    for (std::size_t at = 0; at < body.size(); at += 8) {
      option.blocks.emplace_back(load_u32(body.data() + at), load_u32(body.data() + at + 4));
    }
  } else if (kind == 8 && body.size() == 8) {
    option.kind = OptionKind::kTimestamps;
    option.value = load_u32(body.data());
    option.echo = load_u32(body.data() + 4);
  } else {
    option.raw.assign(whole.begin(), whole.end());
  }
  return option;
}

bool read_options(ConstBytes rest, std::vector<Option>& options) {
  while (!rest.empty()) {
    const std::uint8_t kind = load_u8(rest.data());
    if (kind == 0) return true;
    if (kind == 1) {
      rest = rest.subspan(1);
      continue;
    }
    if (rest.size() < 2) return false;
    const std::size_t size = load_u8(rest.data() + 1);
    if (size < 2 || size > rest.size()) return false;
    options.push_back(read_option(kind, rest.first(size)));
    rest = rest.subspan(size);
  }
  return true;
}

}  // namespace

const Option* Segment::find(OptionKind kind) const {
  const auto it = std::find_if(options.begin(), options.end(),
                               [kind](const Option& option) { return option.kind == kind; });
  return it != options.end() ? &*it : nullptr;
}

std::vector<std::byte> encode(const Segment& segment, Ports ports) {
  Writer options;
  for (const Option& option : segment.options) write_option(option, options);
  while (options.bytes().size() % 4 != 0) options.u8(0);
  const auto words = static_cast<std::uint8_t>((kHeaderSize + options.bytes().size()) / 4);

  Writer out;
  out.u16(ports.source);
  out.u16(ports.destination);
  out.u32(segment.sequence);
  out.u32(segment.acknowledgment);
  out.u8(std::uint32_t{segment.data_offset.value_or(words)} << 4);
  out.u8(segment.flags);
  out.u16(segment.window);
  out.u16(0);
  out.u16(segment.urgent);
  out.append(options.bytes());
  out.append(segment.payload);
  return std::move(out.bytes());
}

std::optional<Segment> decode(ConstBytes bytes) {
  if (bytes.size() < kHeaderSize) return std::nullopt;
  const std::byte* p = bytes.data();
  const std::size_t header_size = std::size_t{load_u8(p + 12)} / 16 * 4;
  if (header_size < kHeaderSize || header_size > bytes.size()) return std::nullopt;
  Segment segment;
  segment.sequence = load_u32(p + 4);
  segment.acknowledgment = load_u32(p + 8);
  segment.flags = load_u8(p + 13);
  segment.window = load_u16(p + 14);
  segment.urgent = load_u16(p + 18);
  const ConstBytes options = bytes.subspan(kHeaderSize, header_size - kHeaderSize);
  if (!read_options(options, segment.options)) return std::nullopt;
  const ConstBytes payload = bytes.subspan(header_size);
  segment.payload.assign(payload.begin(), payload.end());
  return segment;
}

}  // namespace satrelay::conformance
