// Writes metrics for Prometheus, in the text format 0.0.4 or in OpenMetrics 1.0. The writer follows
// the rules of both formats: it writes the metadata of a family before its samples, adds the
// suffixes to the names, and escapes text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace satrelay::metrics {

enum class ExpositionFormat { kText, kOpenMetrics };

// The value of the HTTP header Content-Type.
std::string_view content_type(ExpositionFormat format);

// The labels of one sample, as text of the exposition.
class Labels {
 public:
  Labels() = default;
  Labels(std::string_view name, std::string_view value) { add(name, value); }
  Labels& add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;  // such as: peer="remote",reason="delay"
};

enum class FamilyKind {
  kCounter,
  kGauge,
  kInfo,  // The value is always 1. The labels contain the information.
  kHistogram,
};

// All samples of one metric. `name` has neither the prefix satrelay_ nor the suffix _total or
// _info.
struct Family {
  std::string name;
  FamilyKind kind = FamilyKind::kGauge;
  // The base unit of the samples, such as "seconds". `name` must end with it. "" means no unit.
  std::string_view unit;
  std::string help;
};

class ExpositionWriter {
 public:
  explicit ExpositionWriter(ExpositionFormat format) : format_(format) {}

  // Begins a family; the following samples belong to it. A family without samples is not written.
  // Each family may be begun only once.
  void begin(Family family);
  void sample(const Labels& labels, std::uint64_t value);
  void sample(const Labels& labels, double value);
  void sample(const Labels& labels, bool value) { sample(labels, std::uint64_t{value}); }
  // Writes one histogram of a family: the number of values up to each bound, the number of all
  // values, and their sum. Bounds and sum are in the base unit.
  struct Bucket {
    double bound;
    std::uint64_t count;
  };
  void histogram(const Labels& labels, std::span<const Bucket> buckets, std::uint64_t count,
                 double sum);
  // Ends the exposition, and returns its text.
  std::string finish();

 private:
  void write_head();
  void write_name(const Labels& labels, std::string_view suffix = {});

  ExpositionFormat format_;
  Family family_;
  bool head_is_due_ = false;
  std::string sample_name_;
  std::string out_;
};

}  // namespace satrelay::metrics
