#include "relay/satrelayctl/init/answers_file.h"

#include <vector>

#include "config/readers/document.h"
#include "config/text/text_file.h"
#include "relay/satrelayctl/init/configuration.h"
#include "relay/satrelayctl/init/overheads.h"
#include "relay/text/table.h"

namespace satrelay::ctl::init {
namespace {

constexpr std::size_t kCommentWidth = 96;

// Takes the default of a key that the file does not have.
void take_default(const config::Value& document, const Question& question, const Setting& setting,
                  Answers& answers) {
  const std::string key(question.key);
  const std::string text = question.fallback(answers, setting);
  if (text.empty()) document.fail_at(key, "is missing; answer: " + std::string(question.text));
  if (const auto cause = take_answer(question, text, setting, answers)) {
    document.fail_at(key, "is missing, and its default " + text + " is refused: " + *cause);
  }
}

std::string commented(const std::string& text) {
  std::string lines;
  for (const std::string& line : text::fold(text, kCommentWidth)) lines += "# " + line + "\n";
  return lines;
}

}  // namespace

Answers parse_answers(const std::string& text, const std::string& file, const Setting& setting) {
  config::Places places(file);
  const config::Value document = config::parse_document(text, places, file);
  std::vector<std::string> keys;
  for (const Question& question : questions()) keys.emplace_back(question.key);
  const config::Fields fields = document.fields(keys);
  Answers answers;
  for (const Question& question : questions()) {
    const config::Value* const value = fields.find(std::string(question.key));
    const bool is_overruled = question.key == "folder" && setting.folder;
    if (value != nullptr && !is_overruled) {
      question.read(*value, answers, setting);
    } else if (applies(question, answers, setting)) {
      take_default(document, question, setting, answers);
    }
  }
  return answers;
}

Answers read_answers_file(const std::filesystem::path& file, const Setting& setting) {
  return parse_answers(config::read_text_file(file, config::kMostDocumentBytes), file.string(),
                       setting);
}

std::string answers_template(const Setting& setting) {
  std::string text =
      "# Answers for `satrelayctl init --answers FILE`. Each key has its default on this "
      "machine.\n";
  Answers answers;
  for (const Question& question : questions()) {
    const std::string usual = question.fallback(answers, setting);
    // A default may be refused here, such as a folder that needs root. The file may be for another
    // machine.
    if (!usual.empty()) take_answer(question, usual, setting, answers);
    text +=
        "\n" + commented(std::string(question.text) + ".") + commented(std::string(question.help));
    if (question.key == "overhead") {
      for (const Overhead& each : kOverheads) {
        text += commented(std::string(each.name) + ": " + std::to_string(each.bytes) + ", " +
                          std::string(each.help));
      }
    }
    text += (usual.empty() ? "# " : "") + std::string(question.key) + ": " + scalar(usual) + "\n";
  }
  return text;
}

}  // namespace satrelay::ctl::init
