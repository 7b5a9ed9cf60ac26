// SPDX-License-Identifier: Apache-2.0
// Text for people: colours, tables, and paragraphs that fit the terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arrowdevice::tool {

inline constexpr size_t kColumns = 100;

enum class Style { kPlain, kHeading, kGood, kBad };

// Returns the text in a style. The text stays plain if standard output is not a terminal or if NO_COLOR is set.
std::string styled(std::string_view text, Style style);

// Returns the width of a text in columns. It counts one column per character, which is right for device names.
size_t columns_of(std::string_view text);

// Returns text that is safe for a terminal. Control characters and invalid UTF-8 become '?'.
std::string printable(std::string_view text);

struct Cell {
  Cell(std::string text_, Style style_ = Style::kPlain) : text(std::move(text_)), style(style_) {}  // NOLINT: a text
  Cell(const char* text_) : text(text_) {}                                                          // NOLINT: a text

  std::string text;
  Style style = Style::kPlain;
};

// Prints rows under a heading in at most kColumns columns. Text in the column `elastic` is cut if a row does not fit.
void print_table(const std::vector<std::string>& heading, const std::vector<std::vector<Cell>>& rows, size_t elastic);

// Prints a table with a row and a column for each name. It is printed in several tables if it is too wide. `cell` gives
// the text for the positions of a row's name and a column's name.
void print_matrix(const std::string& title, const std::vector<std::string>& names,
                  const std::function<Cell(size_t row, size_t column)>& cell);

// Prints a wrapped and indented text in at most kColumns columns. Breaks a word that is too long, such as a path.
void print_paragraph(std::string_view text, size_t indent);

// Prints such a paragraph with a title, such as a name, in the margin of its first line. The title has fewer columns
// than the margin.
void print_entry(const Cell& title, std::string_view text, size_t indent);

}  // namespace arrowdevice::tool
