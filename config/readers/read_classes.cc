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

namespace {

void read_class(const Value& entry, TrafficClass& read) {
  if (read.name == kRelayedName || read.name == kBridgedName) {
    entry.tell("is the name for traffic without a class; write another one");
  }
  const Fields fields = class_keys().fields(entry);
  class_keys().read(fields, read);
  if (fields.are_sound({"guaranteed", "maximum"}) && !rates_agree(read)) {
    fields.find("maximum")->tell("is less than what is guaranteed");
  }
  fields.read("dictionary", [&](const Value& file) { read.dictionary = read_dictionary(file); });
}

}  // namespace

std::vector<TrafficClass> read_classes(const Value& value) {
  constexpr std::string_view kHint =
      "write a map of classes by name, like {voice: {guaranteed: 2Mbit}, bulk: {weight: 1}}";
  std::vector<TrafficClass> classes;
  for (const auto& each : value.named_entries(kHint)) {
    const std::string& name = each.first;
    const Value& entry = each.second;
    // A class can have a dictionary of 128 KiB, so no class behind the limit is read.
    if (classes.size() == kMostClasses) {
      entry.tell("is one too many; there may be 15 classes");
      break;
    }
    // A class with a mistake is in the list too: its name is known, and rules may have it.
    TrafficClass& read = classes.emplace_back(TrafficClass{.name = name});
    entry.attempt([&] { check_name(entry, name); });
    entry.attempt([&] { read_class(entry, read); });
  }
  return classes;
}

}  // namespace satrelay::config
