// SPDX-License-Identifier: Apache-2.0
// Text for people: colour where it is wanted, tables and paragraphs that fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arrowdevice::tool {

inline constexpr size_t kColumns = 100;

enum class Style { kPlain, kHeading, kGood, kBad };

// The text in a style, as standard output shows it: plain unless that is a terminal, and NO_COLOR is not set.
std::string styled(std::string_view text, Style style);

// Columns that a text takes: one for each character, which is right for what drivers call their devices.
size_t columns_of(std::string_view text);

// Text for a terminal: what would steer it, or is no UTF-8, becomes '?'.
std::string printable(std::string_view text);

struct Cell {
  Cell(std::string text_, Style style_ = Style::kPlain) : text(std::move(text_)), style(style_) {}  // NOLINT: a text
  Cell(const char* text_) : text(text_) {}                                                          // NOLINT: a text

  std::string text;
  Style style = Style::kPlain;
};

// Prints rows under a heading, in at most kColumns columns; what does not fit is cut from the column `elastic`.
void print_table(const std::vector<std::string>& heading, const std::vector<std::vector<Cell>>& rows, size_t elastic);

// Prints a text, wrapped and indented, in at most kColumns columns. A word that is too long, a path, is broken.
void print_paragraph(std::string_view text, size_t indent);

}  // namespace arrowdevice::tool
