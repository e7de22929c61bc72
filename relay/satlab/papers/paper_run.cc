#include "relay/satlab/papers/paper_run.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

namespace satrelay::satlab {
namespace {

struct Task {
  std::size_t index;  // number of the case
  std::uint64_t seed;
};

// Gives the tasks to the threads, and collects the figures and the progress of all runs.
class CaseQueue {
 public:
  CaseQueue(const Paper& paper, const PaperRun& run, PaperObserver* observer)
      : paper_(paper),
        controller_(run.controller),
        observer_(observer),
        figures_(paper.cases.size()) {
    for (std::size_t i = 0; i < paper.cases.size(); ++i) {
      for (std::uint64_t seed = 1; seed <= run.seeds; ++seed) tasks_.push_back({i, seed});
      const Experiment experiment = paper.cases[i].build(1);
      total_ += experiment.duration.to_seconds() * static_cast<double>(run.seeds);
      congestion_.insert(congestion_of(experiment.scenario));
    }
  }

  void work() {
    while (const std::optional<Task> task = take()) {
      try {
        run(*task);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (error_ == nullptr) error_ = std::current_exception();
        stopped_ = true;
      }
    }
  }

  PaperResult result() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
    PaperResult result;
    result.interrupted = stopped_;
    for (const std::string& one : congestion_) {
      result.congestion += (result.congestion.empty() ? "" : "; ") + one;
    }
    for (std::size_t i = 0; i < paper_.cases.size(); ++i) {
      const std::vector<RowSpec>& rows = paper_.cases[i].rows;
      for (std::size_t row = 0; row < rows.size(); ++row) {
        std::vector<double> values;
        for (const std::vector<double>& of_seed : figures_[i]) values.push_back(of_seed.at(row));
        RowResult one{rows[row], worst(values, rows[row].better), std::nullopt, std::nullopt};
        // If the runs were stopped, a case without a figure was not run, and has not missed its
        // target.
        if (one.ours || !stopped_) one.met = meets(one.spec, one.ours);
        result.rows.push_back(std::move(one));
      }
    }
    return result;
  }

 private:
  // Adds the progress of one run to the progress of all runs.
  class Reporter final : public Observer {
   public:
    Reporter(CaseQueue& case_queue, std::string what)
        : case_queue_(case_queue), what_(std::move(what)) {}
    ~Reporter() override { case_queue_.finish(duration_ - done_); }
    bool on_progress(Duration at, Duration duration) override {
      const double step = at.to_seconds() - done_;
      done_ = at.to_seconds();
      duration_ = duration.to_seconds();
      return case_queue_.advance(step, what_);
    }

   private:
    CaseQueue& case_queue_;
    std::string what_;
    double done_ = 0;
    double duration_ = 0;
  };

  std::optional<Task> take() {
    const std::lock_guard lock(mutex_);
    if (stopped_ || next_ == tasks_.size()) return std::nullopt;
    return tasks_[next_++];
  }

  void run(const Task& task) {
    const Case& one = paper_.cases[task.index];
    Experiment experiment = one.build(task.seed);
    experiment.scenario.control.controller = controller_;
    Reporter reporter(*this, one.name + ", seed " + std::to_string(task.seed));
    const RunResult result = run_experiment(experiment, &reporter);
    if (result.interrupted) return;
    std::vector<double> figures = one.figures(result);
    const std::lock_guard lock(mutex_);
    figures_[task.index].push_back(std::move(figures));
  }

  bool advance(double seconds, const std::string& what) {
    const std::lock_guard lock(mutex_);
    done_ += seconds;
    if (observer_ != nullptr && !observer_->on_progress(done_ / total_, what)) stopped_ = true;
    return !stopped_;
  }
  // If the run ended early, counts its remaining seconds as done.
  void finish(double seconds) {
    const std::lock_guard lock(mutex_);
    done_ += seconds;
  }

  const Paper& paper_;
  config::Controller controller_;
  PaperObserver* observer_;
  std::set<std::string> congestion_;  // congestion controls of the hosts
  std::mutex mutex_;
  std::vector<Task> tasks_;
  std::size_t next_ = 0;
  double total_ = 0;  // virtual time of all runs, in seconds
  double done_ = 0;
  bool stopped_ = false;
  std::exception_ptr error_;
  std::vector<std::vector<std::vector<double>>> figures_;  // indexed by case, run and row
};

}  // namespace

bool PaperResult::all_met() const {
  return std::ranges::all_of(rows, [](const RowResult& row) { return row.met.value_or(true); });
}

std::optional<double> worst(const std::vector<double>& figures, Better better) {
  if (figures.empty() || std::ranges::any_of(figures, [](double f) { return std::isnan(f); })) {
    return std::nullopt;
  }
  return better == Better::kHigher ? std::ranges::min(figures) : std::ranges::max(figures);
}

std::optional<bool> meets(const RowSpec& row, std::optional<double> figure) {
  if (!row.target) return std::nullopt;
  if (!figure) return false;
  return row.better == Better::kHigher ? *figure >= *row.target : *figure <= *row.target;
}

PaperResult run_paper(const Paper& paper, const PaperRun& run, PaperObserver* observer) {
  CaseQueue case_queue(paper, run, observer);
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < run.jobs; ++i) {
    threads.emplace_back([&case_queue] { case_queue.work(); });
  }
  case_queue.work();
  for (std::thread& thread : threads) thread.join();
  return case_queue.result();
}

}  // namespace satrelay::satlab
