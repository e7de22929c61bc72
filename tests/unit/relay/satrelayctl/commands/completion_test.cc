#include "relay/satrelayctl/commands/completion.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace satrelay::ctl::completion_test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Candidates, AreWhatTheGrammarAllows) {
  for (const ops::ControlCommandSpec& command : ops::kControlCommands) {
    for (const ops::ControlArgument& argument : command.arguments) {
      const Candidates candidates = candidates_of(argument);
      for (const ops::ControlValueSpec& setting : argument.settings) {
        EXPECT_TRUE(std::ranges::any_of(candidates.words, [&](const std::string& word) {
          return word.starts_with(std::string(setting.name) + '=');
        })) << setting.name;
      }
      EXPECT_EQ(candidates.names.listing, argument.value.names.listing);
      // A word that replaces the value, such as "configured", is a candidate itself.
      EXPECT_EQ(argument.value.instead != nullptr,
                std::ranges::any_of(candidates.words, [&](const std::string& word) {
                  return argument.value.instead != nullptr && word == argument.value.instead;
                }));
    }
  }
}

TEST(CompletionScript, HasWhatTheProgramParses) {
  CLI::App app("what it is for", "satrelayctl");
  std::string value;
  bool flag = false;
  CLI::App* command = app.add_subcommand("look", "");
  CandidatesOf candidates;
  candidates[command->add_option("--port", value)].words = {"lan", "it's"};
  command->add_flag("--all", flag);
  candidates[command->add_option("PEER", value)].names = {"peers"};
  app.add_subcommand("hidden", "")->group("");
  for (const Shell shell : {Shell::kBash, Shell::kZsh}) {
    const std::string script = completion_script(app, candidates, shell);
    EXPECT_TRUE(has(script, "' commands') printf '%s\\n' 'look' ;;")) << script;
    EXPECT_TRUE(has(script, "'look options') printf '%s\\n' '--port' '--all' ;;")) << script;
    EXPECT_TRUE(has(script, "'look --port') printf '%s\\n' 'lan' 'it'\\''s' ;;")) << script;
    EXPECT_TRUE(has(script, "'look '1) _satrelayctl_names peers name name ;;")) << script;
    EXPECT_FALSE(has(script, "'look --all'")) << "a flag takes no value: " << script;
    EXPECT_FALSE(has(script, "'hidden")) << script;
  }
  EXPECT_TRUE(completion_script(app, candidates, Shell::kZsh)
                  .starts_with("#compdef satrelayctl satrelayd\n"));
}

TEST(NamesIn, AreWordsOfAShell) {
  const Json entries = Json::parse(R"J([
    {"name": "web", "rule": 1}, {"name": "", "rule": 2}, {"name": "web", "rule": 3},
    {"name": "$(touch x)"}, {"name": "two words"}, {"name": "--force"}, {"name": "", "rule": 0}])J");
  EXPECT_EQ(names_in(entries, "name", "rule"), "web\n2\n");
  EXPECT_EQ(names_in(Json::parse("[{}]"), "name", "name"), "");
}

}  // namespace
}  // namespace satrelay::ctl::completion_test
