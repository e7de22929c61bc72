// Writes metrics for Prometheus: the text format 0.0.4, or OpenMetrics 1.0. What both ask for is
// kept here: metadata before the samples of a family, names with their suffixes, escaping.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace satrelay::metrics {

enum class ExpositionFormat { kText, kOpenMetrics };

// Of the HTTP header Content-Type.
std::string_view content_type(ExpositionFormat format);

// The labels of one sample, as they are written.
class Labels {
 public:
  Labels() = default;
  Labels(std::string_view name, std::string_view value) { add(name, value); }
  Labels& add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;  // peer="remote",reason="delay"
};

enum class FamilyKind {
  kCounter,
  kGauge,
  kInfo,  // 1; what it says stands in its labels
  kHistogram,
};

// Samples of one meaning. `name` has neither the prefix satrelay_ nor the suffix _total or _info.
struct Family {
  std::string name;
  FamilyKind kind = FamilyKind::kGauge;
  std::string_view unit;  // a base unit, with which the name ends; "": none
  std::string help;
};

class ExpositionWriter {
 public:
  explicit ExpositionWriter(ExpositionFormat format) : format_(format) {}

  // All samples up to the next family are of this one. One without samples is not written. Each
  // family is begun once.
  void begin(Family family);
  void sample(const Labels& labels, std::uint64_t value);
  void sample(const Labels& labels, double value);
  void sample(const Labels& labels, bool value) { sample(labels, std::uint64_t{value}); }
  // One histogram of a family of them: how many values are up to each bound, how many there are,
  // and their sum, all in the base unit.
  struct Bucket {
    double bound;
    std::uint64_t count;
  };
  void histogram(const Labels& labels, std::span<const Bucket> buckets, std::uint64_t count,
                 double sum);
  // Ends the exposition.
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
