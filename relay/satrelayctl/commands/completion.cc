#include "relay/satrelayctl/commands/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace satrelay::ctl {
namespace {

// Functions for bash and zsh that print the candidates for the last word. They use the table that
// WordTable writes.
constexpr std::string_view kWalk = R"SH(
_satrelayctl_names() {
  "$program" ${socket:+"--socket=$socket"} completion-names "$@" 2>/dev/null
}

# Prints what may stand for the last argument; the first one is the program.
_satrelayctl_candidates() {
  local program=$1 word='' verb='' place=1 expects='' socket='' given=' '
  shift
  while [ $# -gt 1 ]; do
    word=$1
    shift
    if [ -n "$expects" ]; then
      if [ "$expects" = --socket ]; then socket=$word; fi
      expects=''
      continue
    fi
    case $word in
      --socket=*) socket=${word#*=} ;;
      -*=*) ;;
      -*) if _satrelayctl_table "$verb" "$word" >/dev/null; then expects=$word; fi ;;
      *)
        if [ -z "$verb" ]; then verb=$word; else place=$((place + 1)); fi
        case $word in *=*) given="$given${word%%=*} " ;; esac
        ;;
    esac
  done
  if [ -n "$expects" ]; then
    _satrelayctl_table "$verb" "$expects"
    return
  fi
  case $1 in
    --*=*)
      expects=${1%%=*}
      _satrelayctl_table "$verb" "$expects" | while read -r word; do
        case $word in '<files>') echo "$word" ;; *) echo "$expects=$word" ;; esac
      done
      ;;
    -*)
      _satrelayctl_table '' options
      if [ -n "$verb" ]; then _satrelayctl_table "$verb" options; fi
      ;;
    *)
      if [ -z "$verb" ]; then
        _satrelayctl_table '' commands
        return
      fi
      # Of settings each key is given once.
      _satrelayctl_table "$verb" "$place" | while read -r word; do
        case $word in *=*) case $given in *" ${word%%=*} "*) continue ;; esac ;; esac
        echo "$word"
      done
      ;;
  esac
}

# The same for satrelayd. A line of a key is "PATH: VALUES", and its help is indented.
_satrelayd_keys() {
  "$1" --keys 2>/dev/null | sed -n "s/^\([^ ]*\): .*/$2\1/p"
}
_satrelayd_candidates() {
  local program=$1 before=''
  shift
  while [ $# -gt 1 ]; do
    before=$1
    shift
  done
  case "$before $1" in
    *' --keys='*) _satrelayd_keys "$program" --keys= ;;
    '--keys '*) _satrelayd_keys "$program" '' ;;
    *' --config='* | '--config '* | '-c '*) echo '<files>' ;;
    *) "$program" --help 2>/dev/null | sed -n 's/^  \(-[a-z],\)\?\(--[a-z-]*\).*/\2/p' ;;
  esac
}
)SH";

constexpr std::string_view kBash = R"SH(
# $1: the function that prints the candidates.
_satrelay_complete() {
  local line=${COMP_LINE:0:COMP_POINT} words current candidates word
  COMPREPLY=()
  # Not COMP_WORDS, which bash divides at each '='.
  read -ra words <<<"$line"
  if [[ $line == *[[:space:]] ]]; then words+=(''); fi
  current=${words[-1]}
  candidates=$("$1" "${words[@]}")
  if [[ $candidates == '<files>' ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "${current#--*=}")
    return
  fi
  while read -r word; do
    if [[ -n $word && $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
  done <<<"$candidates"
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
  if [[ $current == *=* && $COMP_WORDBREAKS == *=* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${current%=*}="}")
  fi
}
_satrelayctl() { _satrelay_complete _satrelayctl_candidates; }
_satrelayd() { _satrelay_complete _satrelayd_candidates; }
complete -F _satrelayctl satrelayctl
complete -F _satrelayd satrelayd
)SH";

constexpr std::string_view kZsh = R"SH(
_satrelayctl() {
  local -a found
  local candidates
  candidates=$("_${service}_candidates" "${(@)words[1,CURRENT-1]}" "$PREFIX")
  if [[ $candidates == '<files>' ]]; then
    compset -P '--*='
    _files
    return
  fi
  found=(${(f)candidates})
  compadd -S '' -- ${(M)found:#*=}
  compadd -- ${found:#*=}
}
# Read by compinit from a folder of fpath, or by source.
if [[ $funcstack[1] == _satrelayctl ]]; then
  _satrelayctl "$@"
else
  compdef _satrelayctl satrelayctl satrelayd
fi
)SH";

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string printing(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::string text = "printf '%s\\n'";
  for (const std::string& word : words) text += ' ' + quoted(word);
  return text;
}

std::string printing(const Candidates& candidates) {
  if (candidates.are_files) return "echo '<files>'";
  std::string text = printing(candidates.words);
  const ops::NamesIn& names = candidates.names;
  if (names.listing == nullptr) return text;
  if (!text.empty()) text += "; ";
  return fmt::format("{}_satrelayctl_names {} {} {}", text, names.listing, names.field,
                     names.otherwise);
}

class WordTable {
 public:
  explicit WordTable(const CandidatesOf& candidates) : candidates_(candidates) {}

  std::string of(const CLI::App& app) {
    std::vector<std::string> commands;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (command->get_group().empty()) continue;  // a command for scripts, not for people
      commands.push_back(command->get_name());
    }
    add("' commands'", printing(commands));
    add_options(app, "");
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (command->get_group().empty()) continue;
      add_options(*command, command->get_name());
      // The word after `help` is the name of a command.
      if (command->get_name() == "help") add("'help 1'", printing(commands));
    }
    return fmt::format(
        "_satrelayctl_table() {{\n  case \"$1 $2\" in\n{}    *) return 1 ;;\n  esac\n}}\n", text_);
  }

 private:
  void add(const std::string& pattern, const std::string& action) {
    text_ += fmt::format("    {}) {}{};;\n", pattern, action, action.empty() ? "" : " ");
  }

  void add_options(const CLI::App& app, const std::string& command) {
    std::vector<std::string> names;
    std::size_t place = 0;
    for (const CLI::Option* option : app.get_options()) {
      const auto found = candidates_.find(option);
      const std::string action = found == candidates_.end() ? "" : printing(found->second);
      if (option->get_positional()) {
        ++place;
        const bool repeats = option->get_expected_max() > 1;
        if (action.empty()) continue;
        const std::string number = std::to_string(place);
        add(quoted(command + ' ') + (repeats ? '[' + number + "-9]" : number), action);
        continue;
      }
      for (const std::string& name : option->get_lnames()) {
        if (command.empty() || name != "help") names.push_back("--" + name);
        if (option->get_expected_min() == 0) continue;  // a flag
        // A global option may follow every command.
        add(command.empty() ? fmt::format("*' --{}'", name)
                            : quoted(fmt::format("{} --{}", command, name)),
            action);
      }
    }
    add(quoted(command + " options"), printing(names));
  }

  const CandidatesOf& candidates_;
  std::string text_;
};

}  // namespace

Candidates candidates_of(const ops::ControlArgument& argument) {
  Candidates candidates;
  candidates.names = argument.value.names;
  const auto add = [&](const std::string& before, const ops::ControlValueSpec& value) {
    for (const std::string_view word : value.words)
      candidates.words.push_back(before + std::string(word));
    // The value is a number or a rate, and the user must type it.
    if (!before.empty() && value.words.empty()) candidates.words.push_back(before);
    if (value.instead != nullptr) candidates.words.push_back(before + value.instead);
  };
  for (const ops::ControlValueSpec& setting : argument.settings) {
    add(std::string(setting.name) + '=', setting);
  }
  add("", argument.value);
  return candidates;
}

std::string completion_script(const CLI::App& app, const CandidatesOf& candidates, Shell shell) {
  const bool is_zsh = shell == Shell::kZsh;
  std::string text = is_zsh ? "#compdef satrelayctl satrelayd\n" : "";
  text += "# Completion of satrelayctl and satrelayd, as `satrelayctl completion ";
  text += kShellWords[static_cast<std::size_t>(shell)];
  text +=
      "` prints it.\n\n# Prints what may follow a command ($1): its options, the value of an "
      "option, the word in"
      "\n# a place. Fails for an option that takes no value.\n";
  return text + WordTable(candidates).of(app) + std::string(kWalk) +
         std::string(is_zsh ? kZsh : kBash);
}

std::string names_in(const Json& entries, const char* field, const char* otherwise) {
  const auto is_word = [](const std::string& name) {
    return !name.empty() && name != "-" && name.front() != '-' &&
           std::ranges::all_of(name, [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
           });
  };
  std::set<std::string> seen;
  std::string lines;
  for (const Json& entry : entries) {
    std::string name = text(entry, field);
    if (name.empty() || name == "-") {
      const auto counted = number(entry, otherwise);
      name = counted && *counted != 0 ? std::to_string(*counted) : text(entry, otherwise);
    }
    if (is_word(name) && seen.insert(name).second) lines += name + '\n';
  }
  return lines;
}

}  // namespace satrelay::ctl
