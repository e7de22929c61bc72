#include "config/readers/read_classes.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "config/keys/kinds.h"
#include "config/model/traffic_class.h"
#include "config/readers/read_common.h"
#include "config/text/error.h"
#include "config/text/text_file.h"
#include "pep/compress/dictionary.h"

namespace satrelay::config {
namespace {

constexpr Bounds<BitRate> kClassRate{BitRate::bits_per_second(1'000),
                                     BitRate::bits_per_second(100'000'000'000)};

std::vector<std::byte> load_dictionary(const std::filesystem::path& file) {
  const std::string content = read_text_file(file, compress::Dictionary::kMostBytes);
  const ConstBytes bytes = std::as_bytes(std::span(content));
  if (compress::Dictionary::make(bytes) == nullptr) {
    throw ConfigError(file.string() +
                      ": is not a dictionary of zstd; make one of samples of the traffic with "
                      "`zstd --train SAMPLES -o FILE`");
  }
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> read_dictionary(const Value& value) {
  const std::string file = value.text("write the absolute path of a dictionary of zstd");
  if (!file.starts_with('/')) value.refuse("is not an absolute path", "begin with a slash");
  try {
    return load_dictionary(file);
  } catch (const FileError& error) {
    value.fail(error);
  } catch (const ConfigError& error) {
    value.fail(error.what());
  }
}

}  // namespace

const Keys<TrafficClass>& class_keys() {
  static const Keys<TrafficClass> keys({
      key<TrafficClass>({.name = "weight",
                         .reload = Reload::kLive,
                         .help = "The part of the rest of a link, behind the guaranteed rates."},
                        &TrafficClass::weight, whole<std::uint8_t>({1, 255})),
      key<TrafficClass>(
          {.name = "guaranteed", .reload = Reload::kLive, .help = "The rate that is sent first."},
          &TrafficClass::guaranteed, rate(kClassRate, "none")),
      key<TrafficClass>({.name = "maximum",
                         .reload = Reload::kLive,
                         .help = "The most that is sent.",
                         .allowed = "1kbit to 100Gbit, at least guaranteed"},
                        &TrafficClass::maximum, rate(kClassRate, "none")),
      // changes.cc compares dictionaries by a hash of their octets.
      key_of_section<TrafficClass>({.name = "dictionary",
                                    .reload = Reload::kLive,
                                    .help = "The file of a zstd dictionary for small objects.",
                                    .allowed = "the absolute path of a file of up to 128 KiB"},
                                   [](const TrafficClass& of) {
                                     return of.dictionary.empty() ? std::string("none")
                                                                  : std::string("a dictionary");
                                   }),
  });
  return keys;
}

std::vector<TrafficClass> read_classes(const Value& value) {
  constexpr std::string_view kHint =
      "write a map of classes by name, like {voice: {guaranteed: 2Mbit}, bulk: {weight: 1}}";
  std::vector<TrafficClass> classes;
  for (const auto& [name, entry] : value.named_entries(kHint)) {
    check_name(entry, name);
    if (name == kRelayedName || name == kBridgedName) {
      entry.fail("is the name for traffic without a class; write another one");
    }
    if (classes.size() == kMostClasses) entry.fail("is one too many; there may be 15 classes");
    const Fields fields = class_keys().fields(entry);
    TrafficClass read{.name = name};
    class_keys().read(fields, read);
    if (!rates_agree(read)) fields.find("maximum")->fail("is less than what is guaranteed");
    if (const Value* file = fields.find("dictionary")) {
      read.dictionary = read_dictionary(*file);
    }
    classes.push_back(std::move(read));
  }
  return classes;
}

}  // namespace satrelay::config
