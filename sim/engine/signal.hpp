// sim/engine/signal.hpp -- calls the observers of an event in the order in which they connected.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

namespace orrery {

// A component reports its events by signals, to observers that it does not know. What an observer
// refers to must outlive the signal.
template <class... Args>
class Signal {
 public:
  void connect(std::function<void(Args...)> observer) { observers_.push_back(std::move(observer)); }
  template <class T>
  void connect(T& observer, void (T::*hear)(Args...)) {
    connect([&observer, hear](Args... args) { (observer.*hear)(args...); });
  }
  // An observer connected during an emit is called from the next emit on.
  void emit(Args... args) const {
    const size_t present = observers_.size();
    for (size_t i = 0; i < present; ++i) observers_[i](args...);
  }
  bool has_observers() const { return !observers_.empty(); }

 private:
  // A deque, because connecting must not move a running observer.
  std::deque<std::function<void(Args...)>> observers_;
};

}  // namespace orrery
