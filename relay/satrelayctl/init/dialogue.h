// Asks the questions on a terminal, one after the other.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "relay/satrelayctl/init/answers.h"
#include "relay/satrelayctl/init/line_source.h"
#include "relay/satrelayctl/init/questions.h"

namespace satrelay::ctl::init {

// Measures the path to an address. Returns the rates, or nullopt after a message that says why
// there are none.
using Measure =
    std::function<std::optional<MeasuredLink>(const std::string& address, std::uint32_t overhead)>;

class Dialogue {
 public:
  Dialogue(const Setting& setting, LineSource read_line, std::ostream& out, Measure measure);

  // Asks until each question has an answer that is accepted. Throws Stopped.
  Answers ask();
  // Asks for yes or no. `usual` is the answer of Enter.
  bool confirm(const std::string& question, bool usual);

 private:
  void ask_question(const Question& question);
  void ask_ports(const Question& lan, const Question& wan);
  void ask_port(const Question& question);
  bool keeps_ports();
  void ask_capacity(const Question& question);
  void offer_to_measure();
  std::string read_answer(const Question& question, std::string_view text);
  void show_help(const Question& question);
  void show(const std::string& text);

  const Setting& setting_;
  LineSource read_line_;
  std::ostream& out_;
  Measure measure_;
  Answers answers_;
};

}  // namespace satrelay::ctl::init
