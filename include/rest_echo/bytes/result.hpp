#pragma once

#include <cassert>
#include <utility>
#include <variant>

namespace rest_echo {

/// Marks the error of a Result: `return Failure{BadThing::x};`
template <typename E>
struct Failure {
  E error;
};
template <typename E>
Failure(E) -> Failure<E>;

/// A value, or the reason why there is none. Ask `has_value()` before either accessor.
template <typename T, typename E>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure<E> failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  [[nodiscard]] T& value() noexcept {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const noexcept {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const E& error() const noexcept {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, E> state_;
};

}  // namespace rest_echo
