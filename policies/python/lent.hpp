// policies/python/lent.hpp -- C++ objects that Python may use for a limited time.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

namespace orrery::python {

// Python may keep the wrapper longer than the object exists. Using the wrapper is then an error.
template <class T>
class Lent {
 public:
  explicit Lent(T& thing) : thing_{std::make_shared<T*>(&thing)} {}
  T& operator*() const { return *checked(); }
  T* operator->() const { return checked(); }
  void take_back() const { *thing_ = nullptr; }

 private:
  T* checked() const {
    if (*thing_ == nullptr) {
      throw std::runtime_error{
          "this object is used after the end of the call, or of the run, that "
          "it was lent for"};
    }
    return *thing_;
  }
  std::shared_ptr<T*> thing_;
};

// Ends the loan at the end of a scope.
template <class T>
class Loan {
 public:
  explicit Loan(T& thing) : lent_{thing} {}
  ~Loan() { lent_.take_back(); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  const Lent<T>& lent() const { return lent_; }

 private:
  Lent<T> lent_;
};

}  // namespace orrery::python
