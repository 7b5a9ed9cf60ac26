// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "utf8.h"

namespace arrowdevice::tool {
namespace {

constexpr size_t kGap = 2;  // between two columns of a table

bool colour_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && no_color[0] != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(STDOUT_FILENO) == 1;
}

// Returns the first `columns` characters.
std::string_view head(std::string_view text, size_t columns) {
  size_t bytes = 0;
  for (size_t i = 0; i < columns && bytes < text.size(); ++i) bytes += utf8_length(text.substr(bytes));
  return text.substr(0, bytes);
}

std::string fitted(const std::string& text, size_t columns) {
  const size_t taken = columns_of(text);
  if (taken <= columns) return text + std::string(columns - taken, ' ');
  return std::string(head(text, columns - 1)) + "…";
}

}  // namespace

std::string styled(std::string_view text, Style style) {
  static const bool colour = colour_wanted();
  const char* begin = style == Style::kHeading ? "\033[1m" : style == Style::kGood ? "\033[32m" : "\033[31m";
  if (!colour || style == Style::kPlain) return std::string(text);
  return begin + std::string(text) + "\033[0m";
}

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); i += utf8_length(text.substr(i))) ++columns;
  return columns;
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    const auto first = static_cast<unsigned char>(text[i]);
    // Control characters, including the C1 set (U+0080 to U+009F).
    const bool control = first < 0x20 || first == 0x7f ||
                         (length == 2 && first == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0);
    const bool broken = length == 1 && first >= 0x80;
    if (control || broken) {
      out += '?';
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

void print_table(const std::vector<std::string>& heading, const std::vector<std::vector<Cell>>& rows, size_t elastic) {
  std::vector<size_t> widths;
  for (const std::string& text : heading) widths.push_back(columns_of(text));
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i].text));
  }
  size_t total = kGap * (widths.size() - 1);
  for (size_t width : widths) total += width;
  if (total > kColumns) {
    const size_t least = columns_of(heading[elastic]);
    widths[elastic] -= std::min(total - kColumns, widths[elastic] - least);
  }

  const auto print_line = [&](const std::vector<Cell>& row) {
    std::string gap;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string text = fitted(row[i].text, widths[i]);
      const size_t end = text.find_last_not_of(' ') + 1;
      if (end > 0) std::printf("%s%s", gap.c_str(), styled(text.substr(0, end), row[i].style).c_str());
      if (end > 0) gap.clear();
      gap += std::string(text.size() - end + kGap, ' ');
    }
    std::printf("\n");
  };
  std::vector<Cell> first;
  for (const std::string& text : heading) first.emplace_back(text, Style::kHeading);
  print_line(first);
  for (const auto& row : rows) print_line(row);
}

void print_matrix(const std::string& title, const std::vector<std::string>& names,
                  const std::function<Cell(size_t, size_t)>& cell) {
  std::vector<std::vector<Cell>> cells(names.size());
  size_t widest = 8;
  size_t margin = columns_of(title);
  for (size_t row = 0; row < names.size(); ++row) {
    margin = std::max(margin, columns_of(names[row]));
    widest = std::max(widest, columns_of(names[row]));
    for (size_t column = 0; column < names.size(); ++column) {
      cells[row].push_back(cell(row, column));
      widest = std::max(widest, columns_of(cells[row].back().text));
    }
  }
  const size_t at_once = std::max<size_t>(1, (kColumns - margin) / (widest + kGap));
  for (size_t first = 0; first < names.size(); first += at_once) {
    const size_t end = std::min(names.size(), first + at_once);
    std::vector<std::string> heading{title};
    for (size_t column = first; column < end; ++column) heading.push_back(names[column]);
    std::vector<std::vector<Cell>> rows;
    for (size_t row = 0; row < names.size(); ++row) {
      rows.push_back({names[row]});
      for (size_t column = first; column < end; ++column) rows.back().push_back(cells[row][column]);
    }
    print_table(heading, rows, 0);
    std::printf("\n");
  }
}

void print_paragraph(std::string_view text, size_t indent) { print_entry("", text, indent); }

void print_entry(const Cell& title, std::string_view text, size_t indent) {
  const size_t room = kColumns - indent;
  const size_t taken = columns_of(title.text);
  std::string margin = styled(title.text, title.style) + std::string(indent - std::min(taken, indent), ' ');
  while (!text.empty()) {
    std::string_view piece = head(text, room);
    if (piece.size() < text.size() && text[piece.size()] != ' ') {
      const size_t space = piece.find_last_of(' ');
      if (space != std::string_view::npos && space > 0) piece = piece.substr(0, space);
    }
    std::printf("%s%s\n", margin.c_str(), std::string(piece).c_str());
    margin.assign(indent, ' ');
    text.remove_prefix(piece.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
}

}  // namespace arrowdevice::tool
