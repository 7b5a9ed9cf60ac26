# SPDX-License-Identifier: Apache-2.0
# Adds the commands of Doxygen to a header, which is written for readers of the source. No line moves.

# The comment above a group of constants is their title. The group ends at an empty line.
/^\/\* ([^SI-].*) \*\/$/ {
  s//\/** @name \1 *\/\/** @{ *\//
  :group
  n
  s/^\/\* (.*) \*\/$/\/** \1 *\//
  s/^(#define .*[^ ]) +\/\* (.*) \*\/$/\1 \/**< \2 *\//
  /^$/ !b group
  s/$/\/** @} *\//
}

# The comment behind a field or a constant describes it.
/NOLINT/ !s/^( {2}[^ ].*[;,]|#define .*[^ ]) +\/\* (.*) \*\/$/\1 \/**< \2 *\//

# These lines begin a paragraph with a title.
s/^( \* |\/\*\* )(Errors|Implements|Thread-safety): ?/\1@titled{\2} /

# The pages of C++ have short names.
s/^(namespace (arrowdevice|cpp) \{|\} *\/\/ namespace (arrowdevice|cpp))$//
