// SPDX-License-Identifier: Apache-2.0
// Our function type, with each of our types replaced by the vendor's type of the same name.
#pragma once

namespace declarations {

// Specialised for each type that both sides declare.
template <typename T>
struct Real {
  using Type = T;
};

template <typename T>
struct Real<T*> {
  using Type = typename Real<T>::Type*;
};

template <typename T>
struct Real<const T> {
  using Type = const typename Real<T>::Type;
};

template <typename Result, typename... Parameters>
struct Real<Result(Parameters...)> {
  using Type = typename Real<Result>::Type(typename Real<Parameters>::Type...);
};

}  // namespace declarations
